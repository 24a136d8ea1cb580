-- A wallet's ended positions by their gain: those that gained or lost most are read without the rest of its life, and when each ended is told by the index.
CREATE INDEX "pm_position_gain_idx" ON "pm_position"("wallet", "gain", "closed_at") WHERE "status" <> 'open' AND "paid_shares" > 0;
