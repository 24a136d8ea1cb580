-- How far a coin's price strays from hour to hour, told when the hour is: questions about moves read it instead of a week of hours.
ALTER TABLE "perp_coin_hour" ADD COLUMN "deviation" DECIMAL;

UPDATE "perp_coin_hour" k SET "deviation" = t.deviation
FROM (
  SELECT "coin", "hour", stddev_samp(change) OVER (PARTITION BY "coin" ORDER BY "hour" RANGE BETWEEN interval '7 days' PRECEDING AND interval '1 hour' PRECEDING) AS deviation
  FROM (
    SELECT "coin", "hour", "close_price" / lag("close_price") OVER (PARTITION BY "coin" ORDER BY "hour") - 1 AS change
    FROM "perp_coin_hour" WHERE "close_price" IS NOT NULL
  ) h
) t WHERE t."coin" = k."coin" AND t."hour" = k."hour" AND t.deviation IS NOT NULL;
