/** The day of the newest score run by the day of $2, in SQL. */
export const NEWEST_RUN = `(SELECT max(day) FROM lp_score WHERE day <= ($2::timestamptz AT TIME ZONE 'UTC')::date)`;
