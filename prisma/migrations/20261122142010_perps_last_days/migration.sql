-- How many accounts were filled in a coin last on each UTC day: who was active up to now is counted by days, not account by account.
CREATE TABLE "perp_coin_last_day" (
  "coin" TEXT NOT NULL,
  "day" TIMESTAMPTZ(0) NOT NULL,
  "traders" INTEGER NOT NULL,
  CONSTRAINT "perp_coin_last_day_pkey" PRIMARY KEY ("coin", "day")
);

INSERT INTO "perp_coin_last_day" ("coin", "day", "traders")
SELECT "coin", date_trunc('day', "last_at", 'UTC'), count(*) FROM "perp_trader_life" GROUP BY 1, 2;
