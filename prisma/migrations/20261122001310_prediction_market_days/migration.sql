-- A market in one UTC day: what windows of many days are read from. Volume is of takers, so that each match counts once.
CREATE TABLE "pm_market_day" (
  "condition_id" TEXT NOT NULL,
  "day" DATE NOT NULL,
  "fills" INTEGER NOT NULL,
  "buys" INTEGER NOT NULL,
  "sells" INTEGER NOT NULL,
  "buy_usdc" DECIMAL NOT NULL,
  "sell_usdc" DECIMAL NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "pm_market_day_pkey" PRIMARY KEY ("condition_id", "day")
) WITH (fillfactor = 80);
CREATE INDEX "pm_market_day_day_idx" ON "pm_market_day" ("day");

INSERT INTO "pm_market_day" ("condition_id", "day", "fills", "buys", "sells", "buy_usdc", "sell_usdc", "first_at")
SELECT condition_id, (hour AT TIME ZONE 'UTC')::date, sum(fills), sum(buys), sum(sells), sum(buy_usdc), sum(sell_usdc), min(open_at) FROM "pm_token_hour" GROUP BY 1, 2 ORDER BY 2, 1;
