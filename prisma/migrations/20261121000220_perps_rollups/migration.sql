-- What an account did in a coin in one hour. Keyed by the account: it serves the questions about accounts.
CREATE TABLE "perp_trader_hour" (
  "trader" TEXT NOT NULL,
  "coin" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(0) NOT NULL,
  "fills" INTEGER NOT NULL,
  "buys" INTEGER NOT NULL,
  "open_longs" INTEGER NOT NULL,
  "open_shorts" INTEGER NOT NULL,
  "close_longs" INTEGER NOT NULL,
  "close_shorts" INTEGER NOT NULL,
  "open_long_usd" DECIMAL NOT NULL,
  "open_short_usd" DECIMAL NOT NULL,
  "close_long_usd" DECIMAL NOT NULL,
  "close_short_usd" DECIMAL NOT NULL,
  "bought_size" DECIMAL NOT NULL,
  "sold_size" DECIMAL NOT NULL,
  "taker_buy_usd" DECIMAL NOT NULL,
  "taker_sell_usd" DECIMAL NOT NULL,
  "taker_fills" INTEGER NOT NULL,
  "maker_fills" INTEGER NOT NULL,
  "long_pnl" DECIMAL NOT NULL,
  "short_pnl" DECIMAL NOT NULL,
  "fees_usd" DECIMAL NOT NULL,
  "closed_entry_usd" DECIMAL NOT NULL,
  "largest_usd" DECIMAL NOT NULL,
  "liquidations" INTEGER NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "perp_trader_hour_pkey" PRIMARY KEY ("trader", "coin", "hour")
);
CREATE INDEX "perp_trader_hour_trader_hour_idx" ON "perp_trader_hour" ("trader", "hour");
CREATE INDEX "perp_trader_hour_coin_hour_idx" ON "perp_trader_hour" ("coin", "hour");
CREATE INDEX "perp_trader_hour_hour_idx" ON "perp_trader_hour" ("hour");

CREATE TABLE "perp_coin_hour" (
  "coin" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(0) NOT NULL,
  "volume_usd" DECIMAL NOT NULL DEFAULT 0,
  "matches" INTEGER NOT NULL DEFAULT 0,
  "bought_usd" DECIMAL NOT NULL DEFAULT 0,
  "sold_usd" DECIMAL NOT NULL DEFAULT 0,
  "undirected" INTEGER NOT NULL DEFAULT 0,
  "liquidated_usd" DECIMAL NOT NULL DEFAULT 0,
  "open_long_usd" DECIMAL NOT NULL DEFAULT 0,
  "open_long_size" DECIMAL NOT NULL DEFAULT 0,
  "open_short_usd" DECIMAL NOT NULL DEFAULT 0,
  "open_short_size" DECIMAL NOT NULL DEFAULT 0,
  "high_price" DECIMAL,
  "low_price" DECIMAL,
  "close_price" DECIMAL,
  "close_at" TIMESTAMPTZ(3),
  "close_seq" INTEGER,
  "close_tid" BIGINT,
  CONSTRAINT "perp_coin_hour_pkey" PRIMARY KEY ("coin", "hour")
);
CREATE INDEX "perp_coin_hour_hour_idx" ON "perp_coin_hour" ("hour");

CREATE TABLE "perp_trader" (
  "trader" TEXT NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "perp_trader_pkey" PRIMARY KEY ("trader")
);
CREATE INDEX "perp_trader_first_at_idx" ON "perp_trader" ("first_at");

-- Keyed by the fill that closed it: a fill closes one round trip at most.
CREATE TABLE "perp_round_trip" (
  "trader" TEXT NOT NULL,
  "coin" TEXT NOT NULL,
  "closed_at" TIMESTAMPTZ(3) NOT NULL,
  "tid" BIGINT NOT NULL,
  "oid" BIGINT NOT NULL,
  "is_long" BOOLEAN NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  "opened_at" TIMESTAMPTZ(3),
  "clean_start" BOOLEAN NOT NULL,
  "parts" INTEGER NOT NULL,
  "opened_size" DECIMAL NOT NULL,
  "opened_usd" DECIMAL NOT NULL,
  "peak_size" DECIMAL NOT NULL,
  "gross_pnl" DECIMAL NOT NULL,
  "fees_usd" DECIMAL NOT NULL,
  "net_pnl" DECIMAL NOT NULL,
  CONSTRAINT "perp_round_trip_pkey" PRIMARY KEY ("trader", "coin", "closed_at", "tid", "oid")
);
CREATE INDEX "perp_round_trip_trader_closed_at_idx" ON "perp_round_trip" ("trader", "closed_at");
CREATE INDEX "perp_round_trip_closed_at_idx" ON "perp_round_trip" ("closed_at");

-- Where each account stands in each coin, and what its open round trip has added up to so far.
CREATE TABLE "perp_position" (
  "trader" TEXT NOT NULL,
  "coin" TEXT NOT NULL,
  "size" DECIMAL NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  "is_long" BOOLEAN NOT NULL,
  "first_at" TIMESTAMPTZ(3),
  "opened_at" TIMESTAMPTZ(3),
  "clean_start" BOOLEAN NOT NULL,
  "parts" INTEGER NOT NULL,
  "opened_size" DECIMAL NOT NULL,
  "opened_usd" DECIMAL NOT NULL,
  "peak_size" DECIMAL NOT NULL,
  "gross_pnl" DECIMAL NOT NULL,
  "fees_usd" DECIMAL NOT NULL,
  CONSTRAINT "perp_position_pkey" PRIMARY KEY ("trader", "coin")
);
CREATE INDEX "perp_position_coin_idx" ON "perp_position" ("coin");
CREATE INDEX "perp_position_last_at_idx" ON "perp_position" ("last_at");
