import type { Pool, PoolClient } from 'pg';
import { sqlOf } from '../../../db/sql';
import { LONG_WORK, inTransaction } from '../../../db/transaction';
import { END } from '../../../lib/timeframe';
import { listRunDays } from '../queries/score-runs';
import { settledCrowds } from '../queries/settled-crowds';
import { lockRollups } from './positions';
import { noteSettledDue } from './settled-due';
import { HIGHEST } from './told-crowds';
import { type Moved, firstsBy } from './told-participants';

/** Markets told in one transaction: writers wait for it. */
const AT_ONCE = 500;

/** One at a time tells what is due, or notes what a run judges: of a market that is due already, the note would go with it. */
const ALONE = "SELECT pg_advisory_xact_lock(hashtext('pm_settled_due'))";

const COLUMNS = 'max_score, condition_id, resolved_at, wallets, usdc, top_usdc, won';
const DUE = `SELECT condition_id FROM pm_settled_due ORDER BY condition_id LIMIT ${AT_ONCE}`;
const GONE = `DELETE FROM pm_settled_crowd WHERE max_score BETWEEN 0 AND ${HIGHEST} AND condition_id = ANY ($1)`;
const TELL = `INSERT INTO pm_settled_crowd (${COLUMNS}) SELECT ${COLUMNS} FROM (${settledCrowds('condition_id = ANY ($1)', '$2::date[]', '0', String(HIGHEST))}) AS crowd ORDER BY max_score, condition_id`;

/** Tells the crowds of resolved markets that are due, some in each transaction. */
export async function tellSettled(pool: Pool): Promise<void> {
  const tell = async (client: PoolClient): Promise<boolean> => {
    // In this order: a run of the scores waits to be alone with rows in its hands that a writer may wait for.
    await lockRollups(client);
    await client.query(ALONE);
    const { rows } = await client.query<{ condition_id: string }>(DUE);
    const ids = rows.map(({ condition_id }) => condition_id);
    if (ids.length === 0) return false;
    await client.query(GONE, [ids]);
    await client.query(TELL, [ids, await listRunDays(sqlOf(client), END)]);
    await client.query('DELETE FROM pm_settled_due WHERE condition_id = ANY ($1)', [ids]);
    return ids.length === AT_ONCE;
  };
  while (await inTransaction(pool, tell, LONG_WORK));
}

const NOTE_LATE =
  noteSettledDue(`SELECT condition_id, settled_at FROM unnest($1::text[], $2::float8[]) AS late(wallet, seconds) JOIN pm_position AS position USING (wallet)
  WHERE (settled_at AT TIME ZONE 'UTC')::date > (to_timestamp(seconds) AT TIME ZONE 'UTC')::date AND EXISTS (SELECT 1 FROM pm_wallet_score)`);

const NEWEST = 'SELECT max(resolved_at) AS at FROM pm_market';

/** Notes the markets that were resolved on a later day than rows of their wallets that came, or went, only now: by them a wallet was known earlier, or later. */
export async function noteLate(client: PoolClient, moved: readonly Moved[]): Promise<void> {
  const { rows } = await client.query<{ at: Date | null }>({ name: 'pm_newest_resolution', text: NEWEST });
  // Rows of that day or later are late for no market: those that are just made, mostly.
  const day = rows[0]?.at?.setUTCHours(0, 0, 0, 0) ?? Number.NEGATIVE_INFINITY;
  const late = moved.filter(({ timestamp }) => timestamp.getTime() < day);
  if (late.length > 0) await client.query({ name: 'pm_note_late', text: NOTE_LATE, values: firstsBy(late, 'wallet') });
}

const NOTE_RUN = `INSERT INTO pm_settled_due (condition_id) SELECT condition_id FROM pm_market
WHERE resolved_at >= ($1::date + 1)::timestamp AT TIME ZONE 'UTC' AND ($2::date IS NULL OR resolved_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC') ON CONFLICT DO NOTHING`;

/** Notes the markets that the run of `day` judges, inside the transaction that writes its scores. */
export async function noteJudged(client: PoolClient, day: string): Promise<void> {
  await client.query(ALONE);
  const next = (await listRunDays(sqlOf(client), END)).find((other) => other > day) ?? null;
  await client.query(NOTE_RUN, [day, next]);
}

/** Notes all resolved markets, and forgets what was told of them, inside the caller's transaction, which holds the lock of the rollups. */
export const forgetSettled = (client: PoolClient): Promise<unknown> =>
  client.query(`DELETE FROM pm_settled_crowd;
INSERT INTO pm_settled_due (condition_id) SELECT condition_id FROM pm_market WHERE resolved_at IS NOT NULL ON CONFLICT DO NOTHING`);
