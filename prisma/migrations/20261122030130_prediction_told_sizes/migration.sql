-- Taken sizes of a told hour, USDC, in buckets of about ten percent: what a median is found by.
CREATE TABLE "pm_told_size" (
  "hour" TIMESTAMPTZ(0) NOT NULL,
  "bucket" INTEGER NOT NULL,
  "fills" INTEGER NOT NULL,
  "sizes" DECIMAL[] NOT NULL,
  CONSTRAINT "pm_told_size_pkey" PRIMARY KEY ("hour", "bucket")
);
-- Hours told without sizes are told again.
DELETE FROM "pm_told_hour";
DELETE FROM "pm_smart_hour";
