-- Pools of a day in the order of what it came to in them: who lists the first of thousands of pools looks at some hundreds. Whatever asks for days alone reads the first of these.
CREATE INDEX "lp_pool_day_day_usd_idx" ON "lp_pool_day" ("day", "usd");
CREATE INDEX "lp_pool_day_day_fee_usd_idx" ON "lp_pool_day" ("day", "fee_usd");
DROP INDEX "lp_pool_day_day_idx";
-- The same of all that was ever done in them.
CREATE INDEX "lp_pool_life_usd_idx" ON "lp_pool_life" ("usd");
CREATE INDEX "lp_pool_life_fee_usd_idx" ON "lp_pool_life" ("fee_usd");
