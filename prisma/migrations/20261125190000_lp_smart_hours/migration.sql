-- What the smart providers of a day did in a pool in each of its hours: a window that begins in the midst of a day need not look at all providers.
CREATE TABLE "lp_smart_flow_hour" (
  "pool_address" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL,
  "pool_type" TEXT NOT NULL,
  "deposit_usd" DECIMAL NOT NULL,
  "withdraw_usd" DECIMAL NOT NULL,
  "claim_usd" DECIMAL NOT NULL,
  CONSTRAINT "lp_smart_flow_hour_pkey" PRIMARY KEY ("pool_address", "hour")
);
INSERT INTO "lp_smart_flow_hour" ("pool_address", "hour", "pool_type", "deposit_usd", "withdraw_usd", "claim_usd")
SELECT o."pool_address", o."hour", min(o."pool_type"), sum(o."deposit_usd"), sum(o."withdraw_usd"), sum(o."claim_usd")
FROM "lp_owner_hour" o JOIN "lp_smart_day" d ON d."owner" = o."owner" AND d."day" = date_trunc('day', o."hour", 'UTC') AND d."pool_address" = o."pool_address"
GROUP BY o."pool_address", o."hour" ORDER BY o."hour";
CREATE INDEX "lp_smart_flow_hour_hour_idx" ON "lp_smart_flow_hour" ("hour");
ANALYZE "lp_smart_flow_hour";
-- What a provider did in a pool on its smart days is found by both, without the table; and those who put in or took out most of a pool.
DROP INDEX "lp_smart_day_sums_idx";
CREATE INDEX "lp_smart_day_pool_owner_idx" ON "lp_smart_day" ("pool_address", "owner", "day", "dated_score", "deposit_usd", "withdraw_usd", "first_at", "last_at");
CREATE INDEX "lp_smart_day_pool_address_day_idx" ON "lp_smart_day" ("pool_address", "day");
CREATE INDEX "lp_smart_pool_most_idx" ON "lp_smart_pool" ("pool_address", greatest("deposit_usd", "withdraw_usd") DESC);
ANALYZE "lp_smart_pool";
