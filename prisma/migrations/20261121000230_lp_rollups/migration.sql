-- What a provider did in a pool in one hour.
CREATE TABLE "lp_owner_hour" (
  "pool_address" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL,
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
  CONSTRAINT "lp_owner_hour_pkey" PRIMARY KEY ("pool_address", "hour", "owner")
);
CREATE INDEX "lp_owner_hour_hour_idx" ON "lp_owner_hour" ("hour");
CREATE INDEX "lp_owner_hour_owner_hour_idx" ON "lp_owner_hour" ("owner", "hour");

-- What was swapped in a pool in one hour: as seen on the chain, and as the index states it. Never added to each other.
CREATE TABLE "lp_pool_hour" (
  "pool_address" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL,
  "swaps" INTEGER NOT NULL,
  "unpriced" INTEGER NOT NULL,
  "swap_usd" DECIMAL,
  "swap_fee_usd" DECIMAL,
  "stated_usd" DECIMAL,
  "stated_fee_usd" DECIMAL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "lp_pool_hour_pkey" PRIMARY KEY ("pool_address", "hour")
);
CREATE INDEX "lp_pool_hour_hour_idx" ON "lp_pool_hour" ("hour");

-- Flows of one position over its whole life. The legs of a rebalance are netted.
CREATE TABLE "lp_position_sum" (
  "pool_address" TEXT NOT NULL,
  "position_address" TEXT NOT NULL,
  "pool_type" TEXT NOT NULL,
  "owner" TEXT,
  "event_count" INTEGER NOT NULL,
  "deposits" INTEGER NOT NULL,
  "unpriced" INTEGER NOT NULL,
  "uncounted" INTEGER NOT NULL,
  "deposited_usd" DECIMAL NOT NULL,
  "withdrawn_usd" DECIMAL NOT NULL,
  "claimed_usd" DECIMAL NOT NULL,
  "deposited_x" DECIMAL NOT NULL,
  "deposited_y" DECIMAL NOT NULL,
  "withdrawn_x" DECIMAL NOT NULL,
  "withdrawn_y" DECIMAL NOT NULL,
  "opened_at" TIMESTAMPTZ(3),
  "closed_at" TIMESTAMPTZ(3),
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  "changed_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "lp_position_sum_pkey" PRIMARY KEY ("pool_address", "position_address")
);
CREATE INDEX "lp_position_sum_position_address_idx" ON "lp_position_sum" ("position_address");
CREATE INDEX "lp_position_sum_owner_idx" ON "lp_position_sum" ("owner");
CREATE INDEX "lp_position_sum_changed_at_idx" ON "lp_position_sum" ("changed_at");
