-- Providers by when they came and were there last are counted from an index alone.
CREATE INDEX "lp_owner_life_last_idx" ON "lp_owner_life" ("last_at", "pool_type") WHERE "owner" <> '';
CREATE INDEX "lp_owner_life_first_idx" ON "lp_owner_life" ("first_at", "pool_type") WHERE "owner" <> '';
DROP INDEX "lp_owner_life_first_at_idx";
