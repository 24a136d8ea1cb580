-- An outcome token in one hour. Prices are of all fills; volume is of takers, so that each match counts once.
CREATE TABLE "pm_token_hour" (
  "condition_id" TEXT NOT NULL,
  "token_id" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(0) NOT NULL,
  "fills" INTEGER NOT NULL,
  "fill_usdc" DECIMAL NOT NULL,
  "fill_shares" DECIMAL NOT NULL,
  "buys" INTEGER NOT NULL,
  "sells" INTEGER NOT NULL,
  "buy_usdc" DECIMAL NOT NULL,
  "sell_usdc" DECIMAL NOT NULL,
  "shares" DECIMAL NOT NULL,
  "open" DECIMAL NOT NULL,
  "open_at" TIMESTAMPTZ(3) NOT NULL,
  "open_id" UUID NOT NULL,
  "high" DECIMAL NOT NULL,
  "low" DECIMAL NOT NULL,
  "close" DECIMAL NOT NULL,
  "close_at" TIMESTAMPTZ(3) NOT NULL,
  "close_id" UUID NOT NULL,
  CONSTRAINT "pm_token_hour_pkey" PRIMARY KEY ("condition_id", "token_id", "hour")
);
CREATE INDEX "pm_token_hour_hour_idx" ON "pm_token_hour" ("hour");

-- What a wallet did in an outcome token in one hour: its own fills, maker or taker. Token '' has what names no token.
CREATE TABLE "pm_wallet_hour" (
  "condition_id" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(0) NOT NULL,
  "token_id" TEXT NOT NULL,
  "wallet" TEXT NOT NULL,
  "buys" INTEGER NOT NULL,
  "sells" INTEGER NOT NULL,
  "taker_buys" INTEGER NOT NULL,
  "taker_sells" INTEGER NOT NULL,
  "buy_usdc" DECIMAL NOT NULL,
  "sell_usdc" DECIMAL NOT NULL,
  "buy_shares" DECIMAL NOT NULL,
  "sell_shares" DECIMAL NOT NULL,
  "taker_usdc" DECIMAL NOT NULL,
  "sets" DECIMAL NOT NULL,
  "redeems" INTEGER NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  "first_buy_at" TIMESTAMPTZ(3),
  CONSTRAINT "pm_wallet_hour_pkey" PRIMARY KEY ("condition_id", "hour", "token_id", "wallet")
);
CREATE INDEX "pm_wallet_hour_wallet_hour_idx" ON "pm_wallet_hour" ("wallet", "hour");
CREATE INDEX "pm_wallet_hour_hour_idx" ON "pm_wallet_hour" USING BRIN ("hour") WITH (autosummarize = on);
