-- What all providers of a pool claimed in its life is added up from the index alone.
DROP INDEX "lp_owner_pool_pool_address_last_at_idx";
CREATE INDEX "lp_owner_pool_claims_idx" ON "lp_owner_pool" ("pool_address", "last_at", "owner", "claims", "claim_usd");
-- When one of them claimed first and last stands at the ends of a stretch of it.
CREATE INDEX "lp_event_claimer_idx" ON "lp_event" ("pool_address", "owner", "timestamp") WHERE "kind" = 'claim';
-- Of all recurring orders the few that still hold something are found by themselves.
CREATE INDEX "dca_order_open_idx" ON "dca_order" ("changed_at") WHERE "closed_at" IS NULL AND "remaining" > 0;
