import type { Pool, PoolClient } from 'pg';
import { LONG_WORK, inTransaction } from '../../../db/transaction';
import { type Sql, type Statement, sqlOf } from '../../../db/sql';
import { listNorms } from '../queries/market-overlap';
import { listRunDays } from '../queries/score-runs';
import { loadOverlay } from './positions-as-of';

const WRITE: Statement = {
  name: 'pm_norm_write',
  text: 'INSERT INTO pm_market_norm SELECT * FROM jsonb_to_recordset($1::jsonb) AS row(condition_id text, wallets int, square float8)',
};

/** Replaces the norms of all markets by those as of `now`; readers see the old ones until the new ones are whole. */
export function replaceNorms(pool: Pool, now: Date): Promise<void> {
  const replace = async (client: PoolClient): Promise<void> => {
    const sql = sqlOf(client);
    const run = (await listRunDays(sql, now)).at(-1) ?? null;
    const norms = await listNorms(sql, run, { now, overlay: await loadOverlay(sql, now) });
    await client.query('DELETE FROM pm_market_norm');
    await sql.query(WRITE, [JSON.stringify(norms)]);
  };
  return inTransaction(pool, replace, `SELECT pg_advisory_xact_lock(hashtext('pm_market_norm')); ${LONG_WORK}`);
}

/** Number of markets anyone belongs to. */
export async function countNorms(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ markets: number }>(
    { name: 'pm_norm_count', text: 'SELECT count(*)::int AS markets FROM pm_market_norm' },
    [],
  );
  return row?.markets ?? 0;
}
