-- How wallets stand in each category too; told anew by the next run of the snapshots.
DELETE FROM pm_standing;
DELETE FROM pm_standing_due;
DELETE FROM pm_standing_told;
ALTER TABLE pm_standing ADD COLUMN category TEXT NOT NULL, DROP CONSTRAINT pm_standing_pkey, ADD PRIMARY KEY (wallet, timeframe, category);
DROP INDEX pm_standing_sharpe_idx, pm_standing_roi_idx, pm_standing_win_rate_idx, pm_standing_pnl_idx;
CREATE INDEX "pm_standing_sharpe_idx" ON "pm_standing" ("category", "timeframe", "sharpe" DESC, "wallet") WHERE "sharpe" IS NOT NULL;
CREATE INDEX "pm_standing_roi_idx" ON "pm_standing" ("category", "timeframe", "roi" DESC, "wallet");
CREATE INDEX "pm_standing_win_rate_idx" ON "pm_standing" ("category", "timeframe", "win_rate" DESC, "wallet");
CREATE INDEX "pm_standing_pnl_idx" ON "pm_standing" ("category", "timeframe", "pnl" DESC, "wallet");
