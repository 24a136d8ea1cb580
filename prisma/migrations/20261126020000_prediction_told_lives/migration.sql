-- What the rows of a wallet add up to, told with its sums: it holds while the wallet is in pm_told_wallet. Those that are told now are told anew by the next job, and reckoned until then.
CREATE TABLE "pm_told_life" (
  "wallet" TEXT NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  "trade_count" INTEGER NOT NULL,
  "redeems" INTEGER NOT NULL,
  "buy_volume" DECIMAL NOT NULL,
  "sell_volume" DECIMAL NOT NULL,
  "redeem_volume" DECIMAL NOT NULL,
  "markets_traded" INTEGER NOT NULL,
  "largest_trade_usdc" DECIMAL,
  "most_traded_category" TEXT,
  CONSTRAINT "pm_told_life_pkey" PRIMARY KEY ("wallet")
);

DELETE FROM "pm_told_wallet";
