-- Coins, and what smart accounts did in them, by UTC months: a year of every coin is eleven of these and the days at its ends.
CREATE TABLE "perp_coin_month" (
    "coin" TEXT NOT NULL,
    "month" TIMESTAMPTZ(0) NOT NULL,
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

    CONSTRAINT "perp_coin_month_pkey" PRIMARY KEY ("coin","month")
);

CREATE INDEX "perp_coin_month_month_idx" ON "perp_coin_month"("month");

CREATE TABLE "perp_smart_month" (
    "coin" TEXT NOT NULL,
    "month" TIMESTAMPTZ(0) NOT NULL,
    "fills" INTEGER NOT NULL,
    "open_long_usd" DECIMAL NOT NULL,
    "open_short_usd" DECIMAL NOT NULL,
    "close_long_usd" DECIMAL NOT NULL,
    "close_short_usd" DECIMAL NOT NULL,
    "long_pnl" DECIMAL NOT NULL DEFAULT 0,
    "short_pnl" DECIMAL NOT NULL DEFAULT 0,

    CONSTRAINT "perp_smart_month_pkey" PRIMARY KEY ("coin","month")
);

CREATE INDEX "perp_smart_month_month_idx" ON "perp_smart_month"("month");

INSERT INTO perp_coin_month (month, coin, volume_usd, matches, bought_usd, sold_usd, undirected, liquidated_usd, open_long_usd, open_long_size, open_short_usd, open_short_size)
SELECT date_trunc('month', day, 'UTC'), coin, sum(volume_usd), sum(matches), sum(bought_usd), sum(sold_usd), sum(undirected), sum(liquidated_usd),
  sum(open_long_usd), sum(open_long_size), sum(open_short_usd), sum(open_short_size)
FROM perp_coin_day GROUP BY 1, 2 ORDER BY 1, 2;

INSERT INTO perp_smart_month (month, coin, fills, open_long_usd, open_short_usd, close_long_usd, close_short_usd, long_pnl, short_pnl)
SELECT date_trunc('month', day, 'UTC'), coin, sum(fills), sum(open_long_usd), sum(open_short_usd), sum(close_long_usd), sum(close_short_usd), sum(long_pnl), sum(short_pnl)
FROM perp_smart_day GROUP BY 1, 2 ORDER BY 1, 2;

-- What was matched in all coins of an hour: shares of a bucket, and the volume of a window, are told without every coin's hours.
CREATE TABLE "perp_volume_hour" (
    "hour" TIMESTAMPTZ(0) NOT NULL,
    "volume_usd" DECIMAL NOT NULL,

    CONSTRAINT "perp_volume_hour_pkey" PRIMARY KEY ("hour")
);

INSERT INTO perp_volume_hour (hour, volume_usd)
SELECT hour, sum(volume_usd) FROM perp_coin_hour WHERE matches > 0 GROUP BY hour ORDER BY hour;

ANALYZE perp_coin_month, perp_smart_month, perp_volume_hour;
