-- Days of all score runs up to a day, newest first: one step of the index a run, however many wallets each has. In SQL, so that it becomes part of the
-- statement that asks; prisma/citus/distribution.sql says it anew for scores that are spread.
CREATE FUNCTION pm_run_days(newest date) RETURNS SETOF date LANGUAGE sql STABLE AS $$
  WITH RECURSIVE run AS (
    (SELECT day FROM pm_wallet_score WHERE day <= newest ORDER BY day DESC LIMIT 1)
    UNION ALL SELECT (SELECT score.day FROM pm_wallet_score AS score WHERE score.day < run.day ORDER BY score.day DESC LIMIT 1) FROM run WHERE run.day IS NOT NULL
  ) SELECT day FROM run WHERE day IS NOT NULL
$$;
