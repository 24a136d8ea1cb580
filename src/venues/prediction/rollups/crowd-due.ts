import type { PoolClient } from 'pg';

/** SQL that notes wallets, SQL of their array: what was told of their stances is no longer true; nothing where no crowds are told. */
export const noteCrowdDue = (wallets: string): string =>
  `INSERT INTO pm_crowd_due (wallet) SELECT DISTINCT wallet FROM unnest(${wallets}) AS written(wallet) WHERE EXISTS (SELECT 1 FROM pm_crowd_told) ON CONFLICT DO NOTHING`;

/** Forgets all crowds, inside the caller's transaction, which holds the lock of the rollups. */
export const forgetCrowds = (client: PoolClient): Promise<unknown> =>
  client.query('DELETE FROM pm_crowd; DELETE FROM pm_crowd_stance; DELETE FROM pm_crowd_due; DELETE FROM pm_crowd_told');

/** One at a time tells crowds, or writes the run that they go by: told meanwhile they would go by the scores it had before, and count as told. */
export const ALONE = "SELECT pg_advisory_xact_lock(hashtext('pm_crowds'))";

/** Takes what is told of crowds out of use where it goes by the run of `day`, inside the transaction that writes its scores. */
export async function forgetCrowdsOf(client: PoolClient, day: string): Promise<void> {
  await client.query(ALONE);
  await client.query('DELETE FROM pm_crowd_told WHERE day = $1::date', [day]);
}
