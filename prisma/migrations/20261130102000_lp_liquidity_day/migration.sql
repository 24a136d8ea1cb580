-- Liquidity of pools by UTC day: the mean of a long window added up the hours of its whole length.
CREATE TABLE "lp_liquidity_day" (
  "pool_address" TEXT NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  "hours" INTEGER NOT NULL,
  "liquidity_usd" NUMERIC NOT NULL,
  CONSTRAINT "lp_liquidity_day_pkey" PRIMARY KEY ("pool_address", "day")
);
INSERT INTO "lp_liquidity_day" ("pool_address", "day", "hours", "liquidity_usd")
SELECT "pool_address", date_trunc('day', "hour", 'UTC'), count(*), sum("liquidity_usd") FROM "lp_liquidity_hour" GROUP BY 1, 2;
CREATE INDEX "lp_liquidity_day_pool_idx" ON "lp_liquidity_day" ("pool_address", "day", "hours", "liquidity_usd");
