-- Insider pattern of a wallet on a market, in a daily run.
CREATE TABLE "pm_insider" (
  "condition_id" TEXT NOT NULL,
  "wallet" TEXT NOT NULL,
  "day" DATE NOT NULL,
  "generated_at" TIMESTAMPTZ(3) NOT NULL,
  "score" DECIMAL(4,1) NOT NULL,
  "token_id" TEXT NOT NULL,
  "buy_usdc" DECIMAL NOT NULL,
  "first_bet_at" TIMESTAMPTZ(3) NOT NULL,
  "signals" JSONB NOT NULL,
  CONSTRAINT "pm_insider_pkey" PRIMARY KEY ("condition_id", "wallet", "day")
);
CREATE INDEX "pm_insider_day_score_idx" ON "pm_insider" ("day", "score" DESC);
CREATE INDEX "pm_insider_wallet_day_idx" ON "pm_insider" ("wallet", "day");
