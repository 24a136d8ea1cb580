-- A wallet's rows of one market, and the rows that move shares without a trade: what positions are computed from.
CREATE INDEX "pm_trade_wallet_condition_id_idx" ON "pm_trade" ("wallet", "condition_id");
CREATE INDEX "pm_trade_moves_idx" ON "pm_trade" ("condition_id", "timestamp") WHERE "side" IN ('REDEEM', 'SPLIT', 'MERGE', 'CONVERSION');
CREATE INDEX "pm_trade_conversion_idx" ON "pm_trade" ("wallet") WHERE "side" = 'CONVERSION';

CREATE INDEX "pm_market_neg_risk_id_idx" ON "pm_market" ("neg_risk_id");

CREATE TABLE "pm_position" (
  "condition_id" TEXT NOT NULL,
  "wallet" TEXT NOT NULL,
  "token_id" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "shares" DECIMAL NOT NULL,
  "redeemed_shares" DECIMAL NOT NULL,
  "cost" DECIMAL NOT NULL,
  "paid_shares" DECIMAL NOT NULL,
  "paid_usdc" DECIMAL NOT NULL,
  "received_shares" DECIMAL NOT NULL,
  "received_usdc" DECIMAL NOT NULL,
  "payout_usdc" DECIMAL NOT NULL,
  "unseen_shares" DECIMAL NOT NULL,
  "gain_sell" DECIMAL NOT NULL,
  "gain_merge" DECIMAL NOT NULL,
  "gain_conversion" DECIMAL NOT NULL,
  "gain_resolution" DECIMAL NOT NULL,
  "gain" DECIMAL NOT NULL,
  "buy_usdc" DECIMAL NOT NULL,
  "sell_usdc" DECIMAL NOT NULL,
  "trades" INTEGER NOT NULL,
  "payout" DECIMAL,
  "settled_at" TIMESTAMPTZ(3),
  "opened_at" TIMESTAMPTZ(3) NOT NULL,
  "closed_at" TIMESTAMPTZ(3),
  "last_trade_at" TIMESTAMPTZ(3),
  "last_fact_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "pm_position_pkey" PRIMARY KEY ("condition_id", "wallet", "token_id")
);
CREATE INDEX "pm_position_wallet_idx" ON "pm_position" ("wallet");
CREATE INDEX "pm_position_closed_at_idx" ON "pm_position" ("closed_at");
-- Finds what happened at or after an answer's instant, when that is not the newest.
CREATE INDEX "pm_position_last_at_idx" ON "pm_position" ("last_at");
