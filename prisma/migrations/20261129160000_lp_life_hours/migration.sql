-- How many providers came first and were there last in each hour: an end of a window that lies within a day is told without every provider.
CREATE TABLE "lp_life_hour" (
  "hour" TIMESTAMPTZ(3) NOT NULL,
  "pool_type" TEXT NOT NULL,
  "came" INTEGER NOT NULL,
  "last" INTEGER NOT NULL,
  CONSTRAINT "lp_life_hour_pkey" PRIMARY KEY ("hour", "pool_type")
);
INSERT INTO lp_life_hour (hour, pool_type, came, last)
SELECT t.hour, l.pool_type, sum(t.came)::int, sum(t.last)::int
FROM lp_owner_life l CROSS JOIN LATERAL (VALUES (date_trunc('hour', l.first_at, 'UTC'), 1, 0), (date_trunc('hour', l.last_at, 'UTC'), 0, 1)) AS t(hour, came, last)
WHERE l.owner <> '' GROUP BY l.pool_type, t.hour ORDER BY t.hour;
-- What is emptied is found and taken away.
CREATE INDEX "lp_life_hour_none_idx" ON "lp_life_hour" ("hour") WHERE "came" = 0 AND "last" = 0;
ANALYZE "lp_life_hour";
