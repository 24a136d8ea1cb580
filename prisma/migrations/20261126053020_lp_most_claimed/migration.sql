-- Who claimed most in a pool's life stands at the end of an index, however many provided.
CREATE INDEX "lp_owner_pool_most_idx" ON "lp_owner_pool" ("pool_address", "claim_usd" DESC, "claims" DESC, "owner") INCLUDE ("last_at") WHERE "claims" > 0 AND "owner" <> '';
