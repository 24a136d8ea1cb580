-- The open positions of a provider, found without those of all others.
CREATE INDEX "lp_position_sum_open_owner_idx" ON "lp_position_sum" ("owner") WHERE "closed_at" IS NULL AND "deposits" > 0;
