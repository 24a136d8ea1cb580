-- What smart wallets did on each outcome token in told hours, each judged by the run that judges the hour: few of what all wallets did. Hours told before
-- this stood are taken out; the job tells them again.
CREATE TABLE "pm_smart_wallet_hour" (
  "hour" TIMESTAMPTZ(0) NOT NULL,
  "condition_id" TEXT NOT NULL,
  "token_id" TEXT NOT NULL,
  "wallet" TEXT NOT NULL,
  "category" TEXT NOT NULL,
  "score" DECIMAL(4, 1) NOT NULL,
  "buys" INTEGER NOT NULL,
  "sells" INTEGER NOT NULL,
  "buy_usdc" DECIMAL NOT NULL,
  "sell_usdc" DECIMAL NOT NULL,
  "buy_shares" DECIMAL NOT NULL,
  "sell_shares" DECIMAL NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  "first_buy_at" TIMESTAMPTZ(3),
  CONSTRAINT "pm_smart_wallet_hour_pkey" PRIMARY KEY ("condition_id", "hour", "token_id", "wallet")
);
CREATE INDEX "pm_smart_wallet_hour_hour_idx" ON "pm_smart_wallet_hour" ("hour");

DELETE FROM "pm_told_hour";
DELETE FROM "pm_told_size";
DELETE FROM "pm_smart_hour";
