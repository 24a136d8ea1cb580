-- UTC days and whole lives of what perp_trader_hour tells by the hour: long windows read few rows.
CREATE TABLE "perp_trader_day" (
  "trader" TEXT NOT NULL,
  "coin" TEXT NOT NULL,
  "day" TIMESTAMPTZ(0) NOT NULL,
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
  CONSTRAINT "perp_trader_day_pkey" PRIMARY KEY ("trader", "coin", "day")
);
CREATE INDEX "perp_trader_day_trader_day_idx" ON "perp_trader_day" ("trader", "day");
CREATE INDEX "perp_trader_day_day_idx" ON "perp_trader_day" ("day");
CREATE INDEX "perp_trader_day_coin_day_idx" ON "perp_trader_day" ("coin", "day");

CREATE TABLE "perp_trader_life" (
  "trader" TEXT NOT NULL,
  "coin" TEXT NOT NULL,
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
  CONSTRAINT "perp_trader_life_pkey" PRIMARY KEY ("trader", "coin")
);
CREATE INDEX "perp_trader_life_coin_idx" ON "perp_trader_life" ("coin");

CREATE TABLE "perp_coin_day" (
  "coin" TEXT NOT NULL,
  "day" TIMESTAMPTZ(0) NOT NULL,
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
  CONSTRAINT "perp_coin_day_pkey" PRIMARY KEY ("coin", "day")
);
CREATE INDEX "perp_coin_day_day_idx" ON "perp_coin_day" ("day");

INSERT INTO "perp_trader_day" ("trader", "coin", "day", "fills", "buys", "open_longs", "open_shorts", "close_longs", "close_shorts", "open_long_usd", "open_short_usd", "close_long_usd", "close_short_usd", "bought_size", "sold_size", "taker_buy_usd", "taker_sell_usd", "taker_fills", "maker_fills", "long_pnl", "short_pnl", "fees_usd", "closed_entry_usd", "largest_usd", "liquidations", "first_at", "last_at")
SELECT "trader", "coin", date_trunc('day', "hour", 'UTC'), sum("fills"), sum("buys"), sum("open_longs"), sum("open_shorts"), sum("close_longs"), sum("close_shorts"), sum("open_long_usd"), sum("open_short_usd"), sum("close_long_usd"), sum("close_short_usd"), sum("bought_size"), sum("sold_size"), sum("taker_buy_usd"), sum("taker_sell_usd"), sum("taker_fills"), sum("maker_fills"), sum("long_pnl"), sum("short_pnl"), sum("fees_usd"), sum("closed_entry_usd"), max("largest_usd"), sum("liquidations"), min("first_at"), max("last_at") FROM "perp_trader_hour" GROUP BY 1, 2, 3;
INSERT INTO "perp_trader_life" ("trader", "coin", "fills", "buys", "open_longs", "open_shorts", "close_longs", "close_shorts", "open_long_usd", "open_short_usd", "close_long_usd", "close_short_usd", "bought_size", "sold_size", "taker_buy_usd", "taker_sell_usd", "taker_fills", "maker_fills", "long_pnl", "short_pnl", "fees_usd", "closed_entry_usd", "largest_usd", "liquidations", "first_at", "last_at")
SELECT "trader", "coin", sum("fills"), sum("buys"), sum("open_longs"), sum("open_shorts"), sum("close_longs"), sum("close_shorts"), sum("open_long_usd"), sum("open_short_usd"), sum("close_long_usd"), sum("close_short_usd"), sum("bought_size"), sum("sold_size"), sum("taker_buy_usd"), sum("taker_sell_usd"), sum("taker_fills"), sum("maker_fills"), sum("long_pnl"), sum("short_pnl"), sum("fees_usd"), sum("closed_entry_usd"), max("largest_usd"), sum("liquidations"), min("first_at"), max("last_at") FROM "perp_trader_day" GROUP BY 1, 2;
INSERT INTO "perp_coin_day" ("coin", "day", "volume_usd", "matches", "bought_usd", "sold_usd", "undirected", "liquidated_usd",
  "open_long_usd", "open_long_size", "open_short_usd", "open_short_size")
SELECT "coin", date_trunc('day', "hour", 'UTC'), sum("volume_usd"), sum("matches"), sum("bought_usd"), sum("sold_usd"), sum("undirected"),
  sum("liquidated_usd"), sum("open_long_usd"), sum("open_long_size"), sum("open_short_usd"), sum("open_short_size")
FROM "perp_coin_hour" GROUP BY 1, 2;

-- Who was active in a window that ends now is told by when each was last.
CREATE INDEX "perp_trader_last_at_idx" ON "perp_trader" ("last_at");

-- A window's edges are minutes long: a BRIN index reads whole block ranges for them, and all that is not summarised yet.
DROP INDEX "perp_match_time_idx";
CREATE INDEX "perp_match_time_idx" ON "perp_match" ("timestamp");
