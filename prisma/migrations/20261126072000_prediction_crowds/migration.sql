-- What low-score wallets hold of each outcome, added up for every bound of a score that can be asked: who agrees on which markets is one row a side instead of
-- one a position. Filled when the scores are told next; wallets of which a position was written since are corrected one by one.
CREATE TABLE "pm_crowd" (
  "max_score" INTEGER NOT NULL,
  "condition_id" TEXT NOT NULL,
  "token_id" TEXT NOT NULL,
  "wallets" INTEGER NOT NULL,
  "net_usdc" DECIMAL NOT NULL,
  "scores" DECIMAL NOT NULL,
  "paid_shares" DECIMAL NOT NULL,
  "paid_usdc" DECIMAL NOT NULL,
  CONSTRAINT "pm_crowd_pkey" PRIMARY KEY ("max_score", "condition_id", "token_id")
);
CREATE TABLE "pm_crowd_stance" (
  "wallet" TEXT NOT NULL,
  "condition_id" TEXT NOT NULL,
  "token_id" TEXT NOT NULL,
  "score" DECIMAL(4,1) NOT NULL,
  "net_usdc" DECIMAL NOT NULL,
  "paid_shares" DECIMAL NOT NULL,
  "paid_usdc" DECIMAL NOT NULL,
  CONSTRAINT "pm_crowd_stance_pkey" PRIMARY KEY ("wallet", "condition_id", "token_id")
);
CREATE TABLE "pm_crowd_due" (
  "wallet" TEXT NOT NULL,
  CONSTRAINT "pm_crowd_due_pkey" PRIMARY KEY ("wallet")
);
CREATE TABLE "pm_crowd_told" (
  "day" DATE NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "pm_crowd_told_pkey" PRIMARY KEY ("day")
);
