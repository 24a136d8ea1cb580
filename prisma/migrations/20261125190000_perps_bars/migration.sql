-- Coins, and what smart accounts did in them, by bars of five minutes: an end of a window that lies within an hour is told by a few of these and
-- the facts of one of them, not by the facts of half an hour.
CREATE TABLE "perp_coin_bar" (
    "coin" TEXT NOT NULL,
    "bar" TIMESTAMPTZ(0) NOT NULL,
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

    CONSTRAINT "perp_coin_bar_pkey" PRIMARY KEY ("coin","bar")
);

CREATE INDEX "perp_coin_bar_bar_idx" ON "perp_coin_bar"("bar");

CREATE TABLE "perp_smart_bar" (
    "coin" TEXT NOT NULL,
    "bar" TIMESTAMPTZ(0) NOT NULL,
    "fills" INTEGER NOT NULL,
    "open_long_usd" DECIMAL NOT NULL,
    "open_short_usd" DECIMAL NOT NULL,
    "close_long_usd" DECIMAL NOT NULL,
    "close_short_usd" DECIMAL NOT NULL,
    "long_pnl" DECIMAL NOT NULL,
    "short_pnl" DECIMAL NOT NULL,

    CONSTRAINT "perp_smart_bar_pkey" PRIMARY KEY ("coin","bar")
);

CREATE INDEX "perp_smart_bar_bar_idx" ON "perp_smart_bar"("bar");

-- In the order of time: what a window's end reads stands together.
INSERT INTO perp_coin_bar (bar, coin, volume_usd, matches, bought_usd, sold_usd, undirected, liquidated_usd)
SELECT date_bin('5 minutes', timestamp, '1970-01-01T00:00:00Z'), coin, sum(usd_value), count(*), coalesce(sum(usd_value) FILTER (WHERE taker_is_buy), 0),
  coalesce(sum(usd_value) FILTER (WHERE NOT taker_is_buy), 0), count(*) FILTER (WHERE taker_is_buy IS NULL), coalesce(sum(usd_value) FILTER (WHERE is_liquidation), 0)
FROM perp_match GROUP BY 1, 2 ORDER BY 1, 2;

INSERT INTO perp_coin_bar AS kept (bar, coin, open_long_usd, open_long_size, open_short_usd, open_short_size)
SELECT date_bin('5 minutes', timestamp, '1970-01-01T00:00:00Z'), coin, coalesce(sum(price * open_size) FILTER (WHERE is_buy), 0),
  coalesce(sum(open_size) FILTER (WHERE is_buy), 0), coalesce(sum(price * open_size) FILTER (WHERE NOT is_buy), 0), coalesce(sum(open_size) FILTER (WHERE NOT is_buy), 0)
FROM perp_fill WHERE is_taker AND open_size > 0 GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (coin, bar) DO UPDATE SET open_long_usd = EXCLUDED.open_long_usd, open_long_size = EXCLUDED.open_long_size,
  open_short_usd = EXCLUDED.open_short_usd, open_short_size = EXCLUDED.open_short_size;

INSERT INTO perp_smart_bar (bar, coin, fills, open_long_usd, open_short_usd, close_long_usd, close_short_usd, long_pnl, short_pnl)
SELECT date_bin('5 minutes', timestamp, '1970-01-01T00:00:00Z'), coin, count(*), coalesce(sum(price * open_size) FILTER (WHERE is_buy), 0),
  coalesce(sum(price * open_size) FILTER (WHERE NOT is_buy), 0), coalesce(sum(price * (size - open_size)) FILTER (WHERE NOT is_buy), 0),
  coalesce(sum(price * (size - open_size)) FILTER (WHERE is_buy), 0), coalesce(sum(closed_pnl) FILTER (WHERE (open_size < size) <> is_buy), 0),
  coalesce(sum(closed_pnl) FILTER (WHERE (open_size < size) = is_buy), 0)
FROM perp_fill WHERE trader IN (SELECT trader FROM perp_score WHERE day = (SELECT day FROM perp_smart_run) AND score >= 85)
GROUP BY 1, 2 ORDER BY 1, 2;

-- What smart accounts gained, by coin: their summary need not add up account by account.
ALTER TABLE "perp_smart_hour" ADD COLUMN "long_pnl" DECIMAL NOT NULL DEFAULT 0, ADD COLUMN "short_pnl" DECIMAL NOT NULL DEFAULT 0;
ALTER TABLE "perp_smart_day" ADD COLUMN "long_pnl" DECIMAL NOT NULL DEFAULT 0, ADD COLUMN "short_pnl" DECIMAL NOT NULL DEFAULT 0;

UPDATE perp_smart_hour k SET long_pnl = own.long_pnl, short_pnl = own.short_pnl
FROM (SELECT coin, date_trunc('hour', bar, 'UTC') AS hour, sum(long_pnl) AS long_pnl, sum(short_pnl) AS short_pnl FROM perp_smart_bar GROUP BY 1, 2) own
WHERE k.coin = own.coin AND k.hour = own.hour;

UPDATE perp_smart_day k SET long_pnl = own.long_pnl, short_pnl = own.short_pnl
FROM (SELECT coin, date_trunc('day', bar, 'UTC') AS day, sum(long_pnl) AS long_pnl, sum(short_pnl) AS short_pnl FROM perp_smart_bar GROUP BY 1, 2) own
WHERE k.coin = own.coin AND k.day = own.day;

ANALYZE perp_coin_bar, perp_smart_bar;
