-- Catalogue -------------------------------------------------------------------------------------------------------------

CREATE TABLE "lp_token" (
  "mint" TEXT NOT NULL,
  "symbol" TEXT,
  "name" TEXT,
  "symbol_key" TEXT COLLATE "C",
  "name_key" TEXT COLLATE "C",
  "decimals" SMALLINT,
  "quality" SMALLINT NOT NULL DEFAULT 0,
  CONSTRAINT "lp_token_pkey" PRIMARY KEY ("mint")
);
CREATE INDEX "lp_token_symbol_key_idx" ON "lp_token" ("symbol_key");
CREATE INDEX "lp_token_name_key_idx" ON "lp_token" ("name_key");

CREATE TABLE "lp_pool" (
  "pool_address" TEXT NOT NULL,
  "pool_type" TEXT NOT NULL CHECK ("pool_type" IN ('dlmm', 'damm_v2')),
  "name" TEXT,
  "mint_x" TEXT,
  "mint_y" TEXT,
  "bin_step" INTEGER,
  "base_fee_pct" DECIMAL,
  "created_at" TIMESTAMPTZ(3),
  "catalogued" BOOLEAN NOT NULL DEFAULT false,
  "as_of" TIMESTAMPTZ(3),
  "tvl_usd" DECIMAL,
  "lifetime_volume_usd" DECIMAL,
  "lifetime_fees_usd" DECIMAL,
  "reserve_x" DECIMAL,
  "reserve_y" DECIMAL,
  "reserve_at" TIMESTAMPTZ(3),
  "swaps_seen" BOOLEAN NOT NULL DEFAULT false,
  CONSTRAINT "lp_pool_pkey" PRIMARY KEY ("pool_address")
);
CREATE INDEX "lp_pool_mint_x_idx" ON "lp_pool" ("mint_x");
CREATE INDEX "lp_pool_mint_y_idx" ON "lp_pool" ("mint_y");

CREATE TABLE "lp_position" (
  "position_address" TEXT NOT NULL,
  "pool_address" TEXT,
  "pool_type" TEXT NOT NULL,
  "owner" TEXT,
  "owner_at" TIMESTAMPTZ(3),
  "opened_at" TIMESTAMPTZ(3),
  "closed_at" TIMESTAMPTZ(3),
  "lower_bin" INTEGER,
  "upper_bin" INTEGER,
  CONSTRAINT "lp_position_pkey" PRIMARY KEY ("position_address")
);
CREATE INDEX "lp_position_pool_address_idx" ON "lp_position" ("pool_address");
CREATE INDEX "lp_position_owner_idx" ON "lp_position" ("owner");

-- Facts: append-only, one partition a month -------------------------------------------------------------------------------

CREATE TABLE "lp_event" (
  "pool_address" TEXT NOT NULL,
  "timestamp" TIMESTAMPTZ(3) NOT NULL,
  "tx_id" TEXT NOT NULL,
  "position_address" TEXT NOT NULL,
  "kind" TEXT NOT NULL CHECK ("kind" IN ('deposit', 'withdraw', 'claim')),
  "n" SMALLINT NOT NULL,
  "pool_type" TEXT NOT NULL,
  "owner" TEXT,
  "signer" TEXT,
  "raw_x" DECIMAL,
  "raw_y" DECIMAL,
  "amount_x" DECIMAL,
  "amount_y" DECIMAL,
  "stated_usd_x" DECIMAL,
  "stated_usd_y" DECIMAL,
  "usd" DECIMAL,
  "usd_stated" BOOLEAN NOT NULL DEFAULT false,
  "bin_id" INTEGER,
  "liquidity_delta" DECIMAL,
  "rebalance" BOOLEAN NOT NULL DEFAULT false,
  "slot" BIGINT,
  "outer_ix" SMALLINT,
  "inner_ix" SMALLINT,
  "fee_payer" TEXT,
  "programs" TEXT[],
  CONSTRAINT "lp_event_pkey" PRIMARY KEY ("pool_address", "timestamp", "tx_id", "position_address", "kind", "n")
) PARTITION BY RANGE ("timestamp");
CREATE INDEX "lp_event_timestamp_idx" ON "lp_event" USING BRIN ("timestamp");
CREATE INDEX "lp_event_owner_timestamp_idx" ON "lp_event" ("owner", "timestamp");
CREATE INDEX "lp_event_position_address_idx" ON "lp_event" ("position_address");

CREATE TABLE "lp_swap" (
  "pool_address" TEXT NOT NULL,
  "timestamp" TIMESTAMPTZ(3) NOT NULL,
  "tx_id" TEXT NOT NULL,
  "outer_ix" SMALLINT NOT NULL,
  "inner_ix" SMALLINT NOT NULL,
  "pool_type" TEXT NOT NULL,
  "trader" TEXT NOT NULL,
  "x_to_y" BOOLEAN NOT NULL,
  "raw_in" DECIMAL NOT NULL,
  "raw_out" DECIMAL NOT NULL,
  "raw_fee" DECIMAL NOT NULL,
  "fee_on_x" BOOLEAN,
  "bin_id" INTEGER,
  "sqrt_price" DECIMAL,
  "amount_in" DECIMAL,
  "amount_out" DECIMAL,
  "usd" DECIMAL,
  "fee_usd" DECIMAL,
  "slot" BIGINT,
  "fee_payer" TEXT,
  "programs" TEXT[],
  CONSTRAINT "lp_swap_pkey" PRIMARY KEY ("pool_address", "timestamp", "tx_id", "outer_ix", "inner_ix")
) PARTITION BY RANGE ("timestamp");
CREATE INDEX "lp_swap_timestamp_idx" ON "lp_swap" USING BRIN ("timestamp");

CREATE TABLE "lp_reward" (
  "pool_address" TEXT NOT NULL,
  "timestamp" TIMESTAMPTZ(3) NOT NULL,
  "tx_id" TEXT NOT NULL,
  "outer_ix" SMALLINT NOT NULL,
  "inner_ix" SMALLINT NOT NULL,
  "pool_type" TEXT NOT NULL,
  "position_address" TEXT NOT NULL,
  "owner" TEXT,
  "reward_index" SMALLINT NOT NULL,
  "mint" TEXT,
  "raw_amount" DECIMAL NOT NULL,
  CONSTRAINT "lp_reward_pkey" PRIMARY KEY ("pool_address", "timestamp", "tx_id", "outer_ix", "inner_ix", "reward_index")
) PARTITION BY RANGE ("timestamp");
CREATE INDEX "lp_reward_timestamp_idx" ON "lp_reward" USING BRIN ("timestamp");

CREATE TABLE "lp_position_event" (
  "position_address" TEXT NOT NULL,
  "timestamp" TIMESTAMPTZ(3) NOT NULL,
  "tx_id" TEXT NOT NULL,
  "kind" TEXT NOT NULL CHECK ("kind" IN ('open', 'close')),
  "pool_address" TEXT,
  "pool_type" TEXT NOT NULL,
  "owner" TEXT NOT NULL,
  "nft_mint" TEXT,
  CONSTRAINT "lp_position_event_pkey" PRIMARY KEY ("position_address", "timestamp", "tx_id", "kind")
) PARTITION BY RANGE ("timestamp");
CREATE INDEX "lp_position_event_timestamp_idx" ON "lp_position_event" USING BRIN ("timestamp");

CREATE TABLE "lp_volume_hour" (
  "pool_address" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL,
  "volume_usd" DECIMAL NOT NULL,
  "fees_usd" DECIMAL,
  "protocol_fees_usd" DECIMAL,
  CONSTRAINT "lp_volume_hour_pkey" PRIMARY KEY ("pool_address", "hour")
) PARTITION BY RANGE ("hour");
CREATE INDEX "lp_volume_hour_hour_idx" ON "lp_volume_hour" USING BRIN ("hour");

CREATE TABLE "lp_liquidity_hour" (
  "pool_address" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL,
  "liquidity_usd" DECIMAL NOT NULL,
  CONSTRAINT "lp_liquidity_hour_pkey" PRIMARY KEY ("pool_address", "hour")
) PARTITION BY RANGE ("hour");
CREATE INDEX "lp_liquidity_hour_hour_idx" ON "lp_liquidity_hour" USING BRIN ("hour");

CREATE TABLE "token_price" (
  "mint" TEXT NOT NULL,
  "minute" TIMESTAMPTZ(3) NOT NULL,
  "usd" DECIMAL NOT NULL,
  "source" SMALLINT NOT NULL,
  CONSTRAINT "token_price_pkey" PRIMARY KEY ("mint", "minute")
) PARTITION BY RANGE ("minute");
CREATE INDEX "token_price_minute_idx" ON "token_price" USING BRIN ("minute");

CREATE TABLE "dca_event" (
  "order_address" TEXT NOT NULL,
  "timestamp" TIMESTAMPTZ(3) NOT NULL,
  "tx_id" TEXT NOT NULL,
  "outer_ix" SMALLINT NOT NULL,
  "inner_ix" SMALLINT NOT NULL,
  "kind" TEXT NOT NULL CHECK ("kind" IN ('opened', 'filled', 'closed', 'fee', 'withdraw', 'deposit')),
  "owner" TEXT,
  "input_mint" TEXT,
  "output_mint" TEXT,
  "in_amount" DECIMAL,
  "out_amount" DECIMAL,
  "in_deposited" DECIMAL,
  "in_amount_per_cycle" DECIMAL,
  "unfilled_amount" DECIMAL,
  "cycle_frequency" BIGINT,
  "opened_at" TIMESTAMPTZ(3),
  "fee_mint" TEXT,
  "fee" DECIMAL,
  "by_user" BOOLEAN,
  CONSTRAINT "dca_event_pkey" PRIMARY KEY ("order_address", "timestamp", "tx_id", "outer_ix", "inner_ix")
) PARTITION BY RANGE ("timestamp");
CREATE INDEX "dca_event_timestamp_idx" ON "dca_event" USING BRIN ("timestamp");

-- Scores: one row an owner and day, kept -----------------------------------------------------------------------------------

CREATE TABLE "lp_score" (
  "owner" TEXT NOT NULL,
  "day" DATE NOT NULL,
  "score" DECIMAL(4,1),
  "n" INTEGER NOT NULL,
  "wins" INTEGER NOT NULL,
  "win_rate_lb" DECIMAL,
  "deposited_usd" DECIMAL,
  "avg_pnl_pct" DECIMAL,
  "tags" TEXT[],
  "version" TEXT NOT NULL,
  CONSTRAINT "lp_score_pkey" PRIMARY KEY ("owner", "day")
);
CREATE INDEX "lp_score_day_idx" ON "lp_score" ("day");
