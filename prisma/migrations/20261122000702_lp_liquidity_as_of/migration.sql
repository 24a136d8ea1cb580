-- The newest catalogue record of an hour counts, whenever it is loaded; rows from before this column are as old as their hour.
ALTER TABLE "lp_liquidity_hour" ADD COLUMN "as_of" TIMESTAMPTZ(3);
UPDATE "lp_liquidity_hour" SET "as_of" = "hour";
ALTER TABLE "lp_liquidity_hour" ALTER COLUMN "as_of" SET NOT NULL;
