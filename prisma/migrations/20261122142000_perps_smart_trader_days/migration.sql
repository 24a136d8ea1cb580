-- The days of smart accounts, of the run of the day in perp_smart_run, beside each other: who of them did what in a window is read in one piece, not
-- account by account. Told by the daily scores, and kept up to date by what is filled after them.
CREATE TABLE "perp_smart_trader_day" (
  "day" TIMESTAMPTZ(0) NOT NULL,
  "coin" TEXT NOT NULL,
  "trader" TEXT NOT NULL,
  "score" DECIMAL(4, 1) NOT NULL,
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
  "long_pnl" DECIMAL NOT NULL,
  "short_pnl" DECIMAL NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "perp_smart_trader_day_pkey" PRIMARY KEY ("day", "coin", "trader")
);

INSERT INTO "perp_smart_trader_day" ("day", "coin", "trader", "score", "fills", "buys", "open_longs", "open_shorts", "close_longs", "close_shorts",
  "open_long_usd", "open_short_usd", "close_long_usd", "close_short_usd", "bought_size", "sold_size", "long_pnl", "short_pnl", "last_at")
SELECT d."day", d."coin", d."trader", s."score", d."fills", d."buys", d."open_longs", d."open_shorts", d."close_longs", d."close_shorts",
  d."open_long_usd", d."open_short_usd", d."close_long_usd", d."close_short_usd", d."bought_size", d."sold_size", d."long_pnl", d."short_pnl", d."last_at"
FROM "perp_trader_day" d JOIN "perp_score" s ON s."trader" = d."trader" AND s."day" = (SELECT "day" FROM "perp_smart_run") AND s."score" >= 85
ORDER BY 1, 2, 3;
