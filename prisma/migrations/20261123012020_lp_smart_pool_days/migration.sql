-- What the smart providers of a day did in a pool, and how many were smart in it last on each day, with their scores: pools need not add up everybody.
CREATE TABLE "lp_smart_flow_day" (
  "pool_address" TEXT NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  "pool_type" TEXT NOT NULL,
  "deposit_usd" DECIMAL NOT NULL,
  "withdraw_usd" DECIMAL NOT NULL,
  "claim_usd" DECIMAL NOT NULL,
  CONSTRAINT "lp_smart_flow_day_pkey" PRIMARY KEY ("pool_address", "day")
);
CREATE INDEX "lp_smart_flow_day_day_idx" ON "lp_smart_flow_day" ("day");
CREATE TABLE "lp_smart_last_day" (
  "pool_address" TEXT NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  "pool_type" TEXT NOT NULL,
  "owners" INTEGER NOT NULL,
  "scores" DECIMAL NOT NULL,
  CONSTRAINT "lp_smart_last_day_pkey" PRIMARY KEY ("pool_address", "day")
);
CREATE INDEX "lp_smart_last_day_day_idx" ON "lp_smart_last_day" ("day");
INSERT INTO "lp_smart_flow_day" ("pool_address", "day", "pool_type", "deposit_usd", "withdraw_usd", "claim_usd")
SELECT d."pool_address", d."day", min(d."pool_type"), sum(d."deposit_usd"), sum(d."withdraw_usd"), sum(d."claim_usd") FROM "lp_smart_day" d GROUP BY d."pool_address", d."day";
INSERT INTO "lp_smart_last_day" ("pool_address", "day", "pool_type", "owners", "scores")
SELECT p."pool_address", date_trunc('day', p."last_at", 'UTC'), min(p."pool_type"), count(*)::int, sum(p."score") FROM "lp_smart_pool" p GROUP BY p."pool_address", date_trunc('day', p."last_at", 'UTC');
-- Smart days of a pool, those whose last is in a stretch of time, and the largest of a pool by what they put in or took out.
DROP INDEX "lp_smart_day_day_idx";
CREATE INDEX "lp_smart_day_day_pool_address_idx" ON "lp_smart_day" ("day", "pool_address");
CREATE INDEX "lp_smart_pool_last_at_idx" ON "lp_smart_pool" ("last_at");
CREATE INDEX "lp_smart_pool_net_idx" ON "lp_smart_pool" ("pool_address", abs("deposit_usd" - "withdraw_usd") DESC, "owner");
ANALYZE "lp_smart_flow_day", "lp_smart_last_day", "lp_smart_day", "lp_smart_pool";
