-- Coins, and what smart accounts did in them, by quarters of a UTC day: an end of a window that lies within a day is told by a few of these and of the hours, not by
-- up to a day of hours of every coin.
CREATE TABLE "perp_coin_quarter" (
    "coin" TEXT NOT NULL,
    "quarter" TIMESTAMPTZ(0) NOT NULL,
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

    CONSTRAINT "perp_coin_quarter_pkey" PRIMARY KEY ("coin","quarter")
);

CREATE INDEX "perp_coin_quarter_quarter_idx" ON "perp_coin_quarter"("quarter");

CREATE TABLE "perp_smart_quarter" (
    "coin" TEXT NOT NULL,
    "quarter" TIMESTAMPTZ(0) NOT NULL,
    "fills" INTEGER NOT NULL,
    "open_long_usd" DECIMAL NOT NULL,
    "open_short_usd" DECIMAL NOT NULL,
    "close_long_usd" DECIMAL NOT NULL,
    "close_short_usd" DECIMAL NOT NULL,
    "long_pnl" DECIMAL NOT NULL DEFAULT 0,
    "short_pnl" DECIMAL NOT NULL DEFAULT 0,

    CONSTRAINT "perp_smart_quarter_pkey" PRIMARY KEY ("coin","quarter")
);

CREATE INDEX "perp_smart_quarter_quarter_idx" ON "perp_smart_quarter"("quarter");

-- In the order of time: what a window's end reads stands together. A row of hours without a match or an open by a taker tells nothing.
INSERT INTO perp_coin_quarter (quarter, coin, volume_usd, matches, bought_usd, sold_usd, undirected, liquidated_usd, open_long_usd, open_long_size, open_short_usd, open_short_size)
SELECT date_bin('6 hours', hour, timestamptz '2000-01-01T00:00:00Z'), coin, sum(volume_usd), sum(matches), sum(bought_usd), sum(sold_usd), sum(undirected), sum(liquidated_usd),
  sum(open_long_usd), sum(open_long_size), sum(open_short_usd), sum(open_short_size)
FROM perp_coin_hour WHERE matches > 0 OR open_long_size > 0 OR open_short_size > 0 GROUP BY 1, 2 ORDER BY 1, 2;

INSERT INTO perp_smart_quarter (quarter, coin, fills, open_long_usd, open_short_usd, close_long_usd, close_short_usd, long_pnl, short_pnl)
SELECT date_bin('6 hours', hour, timestamptz '2000-01-01T00:00:00Z'), coin, sum(fills), sum(open_long_usd), sum(open_short_usd), sum(close_long_usd), sum(close_short_usd),
  sum(long_pnl), sum(short_pnl)
FROM perp_smart_hour GROUP BY 1, 2 ORDER BY 1, 2;

ANALYZE perp_coin_quarter, perp_smart_quarter;
