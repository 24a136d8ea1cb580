-- What a wallet put into each outcome it ever bought, told with its sums: it holds while the wallet is in pm_told_wallet, and is told by the next job.
CREATE TABLE "pm_told_sides" (
  "wallet" TEXT NOT NULL,
  "first_ended_at" TIMESTAMPTZ(3),
  "markets" BIGINT[],
  "tokens" BIGINT[],
  "net_usdc" DOUBLE PRECISION[],
  "is_top" BOOLEAN[],
  "opened_at" TIMESTAMPTZ(3)[],
  CONSTRAINT "pm_told_sides_pkey" PRIMARY KEY ("wallet")
);

-- Markets by the number they are told by.
CREATE INDEX "pm_market_number_idx" ON "pm_market" (hashtextextended("condition_id", 0));
