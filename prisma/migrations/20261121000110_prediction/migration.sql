CREATE TABLE "pm_market" (
  "condition_id" TEXT NOT NULL,
  "question" TEXT,
  "slug" TEXT,
  "event_slug" TEXT,
  "category" TEXT NOT NULL,
  "tags" TEXT[],
  "outcomes" TEXT[],
  "neg_risk" BOOLEAN,
  "neg_risk_id" TEXT,
  "end_date" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3),
  "closed_at" TIMESTAMPTZ(3),
  "resolved_at" TIMESTAMPTZ(3),
  "winning_outcome" TEXT,
  "is_voided" BOOLEAN NOT NULL DEFAULT false,
  "upstream_volume" DECIMAL,
  "upstream_liquidity" DECIMAL,
  "updated_at" TIMESTAMPTZ(3),
  "is_stub" BOOLEAN NOT NULL,
  CONSTRAINT "pm_market_pkey" PRIMARY KEY ("condition_id")
);
CREATE INDEX "pm_market_category_idx" ON "pm_market" ("category");
CREATE INDEX "pm_market_event_slug_idx" ON "pm_market" ("event_slug");
CREATE INDEX "pm_market_end_date_idx" ON "pm_market" ("end_date");
CREATE INDEX "pm_market_resolved_at_idx" ON "pm_market" ("resolved_at");
CREATE INDEX "pm_market_created_at_idx" ON "pm_market" ("created_at");

CREATE TABLE "pm_outcome" (
  "condition_id" TEXT NOT NULL,
  "token_id" TEXT NOT NULL,
  "outcome_index" SMALLINT,
  "outcome" TEXT NOT NULL,
  "price" DECIMAL,
  "price_at" TIMESTAMPTZ(3),
  "payout" DECIMAL,
  CONSTRAINT "pm_outcome_pkey" PRIMARY KEY ("condition_id", "token_id")
);

-- The key's order serves a market's feed; no plain index on time, which planners prefer to it for busy markets.
CREATE TABLE "pm_trade" (
  "condition_id" TEXT NOT NULL,
  "timestamp" TIMESTAMPTZ(3) NOT NULL,
  "trade_id" UUID NOT NULL,
  "wallet" TEXT NOT NULL,
  "token_id" TEXT,
  "side" TEXT NOT NULL,
  "price" DECIMAL,
  "size" DECIMAL NOT NULL,
  "usdc_size" DECIMAL NOT NULL,
  "is_taker" BOOLEAN,
  "tx_hash" TEXT,
  CONSTRAINT "pm_trade_pkey" PRIMARY KEY ("condition_id", "timestamp", "trade_id")
) PARTITION BY RANGE ("timestamp");
CREATE INDEX "pm_trade_wallet_timestamp_idx" ON "pm_trade" ("wallet", "timestamp" DESC);
-- The planner may use it only where a statement says the bound literally.
CREATE INDEX "pm_trade_large_idx" ON "pm_trade" ("timestamp" DESC, "trade_id" DESC) WHERE "usdc_size" >= 1000;
CREATE INDEX "pm_trade_time_idx" ON "pm_trade" USING BRIN ("timestamp") WITH (autosummarize = on);

CREATE TABLE "pm_wallet" (
  "wallet" TEXT NOT NULL,
  "first_trade_at" TIMESTAMPTZ(3),
  "first_seen_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "pm_wallet_pkey" PRIMARY KEY ("wallet")
);
CREATE INDEX "pm_wallet_first_trade_at_idx" ON "pm_wallet" ("first_trade_at");

CREATE TABLE "pm_wallet_score" (
  "wallet" TEXT NOT NULL,
  "day" DATE NOT NULL,
  "score" DECIMAL(4,1),
  "tags" TEXT[],
  "version" TEXT NOT NULL,
  "win_rate" DECIMAL,
  "win_rate_lb" DECIMAL,
  "positions" INTEGER,
  "edge" DECIMAL,
  "edge_low" DECIMAL,
  "edge_high" DECIMAL,
  "z" DECIMAL,
  "breakdown" JSONB,
  CONSTRAINT "pm_wallet_score_pkey" PRIMARY KEY ("wallet", "day")
);
CREATE INDEX "pm_wallet_score_day_score_idx" ON "pm_wallet_score" ("day", "score" DESC);
