-- How many smart accounts were filled in a coin last on each UTC day, and in any coin (''): who of them was active up to now is counted by days.
CREATE TABLE "perp_smart_last_day" (
  "coin" TEXT NOT NULL,
  "day" TIMESTAMPTZ(0) NOT NULL,
  "traders" INTEGER NOT NULL,
  CONSTRAINT "perp_smart_last_day_pkey" PRIMARY KEY ("coin", "day")
);

INSERT INTO "perp_smart_last_day" ("coin", "day", "traders")
SELECT "coin", date_trunc('day', "last_at", 'UTC'), count(*) FROM "perp_smart_trader_day" WHERE "day" = '-infinity' GROUP BY 1, 2
UNION ALL
SELECT '', date_trunc('day', "last_at", 'UTC'), count(*)
FROM (SELECT "trader", max("last_at") AS "last_at" FROM "perp_smart_trader_day" WHERE "day" = '-infinity' GROUP BY 1) "own" GROUP BY 2;

ANALYZE "perp_smart_last_day";
