-- What an account did on one UTC day in all coins: leaderboards add up everybody's days, which are a third fewer and a third as wide as those by coin.
CREATE TABLE "perp_trader_sum" (
    "trader" TEXT NOT NULL,
    "day" TIMESTAMPTZ(0) NOT NULL,
    "fills" INTEGER NOT NULL,
    "volume_usd" DECIMAL NOT NULL,
    "pnl" DECIMAL NOT NULL,
    "net_pnl" DECIMAL NOT NULL,
    "closed_entry_usd" DECIMAL NOT NULL,
    "closed_trips" INTEGER NOT NULL DEFAULT 0,
    "won_trips" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "perp_trader_sum_pkey" PRIMARY KEY ("trader","day")
);

-- In the order of time: what a window reads stands together.
INSERT INTO perp_trader_sum (day, trader, fills, volume_usd, pnl, net_pnl, closed_entry_usd, closed_trips, won_trips)
SELECT day, trader, sum(fills), sum(open_long_usd + open_short_usd + close_long_usd + close_short_usd), sum(long_pnl + short_pnl), sum(long_pnl + short_pnl - fees_usd),
  sum(closed_entry_usd), sum(closed_trips), sum(won_trips)
FROM perp_trader_day GROUP BY 1, 2 ORDER BY 1, 2;

CREATE INDEX "perp_trader_sum_day_idx" ON "perp_trader_sum"("day");
