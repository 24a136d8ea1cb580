-- Fills of all buckets are counted from it, and the sizes of one found by it.
CREATE INDEX "pm_told_size_bucket_idx" ON "pm_told_size" ("bucket", "hour", "fills");
