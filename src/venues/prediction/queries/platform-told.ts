import type { Sql, Statement } from '../../../db/sql';
import { HOUR_MS } from '../../../lib/time';
import { BEGINNING, type Window } from '../../../lib/timeframe';
import { sizeBucket, sizeTenth } from '../rollups/told-hours';
import { IS_MACHINE, SMART_SCORE } from '../scoring/tiers';
import { NEWEST_FILL, latestSince } from './latest-wallets';
import { Parameters } from './parameters';
import { cutAt } from './pieces';
import type { PlatformTotals } from './platform-stats';
import { BEGUN } from './told-pieces';

/** Hours read from facts at most. */
const MOST_UNTOLD = 12;

// Hours that are not told are looked for on days that do not hold all of theirs.
const HOURS: Statement = {
  name: 'pm_platform_hours',
  text: `WITH told AS MATERIALIZED (
  SELECT day, count(*)::int AS told, array_agg(hour) AS hours, array_agg(hour) FILTER (WHERE run_day < 'infinity') AS any_hours FROM (
    SELECT hour, run_day, (hour AT TIME ZONE 'UTC')::date AS day FROM pm_told_hour WHERE hour >= $1 AND hour < $2 AND run_day IN ($3::date, 'infinity')
  ) AS hour GROUP BY day
), whole AS MATERIALIZED (
  SELECT day FROM told JOIN pm_told_day USING (day) WHERE told = 24
)
SELECT ${NEWEST_FILL} < $4 AS newest, (SELECT COALESCE(sum(told), 0)::int FROM told) AS told, ARRAY(SELECT to_char(day, 'YYYY-MM-DD') FROM whole) AS days,
  ARRAY(SELECT unnest(any_hours) FROM told WHERE day NOT IN (SELECT day FROM whole)) AS hours,
  ARRAY(
    SELECT hour FROM generate_series(date_trunc('day', ${BEGUN}, 'UTC'), $2::timestamptz - interval '1 millisecond', interval '1 day') AS series(begun)
    LEFT JOIN told ON told.day = (begun AT TIME ZONE 'UTC')::date CROSS JOIN generate_series(begun, begun + interval '23 hours', interval '1 hour') AS hour
    WHERE told.told IS DISTINCT FROM 24 AND hour >= ${BEGUN} AND hour < $2 AND hour <> ALL (COALESCE(told.hours, '{}'))
  ) AS untold`,
};

interface Hours {
  newest: boolean | null;
  told: number;
  /** Days that are told as a whole, and told hours of others. */
  days: string[];
  hours: Date[];
  untold: Date[];
}

/**
 * Totals of a window that ends now, from what is told of its hours; null where that does not do: facts of later are in the store, too few hours are told, or some were taken
 * out meanwhile. Volume and number of trades are not among them.
 */
export async function findToldTotals(
  sql: Sql,
  { from, to }: Window,
  score_day: string | null,
): Promise<Omit<PlatformTotals, 'total_volume_usdc' | 'total_trades'> | null> {
  if (score_day === null) return null;
  const { whole, edges } = cutAt([from, to]);
  const [hours] = await sql.query<Hours>(HOURS, [whole.from, whole.to, score_day, to]);
  if (hours === undefined || hours.newest !== true || hours.told === 0 || hours.untold.length > MOST_UNTOLD) return null;
  const ranges = [...edges, ...hours.untold.map((hour) => ({ from: hour, to: new Date(hour.getTime() + HOUR_MS) }))];
  const asked = { window: { from, to }, whole, score_day, hours, ranges };
  // The median takes as long as all else: two backends share the work.
  const told = await Promise.all([figuresStatement(asked), medianStatement(asked)].map((one) => query(sql, one)));
  return told.every((row) => row?.told === hours.told) ? (Object.assign({}, ...told) as PlatformTotals) : null;
}

interface Asked {
  window: Window;
  whole: Window;
  score_day: string;
  hours: Hours;
  /** What is read from facts. */
  ranges: readonly Window[];
}

type Told = Statement & { values: unknown[] };

async function query(sql: Sql, { values, ...statement }: Told): Promise<(Partial<PlatformTotals> & { told: number }) | undefined> {
  const [row] = await sql.query<Partial<PlatformTotals> & { told: number }>(statement, values);
  return row;
}

/** SQL of what was taken in the ranges, and of the hours that are told. */
function partsOf({ whole, score_day, hours: { untold }, ranges }: Asked, parameters: Parameters) {
  const [low, high, day] = [
    parameters.add(whole.from, 'timestamptz'),
    parameters.add(whole.to, 'timestamptz'),
    parameters.add(score_day, 'date'),
  ];
  const within = ranges.map((range) => `("timestamp" >= ${parameters.add(range.from, 'timestamptz')} AND "timestamp" < ${parameters.add(range.to, 'timestamptz')})`); // prettier-ignore
  return {
    day,
    told: (): string => `hour >= ${low} AND hour < ${high} AND hour <> ALL (${parameters.add(untold, 'timestamptz[]')})`,
    count: `(SELECT count(*)::int FROM pm_told_hour WHERE hour >= ${low} AND hour < ${high} AND run_day IN (${day}, 'infinity')) AS told`,
    // Each match once, by its taker.
    rest: (figures: string): string => `rest AS MATERIALIZED (
  SELECT ${figures} FROM pm_trade WHERE (${within.join(' OR ')}) AND is_taker AND side IN ('BUY', 'SELL')
)`,
  };
}

const nameOf = (what: string, { ranges, window: { from } }: Asked): string =>
  `pm_platform_${what}_${ranges.length}${from > BEGINNING ? '' : '_life'}`;

/** Totals but for the median. */
function figuresStatement(asked: Asked): Told {
  const { from, to } = asked.window;
  const parameters = new Parameters();
  const { day, told, count, rest } = partsOf(asked, parameters);
  const [since, until] = [parameters.add(from, 'timestamptz'), parameters.add(to, 'timestamptz')];
  // Whoever was ever active was new once. As truth values the few that are smart or machines are hashed, not joined.
  const text = `WITH ${rest('wallet, usdc_size')}, active AS MATERIALIZED (
  SELECT COALESCE(sum(wallets), 0)::int AS active_traders FROM (${latestSince(from, "ARRAY['']", parameters)}) AS latest
), smart AS MATERIALIZED (
  SELECT wallet FROM pm_wallet_score WHERE day = ${day} AND score >= ${SMART_SCORE}
), machine AS MATERIALIZED (
  SELECT wallet FROM pm_wallet_score WHERE day = ${day} AND ${IS_MACHINE}
), classes AS (
  SELECT sum(usdc_size) FILTER (WHERE (wallet IN (SELECT wallet FROM smart)) IS TRUE) AS smart_usdc, sum(usdc_size) FILTER (WHERE (wallet IN (SELECT wallet FROM machine)) IS TRUE) AS machine_usdc FROM rest
  UNION ALL SELECT sum(smart_usdc), sum(machine_usdc) FROM pm_told_hour WHERE ${told()}
)
SELECT ${count}, (SELECT active_traders FROM active) AS active_traders,
  (SELECT count(*)::int FROM pm_latest_fill WHERE wallet = ANY (ARRAY(SELECT wallet FROM smart)) AND category = '' AND at >= ${since}) AS active_smart_wallets,
  (SELECT count(*)::int FROM smart) AS smart_wallet_count,
  (SELECT COALESCE(sum(smart_usdc), 0) FROM classes) AS smart_volume_usdc, (SELECT COALESCE(sum(machine_usdc), 0) FROM classes) AS bot_volume_usdc,
  (SELECT count(*)::int FROM pm_market_total WHERE last_at >= ${since}) AS active_markets,
  (SELECT count(*)::int FROM pm_market WHERE resolved_at >= ${since} AND resolved_at < ${until}) AS resolved_markets,
  (SELECT count(*)::int FROM pm_market WHERE created_at >= ${since} AND created_at < ${until}) AS new_markets,
  ${from > BEGINNING ? `(SELECT count(*)::int FROM pm_wallet WHERE first_trade_at >= ${since} AND first_trade_at < ${until})` : '(SELECT active_traders FROM active)'} AS new_traders`;
  return { name: nameOf('told', asked), text, values: parameters.values };
}

/** The median size, exact: the mean of the two middle ones, found in the buckets that hold them, and there in the tenths that do. Whatever the planner expects, it is one of either or two: all others are not read. */
function medianStatement(asked: Asked): Told {
  const parameters = new Parameters();
  const { count, rest } = partsOf(asked, parameters);
  const days = `day = ANY (${parameters.add(asked.hours.days, 'date[]')})`;
  const hours = `hour = ANY (${parameters.add(asked.hours.hours, 'timestamptz[]')})`;
  const total = '(SELECT sum(fills)::bigint FROM counts)';
  // Where the middle ones are among all, each of what comes before them and what it holds itself.
  const holdsMiddle = `before + 1 <= ${total} / 2 + 1 AND before + fills >= (${total} + 1) / 2`;
  const text = `WITH ${rest(`usdc_size, ${sizeBucket('usdc_size')} AS bucket`)}, counts AS MATERIALIZED (
  SELECT bucket, sum(fills)::bigint AS fills FROM (SELECT unnest(buckets) AS bucket, unnest(fills) AS fills FROM pm_told_day WHERE ${days}
    UNION ALL SELECT bucket, fills FROM pm_told_size WHERE ${hours} UNION ALL SELECT bucket, 1 FROM rest) AS counted GROUP BY bucket
), middle AS MATERIALIZED (
  SELECT * FROM (SELECT bucket, fills, (sum(fills) OVER (ORDER BY bucket) - fills)::bigint AS before FROM counts) AS placed WHERE ${holdsMiddle}
), others AS MATERIALIZED (
  SELECT bucket, ${sizeTenth('size', 'bucket')} AS tenth, size FROM (
    SELECT bucket, unnest(sizes) AS size FROM pm_told_size WHERE ${hours} AND bucket IN (SELECT bucket FROM middle)
    UNION ALL SELECT bucket, usdc_size FROM rest WHERE bucket IN (SELECT bucket FROM middle)
  ) AS apart
), tenths AS (
  SELECT bucket, tenth, sum(fills)::bigint AS fills FROM (
    SELECT bucket, tenth, fills FROM pm_told_day_size WHERE bucket = ANY (ARRAY(SELECT bucket FROM middle)) AND ${days} UNION ALL SELECT bucket, tenth, 1 FROM others
  ) AS counted GROUP BY bucket, tenth
), middle_tenths AS MATERIALIZED (
  SELECT * FROM (SELECT bucket, tenth, fills, ((SELECT min(before) FROM middle) + sum(fills) OVER (ORDER BY bucket, tenth) - fills)::bigint AS before FROM tenths) AS placed WHERE ${holdsMiddle}
), sized AS (
  SELECT unnest(sizes) AS size FROM middle_tenths AS tenth CROSS JOIN LATERAL (
    SELECT sizes FROM pm_told_day_size AS kept WHERE kept.bucket = tenth.bucket AND kept.tenth = tenth.tenth AND ${days} OFFSET 0
  ) AS kept UNION ALL SELECT size FROM others JOIN middle_tenths USING (bucket, tenth)
), middle_ranks AS (
  SELECT (${total} + 1) / 2 - min(before) AS low, ${total} / 2 + 1 - min(before) AS high FROM middle_tenths
)
SELECT ${count},
  (SELECT avg(size) FROM (SELECT size FROM sized ORDER BY size OFFSET (SELECT low - 1 FROM middle_ranks) LIMIT (SELECT high - low + 1 FROM middle_ranks)) AS middle_sizes) AS median_trade_size_usdc`;
  return { name: nameOf('median', asked), text, values: parameters.values };
}
