-- A wallet's positions by when they ended: what of it ended in a window is read without the rest of its life.
CREATE INDEX "pm_position_wallet_closed_at_idx" ON "pm_position"("wallet", "closed_at");
DROP INDEX "pm_position_wallet_idx";
