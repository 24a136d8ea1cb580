-- What was left of a UTC day from each whole hour on, of days that windows begin on: the torn beginning of a window is a row an account and coin.
CREATE TABLE "perp_smart_trader_rest" (
    "hour" TIMESTAMPTZ(0) NOT NULL,
    "coin" TEXT NOT NULL,
    "trader" TEXT NOT NULL,
    "score" DECIMAL(4,1) NOT NULL,
    "open_long_usd" DECIMAL NOT NULL,
    "open_short_usd" DECIMAL NOT NULL,
    "close_long_usd" DECIMAL NOT NULL,
    "close_short_usd" DECIMAL NOT NULL,
    "bought_size" DECIMAL NOT NULL,
    "sold_size" DECIMAL NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "perp_smart_trader_rest_pkey" PRIMARY KEY ("hour","coin","trader")
);

INSERT INTO perp_smart_trader_rest (hour, coin, trader, score, open_long_usd, open_short_usd, close_long_usd, close_short_usd, bought_size, sold_size, last_at)
SELECT torn.day + rest.first * interval '1 hour', r.coin, r.trader, s.score, sum(r.open_long_usd), sum(r.open_short_usd), sum(r.close_long_usd),
  sum(r.close_short_usd), sum(r.bought_size), sum(r.sold_size), max(r.last_at)
FROM (SELECT (run.day - back.days)::timestamp AT TIME ZONE 'UTC' AS day, run.day AS scored FROM perp_smart_run run CROSS JOIN unnest(ARRAY[1, 7, 30, 90, 365]) AS back(days)) torn
JOIN perp_trader_hour r ON r.hour >= torn.day AND r.hour < torn.day + interval '1 day'
JOIN perp_score s ON s.trader = r.trader AND s.day = torn.scored AND s.score >= 85
CROSS JOIN generate_series(1, extract(hour FROM r.hour AT TIME ZONE 'UTC')::int) AS rest(first)
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3;

ANALYZE perp_smart_trader_rest;
