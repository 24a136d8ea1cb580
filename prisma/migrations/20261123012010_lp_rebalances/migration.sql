-- The legs of an owner's rebalances net out of what was deposited and withdrawn; they are read without their rows.
CREATE INDEX "lp_event_rebalance_idx" ON "lp_event" ("owner", "timestamp") INCLUDE ("pool_address", "position_address", "tx_id", "kind", "pool_type", "usd") WHERE "rebalance";
