-- Lengths of markets as vectors of their wallets: what similarity divides by. Replaced as a whole in the background.
CREATE TABLE "pm_market_norm" (
  "condition_id" TEXT NOT NULL,
  "wallets" INTEGER NOT NULL,
  "square" DOUBLE PRECISION NOT NULL,
  CONSTRAINT "pm_market_norm_pkey" PRIMARY KEY ("condition_id")
);
