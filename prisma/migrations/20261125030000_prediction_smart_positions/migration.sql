-- What smart wallets hold, market by market: of a busy market's tens of thousands of positions few are theirs. The daily run of the scores tells
-- whose they are, and from then on whatever writes a position writes it here too.
CREATE TABLE "pm_smart_position" (
  "condition_id" TEXT NOT NULL,
  "wallet" TEXT NOT NULL,
  "token_id" TEXT NOT NULL,
  "score" DECIMAL(4,1) NOT NULL,
  "is_open" BOOLEAN NOT NULL,
  "shares" DECIMAL NOT NULL,
  "cost" DECIMAL NOT NULL,
  "paid_shares" DECIMAL NOT NULL,
  "paid_usdc" DECIMAL NOT NULL,
  "opened_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "pm_smart_position_pkey" PRIMARY KEY ("condition_id", "wallet", "token_id")
);
CREATE INDEX "pm_smart_position_open_idx" ON "pm_smart_position" ("condition_id") WHERE "is_open";
CREATE TABLE "pm_smart_run" (
  "day" DATE NOT NULL,
  CONSTRAINT "pm_smart_run_pkey" PRIMARY KEY ("day")
);
