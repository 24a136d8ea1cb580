import type { PoolClient } from 'pg';

/** Windows, in days, for which accounts' gains are bounded. */
const STANDING_DAYS = [7, 30] as const;
export type StandingDays = (typeof STANDING_DAYS)[number];

/** Column of perp_trader: no window of so many days that ends on the day of perp_standing holds more closed PnL of the account. */
export const mostPnl = (days: StandingDays): string => `most_pnl_${days}d`;
export const MOST_PNL = STANDING_DAYS.map(mostPnl);

const DAY = '(SELECT day FROM perp_standing)';

/** What the fills `f` of an account add to its bounds, in the order of STANDING_DAYS; null while none are told. */
export const ADDED_GAINS = STANDING_DAYS.map(
  (days) =>
    `CASE WHEN ${DAY} IS NOT NULL THEN coalesce(sum(greatest(f.closed_pnl, 0)) FILTER (WHERE f.timestamp >= ${DAY} - interval '${days} days'), 0) END`,
);

// Of the day a window begins on it holds some end, of its last day some beginning, of the days between all.
const boundOf = (days: StandingDays): string => `
    sum(CASE d.day WHEN $1::timestamptz THEN d.peak WHEN $1::timestamptz - interval '${days} days' THEN d.total - d.trough ELSE d.total END)
      FILTER (WHERE d.day >= $1::timestamptz - interval '${days} days') AS ${mostPnl(days)}`;

const LONGEST = Math.max(...STANDING_DAYS);

// $1: the day.
const TELL = {
  name: 'perps_tell_standings',
  text: `
WITH kept AS (INSERT INTO perp_standing (day) VALUES ($1)),
bound AS (
  SELECT d.trader,${STANDING_DAYS.map(boundOf).join(',')}
  FROM perp_trader_drawdown d WHERE d.day >= $1::timestamptz - interval '${LONGEST} days' AND d.day <= $1 GROUP BY d.trader
)
UPDATE perp_trader t SET ${MOST_PNL.map((column) => `${column} = coalesce(own.${column}, 0)`).join(', ')}
FROM (SELECT p.trader, ${MOST_PNL.map((column) => `bound.${column}`).join(', ')} FROM perp_trader p LEFT JOIN bound ON bound.trader = p.trader) own
WHERE own.trader = t.trader`,
};

/** Takes the bounds out of use. Resolves to the UTC day they were told for; null: for none. */
export async function forgetStandings(client: PoolClient): Promise<Date | null> {
  const { rows } = await client.query<{ day: Date }>('DELETE FROM perp_standing RETURNING day');
  return rows[0]?.day ?? null;
}

/** Tells the bounds anew for windows that end on the UTC day of `now`. The client's transaction must hold the lock of the rollups. */
export async function tellStandings(client: PoolClient, now: Date): Promise<void> {
  await forgetStandings(client);
  await client.query({ ...TELL, values: [new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()))] });
}
