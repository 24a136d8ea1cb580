-- A position is written anew with every fill. Room on its page, and no B-tree over what changes each time, let PostgreSQL leave the other indexes alone.
-- Asked is only whether anything is newer than an instant: for that the ranges of a BRIN index are enough.
ALTER TABLE "pm_position" SET (fillfactor = 80);
DROP INDEX "pm_position_last_at_idx";
CREATE INDEX "pm_position_last_at_idx" ON "pm_position" USING BRIN ("last_at") WITH (pages_per_range = 32, autosummarize = on);
