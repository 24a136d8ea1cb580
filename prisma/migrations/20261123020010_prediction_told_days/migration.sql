-- Taken sizes of a UTC day of which every hour is told: how many fills each bucket holds. A median looks through days, and through sizes of its own bucket alone.
CREATE TABLE "pm_told_day" (
  "day" DATE NOT NULL,
  "buckets" INTEGER[],
  "fills" INTEGER[],
  CONSTRAINT "pm_told_day_pkey" PRIMARY KEY ("day")
);

INSERT INTO "pm_told_day" ("day", "buckets", "fills")
SELECT day, array_agg(bucket ORDER BY bucket), array_agg(fills ORDER BY bucket)
FROM (SELECT ("hour" AT TIME ZONE 'UTC')::date AS day, bucket, sum(fills)::int AS fills FROM "pm_told_size" GROUP BY 1, 2) AS sizes
WHERE day IN (SELECT ("hour" AT TIME ZONE 'UTC')::date FROM "pm_told_hour" GROUP BY 1 HAVING count(*) = 24) GROUP BY day;
