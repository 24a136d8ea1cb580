-- The index without a column beside its key, which the schema cannot say.
DROP INDEX "lp_smart_pool_pool_address_last_at_idx";
CREATE INDEX "lp_smart_pool_pool_address_last_at_idx" ON "lp_smart_pool" ("pool_address", "last_at");
