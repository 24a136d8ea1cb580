import type { Pool, PoolClient } from 'pg';
import { sqlOf } from '../../../db/sql';
import { LONG_WORK, inTransaction } from '../../../db/transaction';
import { type Timeframe, windowOf } from '../../../lib/timeframe';
import { COUNTS, RANKS, RETURNS } from '../queries/ended-figures';
import { lockRollups } from './positions';
import { isAnyLater } from './positions-as-of';
import { forgetStandings } from './standings-due';

/** Windows of which standings are kept. */
export const STANDING_TIMEFRAMES: readonly Timeframe[] = ['24h', '7d', '30d', '90d', '365d', 'all'];

/** Ended positions, refunded ones not counted, from which on a category's standing is kept: hardly anybody asks for fewer, and most are of fewer. */
export const CATEGORY_FROM = 5;

/** Wallets told in one transaction: writers wait for it. */
const AT_ONCE = 1_000;

const ALL_DUE = 'INSERT INTO pm_standing_due (wallet) SELECT wallet FROM pm_wallet';

// Of windows that began at $1 and begin at $2 now.
const LEFT = `INSERT INTO pm_standing_due (wallet)
SELECT DISTINCT position.wallet FROM unnest($1::timestamptz[], $2::timestamptz[]) AS moved(before, since)
JOIN pm_position AS position ON position.closed_at >= moved.before AND position.closed_at < moved.since ON CONFLICT DO NOTHING`;

const startsAt = (now: Date): Date[] => STANDING_TIMEFRAMES.map((timeframe) => windowOf(timeframe, now).from);

/** Moves the instant of the standings on to `now`; tells whether there is anything to tell. Nothing is told as of before facts that are in the store. */
async function advance(client: PoolClient, now: Date): Promise<boolean> {
  if (await isAnyLater(sqlOf(client), now)) return false;
  const { rows } = await client.query<{ told_at: Date }>('SELECT told_at FROM pm_standing_told');
  const before = rows[0]?.told_at;
  if (before !== undefined && before > now) return false;
  if (before === undefined) {
    await forgetStandings(client);
    await client.query(ALL_DUE);
  } else {
    await client.query(LEFT, [startsAt(before), startsAt(now)]);
    await client.query('DELETE FROM pm_standing_told');
  }
  await client.query('INSERT INTO pm_standing_told (told_at) VALUES ($1)', [now]);
  return true;
}

// Of each category, and of all: each position counts twice.
const TELL = `INSERT INTO pm_standing (timeframe, wallet, category, counted, wins, sharpe, roi, win_rate, pnl)
SELECT timeframe, wallet, category, counted, wins, ${RANKS.sharpe}, ${RANKS.roi}, ${RANKS.win_rate}, ${RANKS.pnl} FROM (
  SELECT timeframe, wallet, CASE WHEN of_all THEN '' ELSE market.category END AS category, ${COUNTS}, ${RETURNS}, sum(gain) AS pnl FROM pm_position AS own
  JOIN unnest($2::text[], $3::timestamptz[]) AS span(timeframe, since) ON closed_at >= since JOIN pm_market AS market ON market.condition_id = own.condition_id
  CROSS JOIN (VALUES (true), (false)) AS side(of_all)
  WHERE wallet = ANY ($1) AND status <> 'open' AND paid_shares > 0 GROUP BY 1, 2, 3
  HAVING count(*) FILTER (WHERE status <> 'voided') >= CASE WHEN bool_and(of_all) THEN 1 ELSE ${CATEGORY_FROM} END
) AS figures`;

/** Tells some of the wallets that are due, as of the instant of the standings; whether there are more. */
async function tellSome(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ wallet: string }>(
    `DELETE FROM pm_standing_due WHERE wallet IN (SELECT wallet FROM pm_standing_due ORDER BY wallet LIMIT ${AT_ONCE}) RETURNING wallet`,
  );
  const { rows: told } = await client.query<{ told_at: Date }>('SELECT told_at FROM pm_standing_told');
  if (rows.length === 0 || told[0] === undefined) return false;
  const wallets = rows.map(({ wallet }) => wallet);
  await client.query('DELETE FROM pm_standing WHERE wallet = ANY ($1)', [wallets]);
  await client.query(TELL, [wallets, STANDING_TIMEFRAMES, startsAt(told[0].told_at)]);
  return rows.length === AT_ONCE;
}

/** Brings the standings up to `now`: of wallets whose positions were written, or have left a window, since they were told. */
export async function tellStandings(pool: Pool, now: Date): Promise<void> {
  const begin = `SELECT pg_advisory_xact_lock(hashtext('pm_standings')); ${LONG_WORK}`;
  const locked =
    (work: (client: PoolClient) => Promise<boolean>) =>
    async (client: PoolClient): Promise<boolean> => {
      await lockRollups(client);
      return work(client);
    };
  if (!(await inTransaction(pool, locked((client) => advance(client, now)), begin))) return; // prettier-ignore
  while (await inTransaction(pool, locked(tellSome), begin));
}
