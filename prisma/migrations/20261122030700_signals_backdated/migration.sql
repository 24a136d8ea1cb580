-- Signals of a day that were told after it, from what was known then.
ALTER TABLE "signal_snapshot" ADD COLUMN "backdated" BOOLEAN NOT NULL DEFAULT false;
