import type { PoolClient } from 'pg';

/** SQL of until when pm_smart_latest holds: every hour before then is told, and none was told again. */
export const LATEST_UNTIL = `SELECT until FROM pm_smart_latest_told WHERE until <= (SELECT until FROM pm_told_whole)`;

/** Takes pm_smart_latest out of use where it is of hours from `hour` on, inside the transaction that tells them again. */
export async function forgetLatest(client: PoolClient, hour: Date): Promise<void> {
  await client.query('DELETE FROM pm_smart_latest_told WHERE until > $1', [hour]);
}

const ADD = `INSERT INTO pm_smart_latest AS kept (wallet, category, hour)
SELECT wallet, category, max(hour) FROM pm_smart_wallet_hour WHERE hour < $1 AND ($2::timestamptz IS NULL OR hour >= $2) GROUP BY wallet, category
ON CONFLICT (wallet, category) DO UPDATE SET hour = EXCLUDED.hour`;

/** Tells when smart wallets last did anything before `until`, before which every hour is told; goes on from what holds. */
export async function tellLatest(client: PoolClient, until: Date): Promise<void> {
  const { rows } = await client.query<{ until: Date }>(LATEST_UNTIL);
  const since = rows[0] !== undefined && rows[0].until <= until ? rows[0].until : null;
  if (since === null) await client.query('DELETE FROM pm_smart_latest');
  await client.query(ADD, [until, since]);
  await client.query('DELETE FROM pm_smart_latest_told');
  // Older processes that share the store count these hours.
  await client.query('INSERT INTO pm_smart_latest_told (until, hours) SELECT $1, count(*) FROM pm_told_hour WHERE hour < $1', [until]);
}
