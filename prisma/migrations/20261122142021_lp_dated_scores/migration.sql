-- Day and score as one whole number: the greatest of many ends in the score of their newest day.
ALTER TABLE "lp_smart_day" ADD COLUMN "dated_score" INTEGER;
UPDATE "lp_smart_day" SET "dated_score" = (("day" AT TIME ZONE 'UTC')::date - DATE '2000-01-01') * 10000 + ("score" * 10)::int;
ALTER TABLE "lp_smart_day" ALTER COLUMN "dated_score" SET NOT NULL;
