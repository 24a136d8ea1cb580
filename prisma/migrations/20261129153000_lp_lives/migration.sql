-- All that ever happened in a pool is kept as one row: who ranks pools by everything adds nothing up.
CREATE TABLE "lp_flow_life" (
  "pool_address" TEXT NOT NULL,
  "pool_type" TEXT NOT NULL,
  "deposits" INTEGER NOT NULL,
  "withdrawals" INTEGER NOT NULL,
  "claims" INTEGER NOT NULL,
  "deposit_usd" DECIMAL NOT NULL,
  "withdraw_usd" DECIMAL NOT NULL,
  "claim_usd" DECIMAL NOT NULL,
  "unpriced" INTEGER NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "lp_flow_life_pkey" PRIMARY KEY ("pool_address")
);
CREATE TABLE "lp_pool_life" (
  "pool_address" TEXT NOT NULL,
  "swaps" INTEGER NOT NULL,
  "unpriced" INTEGER NOT NULL,
  "usd" DECIMAL,
  "fee_usd" DECIMAL,
  "seen_usd" DECIMAL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "lp_pool_life_pkey" PRIMARY KEY ("pool_address")
);
INSERT INTO lp_flow_life (pool_address, pool_type, deposits, withdrawals, claims, deposit_usd, withdraw_usd, claim_usd, unpriced, first_at, last_at)
SELECT pool_address, min(pool_type), sum(deposits)::int, sum(withdrawals)::int, sum(claims)::int, sum(deposit_usd), sum(withdraw_usd), sum(claim_usd), sum(unpriced)::int, min(first_at), max(last_at)
FROM lp_flow_month GROUP BY pool_address;
INSERT INTO lp_pool_life (pool_address, swaps, unpriced, usd, fee_usd, seen_usd, first_at)
SELECT pool_address, sum(swaps)::int, sum(unpriced)::int, sum(usd), sum(fee_usd), sum(seen_usd), min(first_at) FROM lp_pool_month GROUP BY pool_address;
ANALYZE "lp_flow_life", "lp_pool_life";
