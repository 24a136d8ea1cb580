import type { Pool, PoolClient } from 'pg';
import { analyzeIndexed } from '../../../db/indexes';
import { LONG_WORK, inTransaction } from '../../../db/transaction';
import { DAY_MS, isoDay } from '../../../lib/time';
import { lockRollups } from '../rollups/recount';
import { recountSmart } from '../rollups/smart';
import { copyInto } from '../store/copy';
import type { Columns } from '../store/insert';
import { positionPnl, positionsAsOf } from '../queries/positions';
import { type ClosedLpPosition, type LpScore, scoreProvider } from './formula';
import { type LpBehaviour, tagsOf } from './tags';

/** Days before the day of the run that are scored too where no run has: events look at the score of the day before them. */
export const EARLIER_DAYS = 30;
/** Providers held in memory at once, with what they ever closed. */
const CHUNK = 5_000;

interface ScoreRow extends LpScore {
  owner: string;
  tags: string[] | null;
}

const SCORE: Columns<ScoreRow & { day: string }> = [
  ['owner', 'text'],
  ['score', 'numeric'],
  ['n', 'integer'],
  ['wins', 'integer'],
  ['win_rate_lb', 'numeric'],
  ['deposited_usd', 'numeric'],
  ['avg_pnl_pct', 'numeric'],
  ['tags', 'text[]'],
  ['day', 'date'],
  ['version', 'text'],
];

interface Provider extends Omit<LpBehaviour, 'score'> {
  owner: string;
  /** Closed positions, with the instant of the last that happened to each: fees may be claimed after the close. */
  closed: (ClosedLpPosition & { over_at: number })[];
}

/**
 * Writes the scores of the UTC day of `now`, as of `now`, and of the days just before it that no run has scored, each as of its
 * end. Again on the same day: the same rows. `at_once` providers are held in memory.
 */
export const score = (
  pool: Pool,
  now: Date,
  progress: (wallets: number) => void,
  at_once = CHUNK,
): Promise<{ wallets: number; scored: number }> =>
  inTransaction(
    pool,
    (client) => scoreAll(client, now, progress, at_once),
    `SELECT pg_advisory_xact_lock(hashtext('lp scores')); ${LONG_WORK}`,
  );

async function scoreAll(
  client: PoolClient,
  now: Date,
  progress: (wallets: number) => void,
  at_once: number,
): Promise<{ wallets: number; scored: number }> {
  const today = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
  const earlier = await unscoredDays(client, today);
  await client.query('DELETE FROM lp_score WHERE day = ANY ($1::date[])', [[...earlier, today].map(isoDay)]);
  const counts = { wallets: 0, scored: 0 };
  for await (const providers of listProviders(client, now, at_once)) {
    for (const day of earlier) await writeRows(client, day, earlierRows(providers, day));
    const rows = providers.map((provider) => rowOf(provider, now)).filter((row) => row.n > 0 || (row.tags ?? []).length > 0);
    await writeRows(client, today, rows);
    counts.wallets += rows.length;
    counts.scored += rows.filter((row) => row.score !== null).length;
    progress(rows.length);
  }
  // A day of which nobody has counted the rows is planned for as for one.
  await analyzeIndexed(client, ['lp_score']);
  await lockRollups(client);
  await recountSmart(client, isoDay(earlier[0] ?? today));
  return counts;
}

function rowOf(provider: Provider, now: Date): ScoreRow {
  const judged = scoreProvider(provider.closed);
  return { owner: provider.owner, ...judged, tags: tagsOf({ ...provider, score: judged.score }, now) };
}

/** Scores as of the end of a day, by positions to which nothing happened later; who has none then is left out, and tags are of today only. */
function earlierRows(providers: readonly Provider[], day: Date): ScoreRow[] {
  const end = day.getTime() + DAY_MS;
  return providers.flatMap(({ owner, closed }) => {
    const judged = scoreProvider(closed.filter(({ over_at }) => over_at < end));
    return judged.score === null ? [] : [{ owner, ...judged, tags: null }];
  });
}

async function unscoredDays(client: PoolClient, today: Date): Promise<Date[]> {
  const { rows } = await client.query<{ day: string }>(
    `SELECT DISTINCT to_char(day, 'YYYY-MM-DD') AS day FROM lp_score WHERE day < $1::date AND day >= $1::date - ${EARLIER_DAYS}`,
    [isoDay(today)],
  );
  const scored = new Set(rows.map((row) => row.day));
  const days = Array.from({ length: EARLIER_DAYS }, (_, i) => new Date(today.getTime() - (EARLIER_DAYS - i) * DAY_MS));
  return days.filter((day) => !scored.has(isoDay(day)));
}

const writeRows = (client: PoolClient, day: Date, rows: readonly ScoreRow[]): Promise<unknown> =>
  copyInto(
    client,
    'lp_score',
    SCORE,
    rows.map((row) => ({ ...row, day: isoDay(day) })),
  );

/** All providers with their closed positions, by owner, `at_once` at a time: both are read side by side, in one order. */
async function* listProviders(client: PoolClient, now: Date, at_once: number): AsyncGenerator<Provider[]> {
  // Both are read to their end: a plan for the first rows would look them up one by one.
  await client.query('SET LOCAL cursor_tuple_fraction = 1');
  await client.query(`DECLARE lp_behaviours NO SCROLL CURSOR FOR ${BEHAVIOUR}`, [now]);
  await client.query(`DECLARE lp_closed NO SCROLL CURSOR FOR ${CLOSED}`, [now]);
  let ahead: ClosedRow[] = [];
  for (;;) {
    const { rows } = await client.query<BehaviourRow>(`FETCH ${at_once} FROM lp_behaviours`);
    const last = rows.at(-1)?.owner;
    if (last === undefined) break;
    const providers = new Map(
      rows.map((row) => [
        row.owner,
        { ...row, largest_position_usd: numberOf(row.largest_position_usd), closed: [] as Provider['closed'] },
      ]),
    );
    do {
      const behind = ahead.findIndex(({ owner }) => owner > last);
      const reached = behind === -1 ? ahead : ahead.slice(0, behind);
      for (const row of reached) providers.get(row.owner)?.closed.push(closedOf(row));
      if (behind !== -1) {
        ahead = ahead.slice(behind);
        break;
      }
      ahead = (await client.query<ClosedRow>(`FETCH ${at_once} FROM lp_closed`)).rows;
    } while (ahead.length > 0);
    yield [...providers.values()];
  }
  await client.query('CLOSE lp_behaviours; CLOSE lp_closed');
}

const numberOf = (decimal: string | null): number | null => (decimal === null ? null : Number(decimal));

interface ClosedRow {
  owner: string;
  changed_at: Date;
  deposited_usd: string;
  pnl_usd: string | null;
}

const closedOf = ({ changed_at, deposited_usd, pnl_usd }: ClosedRow): Provider['closed'][number] => ({
  over_at: changed_at.getTime(),
  deposited_usd: pnl_usd === null ? null : Number(deposited_usd),
  pnl_usd: numberOf(pnl_usd),
});

const ALL_POSITIONS = positionsAsOf('true', '$1::timestamptz');

const CLOSED = `
SELECT s.owner, s.changed_at, s.deposited_usd, ${positionPnl('s')} AS pnl_usd FROM (${ALL_POSITIONS}) s
WHERE s.owner IS NOT NULL AND s.closed_at IS NOT NULL ORDER BY s.owner COLLATE "C", s.changed_at, s.pool_address, s.position_address`;

interface BehaviourRow extends Omit<LpBehaviour, 'score' | 'largest_position_usd'> {
  owner: string;
  largest_position_usd: string | null;
}

/** Deposits of one token only have the other at exactly zero. */
const BEHAVIOUR = `
SELECT o.owner, o.first_event_at, o.deposits_with_amounts, o.single_sided_deposits, o.deposits_with_pool_age, o.young_pool_deposits, l.largest_position_usd
FROM (
  SELECT e.owner, min(e."timestamp") AS first_event_at,
    count(*) FILTER (WHERE e.kind = 'deposit' AND e.amount_x IS NOT NULL AND e.amount_y IS NOT NULL)::int AS deposits_with_amounts,
    count(*) FILTER (WHERE e.kind = 'deposit' AND (e.amount_x = 0) <> (e.amount_y = 0))::int AS single_sided_deposits,
    count(*) FILTER (WHERE e.kind = 'deposit' AND p.created_at IS NOT NULL)::int AS deposits_with_pool_age,
    count(*) FILTER (WHERE e.kind = 'deposit' AND e."timestamp" < p.created_at + interval '1 hour')::int AS young_pool_deposits
  FROM lp_event e LEFT JOIN lp_pool p ON p.pool_address = e.pool_address
  WHERE e."timestamp" < $1 AND e.owner IS NOT NULL GROUP BY e.owner
) o LEFT JOIN (
  SELECT s.owner, max(s.deposited_usd) AS largest_position_usd FROM (${ALL_POSITIONS}) s GROUP BY s.owner
) l ON l.owner = o.owner
ORDER BY o.owner COLLATE "C"`;
