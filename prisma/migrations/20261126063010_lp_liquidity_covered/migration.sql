-- The liquidity of a pool in a window is read from the index alone: its hours are written pool by pool, hour by hour, and lie apart.
CREATE INDEX "lp_liquidity_hour_pool_idx" ON "lp_liquidity_hour" ("pool_address", "hour", "liquidity_usd", "as_of");
