-- Hours of which jobs have told what is dear to add up. What changes a fact of an hour, a market's category or the runs that judge it takes the hour out,
-- in its own transaction; until a job tells it again, it is added up when asked.
CREATE TABLE "pm_told_hour" (
  "hour" TIMESTAMPTZ(0) NOT NULL,
  "run_day" DATE NOT NULL,
  "smart_usdc" DECIMAL NOT NULL,
  "machine_usdc" DECIMAL NOT NULL,
  CONSTRAINT "pm_told_hour_pkey" PRIMARY KEY ("hour")
);

-- What smart wallets bought and sold in a category in a told hour, each judged by the run that judges the hour. No row without a fill.
CREATE TABLE "pm_smart_hour" (
  "hour" TIMESTAMPTZ(0) NOT NULL,
  "category" TEXT NOT NULL,
  "buys" INTEGER NOT NULL,
  "sells" INTEGER NOT NULL,
  "buy_usdc" DECIMAL NOT NULL,
  "sell_usdc" DECIMAL NOT NULL,
  CONSTRAINT "pm_smart_hour_pkey" PRIMARY KEY ("hour", "category")
);
