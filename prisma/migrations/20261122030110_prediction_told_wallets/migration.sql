-- Sums over all positions of a wallet, as jobs told them. What writes a position of the wallet, or changes the category of one of its markets, takes the
-- wallet out, in its own transaction; until a job tells it again, its positions are added up when asked.
CREATE TABLE "pm_told_wallet" (
  "wallet" TEXT NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  "trades" INTEGER NOT NULL,
  "gain" DECIMAL NOT NULL,
  "buy_usdc" DECIMAL NOT NULL,
  "markets" INTEGER NOT NULL,
  "categories" JSONB,
  "short_n" INTEGER NOT NULL,
  "short_wins" INTEGER NOT NULL,
  "short_sum" DECIMAL,
  "median_bet" DOUBLE PRECISION,
  CONSTRAINT "pm_told_wallet_pkey" PRIMARY KEY ("wallet")
);
