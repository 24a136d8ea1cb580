-- What takers bought and sold in a category in one minute, hour or day (UTC), so that each match counts once. Rows without a fill are not kept.
CREATE TABLE "pm_category_volume" (
  "unit" TEXT NOT NULL,
  "at" TIMESTAMPTZ(0) NOT NULL,
  "category" TEXT NOT NULL,
  "buys" INTEGER NOT NULL,
  "sells" INTEGER NOT NULL,
  "buy_usdc" DECIMAL NOT NULL,
  "sell_usdc" DECIMAL NOT NULL,
  CONSTRAINT "pm_category_volume_pkey" PRIMARY KEY ("unit", "at", "category")
) WITH (fillfactor = 80);

INSERT INTO "pm_category_volume" ("unit", "at", "category", "buys", "sells", "buy_usdc", "sell_usdc")
WITH minute AS MATERIALIZED (
  SELECT date_trunc('minute', "timestamp", 'UTC') AS at, market.category, count(*) FILTER (WHERE side = 'BUY') AS buys, count(*) FILTER (WHERE side = 'SELL') AS sells,
    COALESCE(sum(usdc_size) FILTER (WHERE side = 'BUY'), 0) AS buy_usdc, COALESCE(sum(usdc_size) FILTER (WHERE side = 'SELL'), 0) AS sell_usdc
  FROM "pm_trade" JOIN "pm_market" AS market USING (condition_id) WHERE is_taker AND side IN ('BUY', 'SELL') GROUP BY 1, 2
)
SELECT unit, date_trunc(unit, at, 'UTC'), category, sum(buys), sum(sells), sum(buy_usdc), sum(sell_usdc)
FROM minute CROSS JOIN unnest(ARRAY['minute', 'hour', 'day']) AS unit GROUP BY 1, 2, 3;
