-- A provider's life in pools of both types is a row of its own (pool_type all), and the first by any sum are found at the end of an index.
INSERT INTO "lp_owner_life" ("owner", "pool_type", "pools", "deposits", "withdrawals", "claims", "deposit_usd", "withdraw_usd", "claim_usd", "unpriced", "first_at", "last_at")
SELECT "owner", 'all', sum("pools"), sum("deposits"), sum("withdrawals"), sum("claims"), sum("deposit_usd"), sum("withdraw_usd"), sum("claim_usd"), sum("unpriced"), min("first_at"), max("last_at")
FROM "lp_owner_life" GROUP BY "owner";
CREATE INDEX "lp_owner_life_volume_idx" ON "lp_owner_life" ("pool_type", ("deposit_usd" + "withdraw_usd") DESC);
CREATE INDEX "lp_owner_life_events_idx" ON "lp_owner_life" ("pool_type", ("deposits" + "withdrawals" + "claims") DESC);
CREATE INDEX "lp_owner_life_pools_idx" ON "lp_owner_life" ("pool_type", "pools" DESC);
CREATE INDEX "lp_owner_life_claims_idx" ON "lp_owner_life" ("pool_type", "claim_usd" DESC);
ANALYZE "lp_owner_life";
