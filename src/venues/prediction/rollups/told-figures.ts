import type { PoolClient } from 'pg';
import { FIGURE_COLUMNS, figuresSql } from '../queries/wallet-figures';

const FIGURES = figuresSql({
  positions: 'SELECT * FROM pm_position WHERE wallet = ANY ($1)',
  own: 'wallet',
  wallet: (own) => own,
  from: `timestamptz '-infinity'`,
  to: `timestamptz 'infinity'`,
  category: 'NULL::text',
});

const TELL = `INSERT INTO pm_told_figures (${FIGURE_COLUMNS}) SELECT ${FIGURE_COLUMNS.replace('category', `COALESCE(category, '')`)} FROM (${FIGURES}) AS told`;

/** Tells the figures of all that these wallets ever held; they hold as long as the wallets are in pm_told_wallet. */
export async function tellFigures(client: PoolClient, wallets: readonly string[]): Promise<void> {
  await client.query('DELETE FROM pm_told_figures WHERE wallet = ANY ($1)', [wallets]);
  await client.query(TELL, [wallets]);
}
