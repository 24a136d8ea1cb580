-- What providers did in a pool on their smart days is added up from the index alone, pool by pool.
DROP INDEX "lp_smart_day_day_pool_address_idx";
CREATE INDEX "lp_smart_day_sums_idx" ON "lp_smart_day" ("pool_address", "day", "owner", "dated_score", "deposit_usd", "withdraw_usd");
