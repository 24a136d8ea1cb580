-- How many different wallets took in a told hour, and on a told day: they are not the sum of shorter stretches. Counted when the hour is told next.
ALTER TABLE "pm_told_hour" ADD COLUMN "takers" JSONB;
ALTER TABLE "pm_told_day" ADD COLUMN "takers" JSONB;
