-- How many accounts of a coin were active in a window that ends now is counted in the index alone.
CREATE INDEX "perp_position_coin_last_at_idx" ON "perp_position" ("coin", "last_at");
DROP INDEX "perp_position_coin_idx";
