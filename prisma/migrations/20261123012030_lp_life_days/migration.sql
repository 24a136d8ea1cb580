-- How many providers came first and were there last on a UTC day, in pools of a type and in all: nobody has to be read again to be counted.
CREATE TABLE "lp_life_day" (
  "pool_type" TEXT NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  "came" INTEGER NOT NULL,
  "last" INTEGER NOT NULL,
  CONSTRAINT "lp_life_day_pkey" PRIMARY KEY ("pool_type", "day")
);
INSERT INTO "lp_life_day" ("pool_type", "day", "came", "last")
SELECT l."pool_type", t."day", sum(t."came")::int, sum(t."last")::int
FROM "lp_owner_life" l CROSS JOIN LATERAL (VALUES (date_trunc('day', l."first_at", 'UTC'), 1, 0), (date_trunc('day', l."last_at", 'UTC'), 0, 1)) AS t("day", "came", "last")
WHERE l."owner" <> '' GROUP BY l."pool_type", t."day";
ANALYZE "lp_life_day";
