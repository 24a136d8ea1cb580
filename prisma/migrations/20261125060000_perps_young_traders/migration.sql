-- Accounts in order of what they came to, since when they trade told by the index alone: few of the largest are young.
DROP INDEX "perp_trader_volume_idx";
CREATE INDEX "perp_trader_volume_idx" ON "perp_trader" ("volume_usd" DESC, "first_at");
DROP INDEX "perp_trader_pnl_idx";
CREATE INDEX "perp_trader_pnl_idx" ON "perp_trader" ("pnl" DESC, "first_at");
