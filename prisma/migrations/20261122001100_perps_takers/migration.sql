-- How many accounts took in a bucket of a coin, counted once: charts of a whole life no longer read every account's hours.
-- A bit for each UTC hour tells which buckets of a day an account is in already.
ALTER TABLE "perp_trader_day" ADD COLUMN "buy_hours" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "sell_hours" INTEGER NOT NULL DEFAULT 0;

UPDATE "perp_trader_day" d SET "buy_hours" = t.buys, "sell_hours" = t.sells
FROM (
  SELECT "trader", "coin", date_trunc('day', "hour", 'UTC') AS day,
    bit_or(CASE WHEN "taker_buy_usd" > 0 THEN 1 << extract(hour FROM "hour" AT TIME ZONE 'UTC')::int ELSE 0 END) AS buys,
    bit_or(CASE WHEN "taker_sell_usd" > 0 THEN 1 << extract(hour FROM "hour" AT TIME ZONE 'UTC')::int ELSE 0 END) AS sells
  FROM "perp_trader_hour" GROUP BY 1, 2, 3
) t WHERE d."trader" = t."trader" AND d."coin" = t."coin" AND d."day" = t.day;

CREATE TABLE "perp_coin_takers" (
  "coin" TEXT NOT NULL,
  "hours" INTEGER NOT NULL,
  "bucket" TIMESTAMPTZ(0) NOT NULL,
  "buyers" INTEGER NOT NULL,
  "sellers" INTEGER NOT NULL,
  CONSTRAINT "perp_coin_takers_pkey" PRIMARY KEY ("coin", "hours", "bucket")
);

INSERT INTO "perp_coin_takers" ("coin", "hours", "bucket", "buyers", "sellers")
SELECT d."coin", b.hours, d."day" + b.first * interval '1 hour', count(*) FILTER (WHERE d."buy_hours" & b.bits <> 0), count(*) FILTER (WHERE d."sell_hours" & b.bits <> 0)
FROM "perp_trader_day" d CROSS JOIN (VALUES
  (1, 0, 1), (1, 1, 2), (1, 2, 4), (1, 3, 8), (1, 4, 16), (1, 5, 32), (1, 6, 64), (1, 7, 128),
  (1, 8, 256), (1, 9, 512), (1, 10, 1024), (1, 11, 2048), (1, 12, 4096), (1, 13, 8192), (1, 14, 16384), (1, 15, 32768),
  (1, 16, 65536), (1, 17, 131072), (1, 18, 262144), (1, 19, 524288), (1, 20, 1048576), (1, 21, 2097152), (1, 22, 4194304), (1, 23, 8388608),
  (4, 0, 15), (4, 4, 240), (4, 8, 3840), (4, 12, 61440), (4, 16, 983040), (4, 20, 15728640), (12, 0, 4095), (12, 12, 16773120),
  (24, 0, 16777215)
) AS b(hours, first, bits) WHERE (d."buy_hours" | d."sell_hours") & b.bits <> 0 GROUP BY 1, 2, 3;
