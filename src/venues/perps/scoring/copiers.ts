import type { PoolClient } from 'pg';
import { copyScoreOf } from '../../../lib/copy-score';
import { clip, roundTo } from '../../../lib/statistics';
import { heldAt } from '../queries/held';
import { SMART_SCORE } from '../tier';
import { PERP_TAGS } from './tags';

/** Copying: how far back it looks, how late a copy may be, and how few copies say nothing. */
const WITHIN = "interval '30 days'";
const MAX_LAG = "interval '60 minutes'";
export const FEWEST_MATCHES = 5;
/** Whose copiers are looked for: the best of the smart accounts. */
export const MOST_LEADERS = 300;
/** Without the noise of binary fractions, which would put what stands at a bound on either side of it. */
const SCORE_DIGITS = 12;

/** How one account's entries follow a leader's. */
export interface Following {
  /** Entries of the follower just after one of the leader's in the same coin and direction; entries of the leader they cover. */
  matches: number;
  covered: number;
  /** The same the other way round: the leader after the follower. */
  reverse_matches: number;
  follower_entries: number;
  leader_entries: number;
  /** Share of everybody's entries that follow the leader's like that. */
  chance: number;
  mean_lag_seconds: number;
  /** Null with one match. */
  lag_deviation: number | null;
}

/** Copy score 0..1; null with too few matches, or where the leader follows as much. */
export function copyScore(own: Following): number | null {
  if (own.matches < FEWEST_MATCHES || own.reverse_matches >= own.matches / 2) return null;
  const precision = own.matches / own.follower_entries;
  const coverage = own.covered / own.leader_entries;
  const lift = own.chance > 0 ? precision / own.chance : 0;
  const regularity = clip(1 - (own.lag_deviation ?? 0) / own.mean_lag_seconds);
  return roundTo(copyScoreOf({ precision, coverage, lift, regularity }), SCORE_DIGITS);
}

/** Entries once for each hour a copy of them can fall in: the join is by equal hours. */
const reachOf = (table: string): string =>
  `SELECT ${table}.*, ${table}.hour + next.hour AS reach FROM ${table} CROSS JOIN (VALUES (interval '0'), (interval '1 hour')) AS next(hour)`;

const FOLLOWS = (first: string, second: string): string => `
  SELECT ${first}.account AS ahead, ${second}.account AS behind, ${second}.market, ${second}.at, max(${first}.at) AS ahead_at
  FROM ${first}_reach AS ${first} JOIN ${second} ON ${second}.market = ${first}.market AND ${second}.hour = ${first}.reach
  WHERE ${second}.account <> ${first}.account AND ${second}.at > ${first}.at AND ${second}.at <= ${first}.at + ${MAX_LAG} GROUP BY 1, 2, 3, 4`;

// $1: the run; $2: its day; $3: score of a leader; $4: fewest matches. Entries are the starts of round trips; the lag spans two hours at most.
// Accounts and markets (a coin and a direction) are numbered: there are many entries near each other, and texts are dear to sort and group.
const FOLLOWINGS = {
  name: 'perps_followings',
  text: `
WITH ${heldAt('$1::timestamptz', 'true')},
entry AS MATERIALIZED (
  SELECT trader, dense_rank() OVER (ORDER BY trader)::int AS account, dense_rank() OVER (ORDER BY coin, is_long)::int AS market, at,
    date_trunc('hour', at, 'UTC') AS hour
  FROM (
    SELECT trader, coin, is_long, opened_at AS at FROM perp_round_trip WHERE closed_at >= $1::timestamptz - ${WITHIN} AND closed_at < $1
    UNION ALL SELECT trader, coin, is_long, opened_at FROM held
  ) e WHERE at >= $1::timestamptz - ${WITHIN}
),
leader AS MATERIALIZED (
  SELECT entry.account, entry.market, entry.at, entry.hour
  FROM entry JOIN (SELECT trader FROM perp_score WHERE day = $2::date AND score >= $3 ORDER BY score DESC, trader LIMIT ${MOST_LEADERS}) s
    ON s.trader = entry.trader
),
leader_reach AS MATERIALIZED (${reachOf('leader')}),
entry_reach AS MATERIALIZED (SELECT e.account, e.market, e.at, e.reach FROM (${reachOf('entry')}) e),
copied AS MATERIALIZED (${FOLLOWS('leader', 'entry')}),
reversed AS (SELECT behind AS leader, ahead AS follower, count(*) AS matches FROM (${FOLLOWS('entry', 'leader')}) r GROUP BY 1, 2),
entries AS (SELECT trader, account, count(*) AS n FROM entry GROUP BY 1, 2),
chance AS (SELECT ahead AS leader, count(*)::float8 / (SELECT count(*) FROM entry) AS share FROM copied GROUP BY 1),
covered AS (SELECT ahead, behind, count(*) AS n FROM (SELECT DISTINCT ahead, behind, market, ahead_at FROM copied) own GROUP BY 1, 2),
pair AS (
  SELECT ahead AS leader, behind AS follower, count(*) AS matches, avg(lag) AS lag, stddev_samp(lag) AS deviation
  FROM (SELECT ahead, behind, extract(epoch FROM at - ahead_at)::float8 AS lag FROM copied) own GROUP BY 1, 2 HAVING count(*) >= $4
)
SELECT f.trader AS follower, pair.matches::int AS matches, covered.n::int AS covered, coalesce(reversed.matches, 0)::int AS reverse_matches,
  f.n::int AS follower_entries, l.n::int AS leader_entries, chance.share AS chance, pair.lag AS mean_lag_seconds, pair.deviation AS lag_deviation
FROM pair JOIN entries f ON f.account = pair.follower JOIN entries l ON l.account = pair.leader JOIN chance ON chance.leader = pair.leader
JOIN covered ON covered.ahead = pair.leader AND covered.behind = pair.follower
LEFT JOIN reversed ON reversed.leader = pair.leader AND reversed.follower = pair.follower`,
};

/** Tags those of a day's scored accounts that copy one of its smart ones. */
export async function tagCopiers(client: PoolClient, now: Date, day: string): Promise<void> {
  const { rows } = await client.query<Following & { follower: string }>({ ...FOLLOWINGS, values: [now, day, SMART_SCORE, FEWEST_MATCHES] });
  const copiers = rows.filter((own) => (copyScore(own) ?? 0) >= PERP_TAGS.copy_score).map(({ follower }) => follower);
  await client.query("UPDATE perp_score SET tags = array_append(tags, 'copy_trader') WHERE day = $1 AND trader = ANY ($2::text[])", [
    day,
    copiers,
  ]);
}
