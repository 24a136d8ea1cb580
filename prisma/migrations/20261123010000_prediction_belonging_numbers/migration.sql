-- The markets a wallet belongs to are told by numbers, an eighth of the length of their ids.
ALTER TABLE "pm_told_wallet" ADD COLUMN "numbers" BIGINT[];
UPDATE "pm_told_wallet" SET "numbers" = ARRAY(SELECT hashtextextended(condition_id, 0) AS number FROM unnest("belongs") AS market(condition_id) ORDER BY number);
ALTER TABLE "pm_told_wallet" DROP COLUMN "belongs";
ALTER TABLE "pm_told_wallet" RENAME COLUMN "numbers" TO "belongs";
ALTER TABLE "pm_told_wallet" ALTER COLUMN "belongs" SET NOT NULL;
