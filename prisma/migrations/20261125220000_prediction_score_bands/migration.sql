-- Wallets in a band of scores are read from an index alone: their rows lie all over a table that holds breakdowns.
CREATE INDEX "pm_wallet_score_band_idx" ON "pm_wallet_score" ("day", "score" DESC) INCLUDE ("wallet", "tags") WHERE "score" IS NOT NULL;
