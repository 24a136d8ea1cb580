import type { PoolClient } from 'pg';

/** SQL that notes wallets, SQL of their array, as due; nothing where no standings are kept. */
export const noteDue = (wallets: string): string =>
  `INSERT INTO pm_standing_due (wallet) SELECT DISTINCT wallet FROM unnest(${wallets}) AS written(wallet) WHERE EXISTS (SELECT 1 FROM pm_standing_told) ON CONFLICT DO NOTHING`;

/** Forgets all standings, inside the caller's transaction, which holds the lock of the rollups. */
export const forgetStandings = (client: PoolClient): Promise<unknown> =>
  client.query('DELETE FROM pm_standing; DELETE FROM pm_standing_due; DELETE FROM pm_standing_told');
