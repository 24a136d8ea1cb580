-- Sizes taken on a told day in tenths of the buckets: the median of a month is found among a hundredth of its sizes, not a tenth.
CREATE TABLE "pm_told_day_size" (
  "day" DATE NOT NULL,
  "bucket" INTEGER NOT NULL,
  "tenth" INTEGER NOT NULL,
  "fills" INTEGER NOT NULL,
  "sizes" DECIMAL[],
  CONSTRAINT "pm_told_day_size_pkey" PRIMARY KEY ("bucket", "tenth", "day")
);
INSERT INTO "pm_told_day_size" ("day", "bucket", "tenth", "fills", "sizes")
SELECT day, bucket, LEAST(9, GREATEST(0, floor(100 * ln(GREATEST(size, 0.000001)::float8))::int - 10 * bucket)), count(*), array_agg(size)
FROM "pm_told_day" JOIN "pm_told_size" ON hour >= day::timestamp AT TIME ZONE 'UTC' AND hour < (day + 1)::timestamp AT TIME ZONE 'UTC', unnest(sizes) AS size GROUP BY 1, 2, 3;
