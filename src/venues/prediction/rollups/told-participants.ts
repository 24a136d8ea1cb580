import type { Pool, PoolClient } from 'pg';
import { sqlOf } from '../../../db/sql';
import { LONG_WORK, inTransaction } from '../../../db/transaction';
import { HOUR_MS } from '../../../lib/time';
import { END } from '../../../lib/timeframe';
import { reckonParticipants } from '../queries/market-participants';
import { listRunDays } from '../queries/score-runs';
import { arrayOf } from './array-text';
import { lockRollups } from './positions';

/** Markets told in one transaction: writers wait for it. */
const AT_ONCE = 20;

/** Markets of fewer fills are added up as quickly as they are read. */
const TOLD_FILLS = 1_000;

// Told again where a tenth came on top: what is told of a market over all its life costs no more than a few times to add it up once.
const DUE = `SELECT total.condition_id, total.fills FROM pm_market_total AS total LEFT JOIN pm_told_participants AS told ON told.condition_id = total.condition_id
WHERE total.fills >= $1 AND (told.condition_id IS NULL OR told.day <> $2::date OR total.fills > 1.1 * told.fills) ORDER BY total.condition_id LIMIT ${AT_ONCE}`;

const TELL = `INSERT INTO pm_told_participants (condition_id, until, day, fills, rows) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (condition_id) DO UPDATE SET until = EXCLUDED.until, day = EXCLUDED.day, fills = EXCLUDED.fills, rows = EXCLUDED.rows`;

/** One at a time tells markets, or writes the run that judges them: told meanwhile they would go by the scores it had before. */
const ALONE = "SELECT pg_advisory_xact_lock(hashtext('pm_told_participants'))";

/** Tells who traded markets of many fills before the hour of `now`, by the newest run; nothing as of before that run. */
export async function tellParticipants(pool: Pool, now: Date, fills: number = TOLD_FILLS): Promise<void> {
  const until = new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS);
  const tell = async (client: PoolClient): Promise<boolean> => {
    // In this order: a run of the scores waits to be alone with rows in its hands that a writer may wait for.
    await lockRollups(client);
    await client.query(ALONE);
    const sql = sqlOf(client);
    const run = (await listRunDays(sql, now)).at(-1);
    const newest = (await listRunDays(sql, END)).at(-1);
    if (run === undefined || run !== newest) return false;
    const { rows: due } = await client.query<{ condition_id: string; fills: number }>(DUE, [fills, run]);
    for (const market of due) {
      const rows = await reckonParticipants(sql, market.condition_id, until, run);
      await client.query(TELL, [market.condition_id, until, run, market.fills, JSON.stringify(rows)]);
    }
    return due.length === AT_ONCE;
  };
  while (await inTransaction(pool, tell, LONG_WORK));
}

/** A fill that came, went or is another now. */
export interface Moved {
  condition_id: string;
  wallet: string;
  timestamp: Date;
}

const NEWEST = 'SELECT max(until) AS until FROM pm_told_participants';

// Where such a fill is the first of a wallet, the wallet is no longer new, or is new, on the other markets that it ever traded.
const FORGET = `DELETE FROM pm_told_participants AS told WHERE EXISTS (
  SELECT 1 FROM unnest($1::text[], $2::float8[]) AS late(condition_id, seconds) WHERE late.condition_id = told.condition_id AND to_timestamp(seconds) < told.until
) OR told.condition_id IN (
  SELECT position.condition_id FROM unnest($3::text[], $4::float8[]) AS late(wallet, seconds) JOIN pm_wallet AS known ON known.wallet = late.wallet AND known.first_trade_at >= to_timestamp(seconds)
  JOIN pm_position AS position ON position.wallet = late.wallet
)`;

/** Takes out the markets of which these fills change what is told, inside the transaction that changes them: those of before it was. First trades of wallets are known, or still known, then. */
export async function forgetParticipants(client: PoolClient, moved: readonly Moved[]): Promise<void> {
  const { rows } = await client.query<{ until: Date | null }>({ name: 'pm_newest_participants', text: NEWEST });
  const until = rows[0]?.until ?? null;
  const late = until === null ? [] : moved.filter(({ timestamp }) => timestamp < until);
  if (late.length === 0) return;
  const values = [...firstsBy(late, 'condition_id'), ...firstsBy(late, 'wallet')];
  await client.query({ name: 'pm_forget_participants', text: FORGET, values });
}

/** Each market or wallet, and the time of its first of these fills in seconds, as texts of arrays. */
export function firstsBy(moved: readonly Moved[], key: 'condition_id' | 'wallet'): [string, string] {
  const firsts = new Map<string, number>();
  for (const fill of moved)
    firsts.set(fill[key], Math.min(firsts.get(fill[key]) ?? Number.POSITIVE_INFINITY, fill.timestamp.getTime() / 1_000));
  return [arrayOf([...firsts.keys()]), arrayOf([...firsts.values()])];
}

/** Takes out what the run of `day` judges, inside the transaction that writes it. */
export async function forgetParticipantsOf(client: PoolClient, day: string): Promise<void> {
  await client.query(ALONE);
  await client.query('DELETE FROM pm_told_participants WHERE day = $1::date', [day]);
}

/** Takes out every market. */
export async function forgetAllParticipants(client: PoolClient): Promise<void> {
  await client.query('DELETE FROM pm_told_participants');
}
