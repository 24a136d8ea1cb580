-- How many providers did something in a pool in a bucket of 1, 4, 12 or 24 hours.
CREATE TABLE "lp_owner_count" (
  "pool_address" TEXT NOT NULL,
  "bucket" TIMESTAMPTZ(3) NOT NULL,
  "hours" SMALLINT NOT NULL,
  "owners" INTEGER NOT NULL,
  CONSTRAINT "lp_owner_count_pkey" PRIMARY KEY ("pool_address", "bucket", "hours")
);
INSERT INTO "lp_owner_count" ("pool_address", "bucket", "hours", "owners")
SELECT b."pool_address", b."bucket", b."hours", count(*) FROM (
  SELECT DISTINCT o."pool_address", s."hours", date_bin(make_interval(hours => s."hours"), o."hour", TIMESTAMPTZ '1970-01-01T00:00:00Z') AS "bucket", o."owner"
  FROM "lp_owner_hour" o CROSS JOIN (VALUES (1), (4), (12), (24)) AS s("hours") WHERE o."owner" <> ''
) b GROUP BY b."pool_address", b."bucket", b."hours";
ANALYZE "lp_owner_count";
