-- How the sum of an account's closed PnL moved through a UTC day: what it came to, how far it rose above its start and fell below, and
-- its largest fall from a peak. Days put together tell the drawdown of a window without its fills.
CREATE TABLE "perp_trader_drawdown" (
  "trader" TEXT NOT NULL,
  "day" TIMESTAMPTZ(0) NOT NULL,
  "total" DECIMAL NOT NULL,
  "peak" DECIMAL NOT NULL,
  "trough" DECIMAL NOT NULL,
  "fall" DECIMAL NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "perp_trader_drawdown_pkey" PRIMARY KEY ("trader", "day")
);

INSERT INTO "perp_trader_drawdown" ("trader", "day", "total", "peak", "trough", "fall", "last_at")
SELECT "trader", "day", sum("closed_pnl"), max(greatest("before" + "closed_pnl", 0)), min(least("before" + "closed_pnl", 0)),
  max(greatest(-"closed_pnl", greatest(coalesce("peak_before", 0), 0) - ("before" + least("closed_pnl", 0)), 0)), max("timestamp")
FROM (
  SELECT g.*, max("before" + greatest("closed_pnl", 0)) OVER (PARTITION BY "trader", "day"
    ORDER BY "timestamp", "seq", "coin" COLLATE "C", "tid", "oid" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS "peak_before"
  FROM (
    SELECT f.*, date_trunc('day', "timestamp", 'UTC') AS "day", sum("closed_pnl") OVER (PARTITION BY "trader", date_trunc('day', "timestamp", 'UTC')
      ORDER BY "timestamp", "seq", "coin" COLLATE "C", "tid", "oid" ROWS UNBOUNDED PRECEDING) - "closed_pnl" AS "before"
    FROM "perp_fill" f WHERE "closed_pnl" <> 0
  ) g
) p GROUP BY "trader", "day";
