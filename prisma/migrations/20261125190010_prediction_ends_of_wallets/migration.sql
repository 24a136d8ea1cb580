-- A wallet's ended positions by when they ended: what it gained since an instant is read without the rest of its life. Of ended ones alone: with all in it, it would be
-- searched wallet by wallet for what ended of the whole venue.
CREATE INDEX "pm_position_ended_idx" ON "pm_position"("wallet", "closed_at") WHERE "status" <> 'open';
