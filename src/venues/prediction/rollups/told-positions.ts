import type { Pool, PoolClient } from 'pg';
import { sqlOf } from '../../../db/sql';
import { LONG_WORK, inTransaction } from '../../../db/transaction';
import { END } from '../../../lib/timeframe';
import { listRunDays } from '../queries/score-runs';
import { lockRollups } from './positions';
import { refillSmartHours } from './smart-hours';
import { refillSmart } from './smart-positions';

/** Tells what the smart wallets of the newest run of the scores hold, and did in hours it judges; from then on what writes a position or an hour keeps it. */
export async function tellSmartPositions(pool: Pool): Promise<void> {
  const tell = async (client: PoolClient): Promise<void> => {
    await lockRollups(client);
    const [newest, prior = newest] = (await listRunDays(sqlOf(client), END)).slice(-2).reverse();
    await client.query('DELETE FROM pm_smart_run');
    if (newest !== undefined) await client.query('INSERT INTO pm_smart_run (day, prior) VALUES ($1::date, $2::date)', [newest, prior]);
    await refillSmart(client);
    await refillSmartHours(client);
  };
  await inTransaction(pool, tell, LONG_WORK);
}
