-- What takers did on each market in a quarter of a day: the hours of a window's ends are many, most of what they come to is told by six at once.
CREATE TABLE "pm_market_quarter" (
    "condition_id" TEXT NOT NULL,
    "quarter" TIMESTAMPTZ(0) NOT NULL,
    "fills" INTEGER NOT NULL,
    "buys" INTEGER NOT NULL,
    "sells" INTEGER NOT NULL,
    "buy_usdc" DECIMAL NOT NULL,
    "sell_usdc" DECIMAL NOT NULL,

    CONSTRAINT "pm_market_quarter_pkey" PRIMARY KEY ("condition_id","quarter")
);

CREATE INDEX "pm_market_quarter_quarter_idx" ON "pm_market_quarter"("quarter");

INSERT INTO pm_market_quarter
SELECT condition_id, date_bin('6 hours', hour, timestamptz '2000-01-01T00:00:00Z') AS quarter, sum(fills), sum(buys), sum(sells), sum(buy_usdc), sum(sell_usdc)
FROM pm_token_hour GROUP BY 1, 2 ORDER BY 2, 1;
