-- How the sum of an account's closed PnL in a coin moved through a UTC day, as perp_trader_drawdown tells it of all coins: the drawdown in one coin is
-- put together from days, not from all that its accounts ever filled.
CREATE TABLE "perp_trader_coin_drawdown" (
  "trader" TEXT NOT NULL,
  "coin" TEXT NOT NULL,
  "day" TIMESTAMPTZ(0) NOT NULL,
  "total" DECIMAL NOT NULL,
  "peak" DECIMAL NOT NULL,
  "trough" DECIMAL NOT NULL,
  "fall" DECIMAL NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "perp_trader_coin_drawdown_pkey" PRIMARY KEY ("trader", "coin", "day")
);

INSERT INTO "perp_trader_coin_drawdown" ("trader", "coin", "day", "total", "peak", "trough", "fall", "last_at")
SELECT "trader", "coin", "day", trim_scale(sum("closed_pnl")), trim_scale(max(greatest("before" + "closed_pnl", 0))), trim_scale(min(least("before" + "closed_pnl", 0))),
  trim_scale(max(greatest(-"closed_pnl", greatest(coalesce("peak_before", 0), 0) - ("before" + least("closed_pnl", 0)), 0))), max("timestamp")
FROM (
  SELECT g.*, max("before" + greatest("closed_pnl", 0)) OVER (PARTITION BY "trader", "coin", "day"
    ORDER BY "timestamp", "seq", "tid", "oid" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS "peak_before"
  FROM (
    SELECT f."trader", f."coin", f."timestamp", f."seq", f."tid", f."oid", f."closed_pnl", date_trunc('day', "timestamp", 'UTC') AS "day",
      sum("closed_pnl") OVER (PARTITION BY "trader", "coin", date_trunc('day', "timestamp", 'UTC')
      ORDER BY "timestamp", "seq", "tid", "oid" ROWS UNBOUNDED PRECEDING) - "closed_pnl" AS "before"
    FROM "perp_fill" f WHERE "closed_pnl" <> 0
  ) g
) p GROUP BY "trader", "coin", "day" ORDER BY "trader", "coin", "day";
