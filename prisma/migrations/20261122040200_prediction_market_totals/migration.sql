-- A market in all its life: what windows without a beginning are read from. Volume is of takers, so that each match counts once.
CREATE TABLE "pm_market_total" (
  "condition_id" TEXT NOT NULL,
  "fills" INTEGER NOT NULL,
  "buys" INTEGER NOT NULL,
  "sells" INTEGER NOT NULL,
  "buy_usdc" DECIMAL NOT NULL,
  "sell_usdc" DECIMAL NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "pm_market_total_pkey" PRIMARY KEY ("condition_id")
) WITH (fillfactor = 70);

INSERT INTO "pm_market_total" ("condition_id", "fills", "buys", "sells", "buy_usdc", "sell_usdc", "first_at")
SELECT condition_id, sum(fills), sum(buys), sum(sells), sum(buy_usdc), sum(sell_usdc), min(first_at) FROM "pm_market_day" GROUP BY 1 ORDER BY 1;
