-- The last of all fills of a market and of its days: which markets were traded since an instant is told by one row each.
ALTER TABLE "pm_market_day" ADD COLUMN "last_at" TIMESTAMPTZ(3);
UPDATE "pm_market_day" AS kept SET "last_at" = found.last_at FROM (
  SELECT condition_id, (hour AT TIME ZONE 'UTC')::date AS day, max(close_at) AS last_at FROM "pm_token_hour" GROUP BY 1, 2
) AS found WHERE kept.condition_id = found.condition_id AND kept.day = found.day;
ALTER TABLE "pm_market_day" ALTER COLUMN "last_at" SET NOT NULL;
ALTER TABLE "pm_market_total" ADD COLUMN "last_at" TIMESTAMPTZ(3);
UPDATE "pm_market_total" AS kept SET "last_at" = found.last_at FROM (
  SELECT condition_id, max(last_at) AS last_at FROM "pm_market_day" GROUP BY 1
) AS found WHERE kept.condition_id = found.condition_id;
ALTER TABLE "pm_market_total" ALTER COLUMN "last_at" SET NOT NULL;
