-- Who was in a pool last, and smart in it last, is counted by UTC month as well as by day: windows that begin before everything add up a row a month.
CREATE TABLE "lp_pool_last" (
  "pool_address" TEXT NOT NULL,
  "unit" TEXT NOT NULL,
  "since" TIMESTAMPTZ(3) NOT NULL,
  "owners" INTEGER NOT NULL,
  CONSTRAINT "lp_pool_last_pkey" PRIMARY KEY ("pool_address", "unit", "since")
);
INSERT INTO "lp_pool_last" ("pool_address", "unit", "since", "owners")
SELECT l."pool_address", t."unit", t."since", sum(l."owners")::int
FROM "lp_pool_last_day" l CROSS JOIN LATERAL (VALUES ('day', l."day"), ('month', date_trunc('month', l."day", 'UTC'))) AS t("unit", "since")
GROUP BY l."pool_address", t."unit", t."since" ORDER BY t."unit", t."since";
CREATE TABLE "lp_smart_last" (
  "pool_address" TEXT NOT NULL,
  "unit" TEXT NOT NULL,
  "since" TIMESTAMPTZ(3) NOT NULL,
  "pool_type" TEXT NOT NULL,
  "owners" INTEGER NOT NULL,
  "scores" DECIMAL NOT NULL,
  CONSTRAINT "lp_smart_last_pkey" PRIMARY KEY ("pool_address", "unit", "since")
);
INSERT INTO "lp_smart_last" ("pool_address", "unit", "since", "pool_type", "owners", "scores")
SELECT l."pool_address", t."unit", t."since", min(l."pool_type"), sum(l."owners")::int, sum(l."scores")
FROM "lp_smart_last_day" l CROSS JOIN LATERAL (VALUES ('day', l."day"), ('month', date_trunc('month', l."day", 'UTC'))) AS t("unit", "since")
GROUP BY l."pool_address", t."unit", t."since" ORDER BY t."unit", t."since";
CREATE INDEX "lp_smart_last_unit_since_idx" ON "lp_smart_last" ("unit", "since");
DROP TABLE "lp_pool_last_day", "lp_smart_last_day";
-- Older processes, which sell beside newer ones, go on reading them.
CREATE VIEW "lp_pool_last_day" AS SELECT "pool_address", "since" AS "day", "owners" FROM "lp_pool_last" WHERE "unit" = 'day';
CREATE VIEW "lp_smart_last_day" AS SELECT "pool_address", "since" AS "day", "pool_type", "owners", "scores" FROM "lp_smart_last" WHERE "unit" = 'day';
ANALYZE "lp_pool_last", "lp_smart_last";
