import type { Pool, PoolClient } from 'pg';
import { LONG_WORK, inTransaction } from '../../../db/transaction';
import { END } from '../../../lib/timeframe';
import { listRunDays } from '../queries/score-runs';
import { lockRollups, sqlOf } from './positions';
import { refillSmart } from './smart-positions';

/** Tells what the smart wallets of the newest run of the scores hold; from then on what writes a position keeps it. */
export async function tellSmartPositions(pool: Pool): Promise<void> {
  const tell = async (client: PoolClient): Promise<void> => {
    await lockRollups(client);
    const newest = (await listRunDays(sqlOf(client), END)).at(-1);
    await client.query('DELETE FROM pm_smart_run');
    if (newest !== undefined) await client.query('INSERT INTO pm_smart_run (day) VALUES ($1::date)', [newest]);
    await refillSmart(client);
  };
  await inTransaction(pool, tell, LONG_WORK);
}
