-- Of the markets a wallet ever belonged to most have ended: those that have not stand in a list of their own, and how many all are beside it.
ALTER TABLE "pm_told_wallet" ADD COLUMN "belongs_n" INTEGER, ADD COLUMN "belongs_open" BIGINT[];
UPDATE "pm_told_wallet" SET "belongs_n" = cardinality("belongs"), "belongs_open" = ARRAY(
  SELECT number FROM unnest("belongs") AS number WHERE number IN (SELECT hashtextextended("condition_id", 0) FROM "pm_market" WHERE "resolved_at" IS NULL) ORDER BY number);
ALTER TABLE "pm_told_wallet" ALTER COLUMN "belongs_n" SET NOT NULL, ALTER COLUMN "belongs_open" SET NOT NULL;
