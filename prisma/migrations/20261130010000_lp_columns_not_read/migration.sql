-- What nothing reads.
ALTER TABLE "lp_pool_day" DROP COLUMN "seen_usd";
ALTER TABLE "lp_pool_quarter" DROP COLUMN "seen_usd";
ALTER TABLE "lp_pool_month" DROP COLUMN "seen_usd", DROP COLUMN "first_at";
ALTER TABLE "lp_pool_life" DROP COLUMN "seen_usd", DROP COLUMN "first_at";
