-- What providers did in a pool in one hour.
CREATE TABLE "lp_flow_hour" (
  "pool_address" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL,
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
  CONSTRAINT "lp_flow_hour_pkey" PRIMARY KEY ("pool_address", "hour")
);
CREATE INDEX "lp_flow_hour_hour_idx" ON "lp_flow_hour" ("hour");

-- The same by UTC day.
CREATE TABLE "lp_flow_day" (
  "pool_address" TEXT NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
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
  CONSTRAINT "lp_flow_day_pkey" PRIMARY KEY ("pool_address", "day")
);
CREATE INDEX "lp_flow_day_day_idx" ON "lp_flow_day" ("day");

-- What was swapped in a pool on one UTC day: of each hour what the index states, else what was seen.
CREATE TABLE "lp_pool_day" (
  "pool_address" TEXT NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  "swaps" INTEGER NOT NULL,
  "unpriced" INTEGER NOT NULL,
  "usd" DECIMAL,
  "fee_usd" DECIMAL,
  "seen_usd" DECIMAL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "lp_pool_day_pkey" PRIMARY KEY ("pool_address", "day")
);
CREATE INDEX "lp_pool_day_day_idx" ON "lp_pool_day" ("day");

-- What a provider did in a pool on one UTC day.
CREATE TABLE "lp_owner_day" (
  "owner" TEXT NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
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
  CONSTRAINT "lp_owner_day_pkey" PRIMARY KEY ("owner", "day", "pool_address")
);
CREATE INDEX "lp_owner_day_pool_address_day_idx" ON "lp_owner_day" ("pool_address", "day");
CREATE INDEX "lp_owner_day_day_idx" ON "lp_owner_day" ("day");

-- What a provider ever did in a pool.
CREATE TABLE "lp_owner_pool" (
  "pool_address" TEXT NOT NULL,
  "owner" TEXT NOT NULL,
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
  CONSTRAINT "lp_owner_pool_pkey" PRIMARY KEY ("owner", "pool_address")
);
CREATE INDEX "lp_owner_pool_pool_address_last_at_idx" ON "lp_owner_pool" ("pool_address", "last_at");

-- What a provider ever did in pools of a type.
CREATE TABLE "lp_owner_life" (
  "owner" TEXT NOT NULL,
  "pool_type" TEXT NOT NULL,
  "pools" INTEGER NOT NULL,
  "deposits" INTEGER NOT NULL,
  "withdrawals" INTEGER NOT NULL,
  "claims" INTEGER NOT NULL,
  "deposit_usd" DECIMAL NOT NULL,
  "withdraw_usd" DECIMAL NOT NULL,
  "claim_usd" DECIMAL NOT NULL,
  "unpriced" INTEGER NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "lp_owner_life_pkey" PRIMARY KEY ("owner", "pool_type")
);
CREATE INDEX "lp_owner_life_last_at_idx" ON "lp_owner_life" ("last_at");
CREATE INDEX "lp_owner_life_first_at_idx" ON "lp_owner_life" ("first_at");

-- Of what is in the store already.
INSERT INTO lp_flow_hour (pool_address, hour, pool_type, deposits, withdrawals, claims, deposit_usd, withdraw_usd, claim_usd, unpriced, first_at, last_at) SELECT o.pool_address, o.hour, min(o.pool_type), sum(o.deposits)::int AS deposits, sum(o.withdrawals)::int AS withdrawals, sum(o.claims)::int AS claims,
  sum(o.deposit_usd) AS deposit_usd, sum(o.withdraw_usd) AS withdraw_usd, sum(o.claim_usd) AS claim_usd,
  sum(o.unpriced)::int AS unpriced, min(o.first_at) AS first_at, max(o.last_at) AS last_at FROM lp_owner_hour o GROUP BY o.pool_address, o.hour;
INSERT INTO lp_flow_day (pool_address, day, pool_type, deposits, withdrawals, claims, deposit_usd, withdraw_usd, claim_usd, unpriced, first_at, last_at) SELECT f.pool_address, date_trunc('day', f.hour, 'UTC'), min(f.pool_type), sum(f.deposits)::int AS deposits, sum(f.withdrawals)::int AS withdrawals, sum(f.claims)::int AS claims,
  sum(f.deposit_usd) AS deposit_usd, sum(f.withdraw_usd) AS withdraw_usd, sum(f.claim_usd) AS claim_usd,
  sum(f.unpriced)::int AS unpriced, min(f.first_at) AS first_at, max(f.last_at) AS last_at FROM lp_flow_hour f GROUP BY f.pool_address, date_trunc('day', f.hour, 'UTC');
INSERT INTO lp_pool_day (pool_address, day, swaps, unpriced, usd, fee_usd, seen_usd, first_at) 
SELECT h.pool_address, date_trunc('day', h.hour, 'UTC'), sum(h.swaps)::int, sum(CASE WHEN h.stated_usd IS NULL THEN h.unpriced ELSE 0 END)::int,
  sum(coalesce(h.stated_usd, h.swap_usd)), sum(coalesce(h.stated_fee_usd, h.swap_fee_usd)), sum(h.swap_usd), min(h.first_at)
FROM lp_pool_hour h GROUP BY h.pool_address, date_trunc('day', h.hour, 'UTC');
INSERT INTO lp_owner_day (owner, day, pool_address, pool_type, deposits, withdrawals, claims, deposit_usd, withdraw_usd, claim_usd, unpriced, first_at, last_at) SELECT o.owner, date_trunc('day', o.hour, 'UTC'), o.pool_address, min(o.pool_type), sum(o.deposits)::int AS deposits, sum(o.withdrawals)::int AS withdrawals, sum(o.claims)::int AS claims,
  sum(o.deposit_usd) AS deposit_usd, sum(o.withdraw_usd) AS withdraw_usd, sum(o.claim_usd) AS claim_usd,
  sum(o.unpriced)::int AS unpriced, min(o.first_at) AS first_at, max(o.last_at) AS last_at FROM lp_owner_hour o GROUP BY o.owner, date_trunc('day', o.hour, 'UTC'), o.pool_address;
INSERT INTO lp_owner_pool (pool_address, owner, pool_type, deposits, withdrawals, claims, deposit_usd, withdraw_usd, claim_usd, unpriced, first_at, last_at) SELECT d.pool_address, d.owner, min(d.pool_type), sum(d.deposits)::int AS deposits, sum(d.withdrawals)::int AS withdrawals, sum(d.claims)::int AS claims,
  sum(d.deposit_usd) AS deposit_usd, sum(d.withdraw_usd) AS withdraw_usd, sum(d.claim_usd) AS claim_usd,
  sum(d.unpriced)::int AS unpriced, min(d.first_at) AS first_at, max(d.last_at) AS last_at FROM lp_owner_day d GROUP BY d.pool_address, d.owner;
INSERT INTO lp_owner_life (owner, pool_type, pools, deposits, withdrawals, claims, deposit_usd, withdraw_usd, claim_usd, unpriced, first_at, last_at) SELECT p.owner, p.pool_type, count(*)::int, sum(p.deposits)::int AS deposits, sum(p.withdrawals)::int AS withdrawals, sum(p.claims)::int AS claims,
  sum(p.deposit_usd) AS deposit_usd, sum(p.withdraw_usd) AS withdraw_usd, sum(p.claim_usd) AS claim_usd,
  sum(p.unpriced)::int AS unpriced, min(p.first_at) AS first_at, max(p.last_at) AS last_at FROM lp_owner_pool p GROUP BY p.owner, p.pool_type;

-- Large deposits and withdrawals, newest first; by pool; and the claims of a pool.
CREATE INDEX "lp_event_timestamp_usd_idx" ON "lp_event" ("timestamp", "usd") WHERE "kind" IN ('deposit', 'withdraw');
CREATE INDEX "lp_event_large_idx" ON "lp_event" ("timestamp", "usd") WHERE "kind" IN ('deposit', 'withdraw') AND "usd" >= 10000;
CREATE INDEX "lp_event_huge_idx" ON "lp_event" ("timestamp", "usd") WHERE "kind" IN ('deposit', 'withdraw') AND "usd" >= 100000;
CREATE INDEX "lp_event_pool_usd_idx" ON "lp_event" ("pool_address", "timestamp", "usd");
CREATE INDEX "lp_event_claims_idx" ON "lp_event" ("pool_address", "timestamp") INCLUDE ("owner", "usd") WHERE "kind" = 'claim';
-- Whose accounts a transaction went through.
CREATE INDEX "lp_event_programs_idx" ON "lp_event" USING GIN ("programs");
CREATE INDEX "lp_event_fee_payer_idx" ON "lp_event" ("fee_payer", "timestamp");
-- Swaps of a pool above an amount, and of one trader.
CREATE INDEX "lp_swap_pool_usd_idx" ON "lp_swap" ("pool_address", "timestamp", "usd");
CREATE INDEX "lp_swap_trader_idx" ON "lp_swap" ("trader", "pool_address", "timestamp");
-- Open positions of a pool, and positions by their close.
CREATE INDEX "lp_position_sum_open_idx" ON "lp_position_sum" ("pool_address") WHERE "closed_at" IS NULL;
CREATE INDEX "lp_position_sum_closed_at_idx" ON "lp_position_sum" ("closed_at");
CREATE INDEX "lp_score_day_score_idx" ON "lp_score" ("day", "score");
