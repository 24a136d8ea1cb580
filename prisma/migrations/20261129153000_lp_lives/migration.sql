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
-- How many providers came first and were there last in each hour: an end of a window that lies within a day is told without every provider.
CREATE TABLE "lp_life_hour" (
  "hour" TIMESTAMPTZ(3) NOT NULL,
  "pool_type" TEXT NOT NULL,
  "came" INTEGER NOT NULL,
  "last" INTEGER NOT NULL,
  CONSTRAINT "lp_life_hour_pkey" PRIMARY KEY ("hour", "pool_type")
);
INSERT INTO lp_life_hour (hour, pool_type, came, last)
SELECT t.hour, l.pool_type, sum(t.came)::int, sum(t.last)::int
FROM lp_owner_life l CROSS JOIN LATERAL (VALUES (date_trunc('hour', l.first_at, 'UTC'), 1, 0), (date_trunc('hour', l.last_at, 'UTC'), 0, 1)) AS t(hour, came, last)
WHERE l.owner <> '' GROUP BY l.pool_type, t.hour ORDER BY t.hour;
-- What is emptied is found and taken away.
CREATE INDEX "lp_life_hour_none_idx" ON "lp_life_hour" ("hour") WHERE "came" = 0 AND "last" = 0;
ANALYZE "lp_life_hour";
