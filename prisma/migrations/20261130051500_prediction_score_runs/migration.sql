-- Days of score runs, a row each: looked for among the scores of a year, one step of their index a run, they took every answer some milliseconds.
CREATE TABLE "pm_score_run" (
  "day" DATE NOT NULL,
  CONSTRAINT "pm_score_run_pkey" PRIMARY KEY ("day")
);
INSERT INTO "pm_score_run" SELECT day FROM pm_run_days('9999-12-31') AS run(day);

-- All of them up to a day, in no order; newer scores than these are looked through: those of the run that is being written. pm_run_days stays for older processes.
CREATE FUNCTION pm_score_runs(newest date) RETURNS SETOF date LANGUAGE plpgsql STABLE ROWS 100 AS $$
DECLARE
  known date;
  run date;
BEGIN
  RETURN QUERY SELECT day FROM pm_score_run WHERE day <= newest;
  SELECT COALESCE(max(day), '-infinity') INTO known FROM pm_score_run WHERE day <= newest;
  SELECT max(day) INTO run FROM pm_wallet_score WHERE day > known AND day <= newest;
  WHILE run IS NOT NULL LOOP
    RETURN NEXT run;
    SELECT max(day) INTO run FROM pm_wallet_score WHERE day > known AND day < run;
  END LOOP;
END $$;
