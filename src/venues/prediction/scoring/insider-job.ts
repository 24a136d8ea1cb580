import type { Pool } from 'pg';
import { LONG_WORK, inTransaction } from '../../../db/transaction';
import { type Sql, type Statement, sqlOf } from '../../../db/sql';
import { groupedBy } from '../../../lib/grouped';
import { isoDay } from '../../../lib/time';
import { listVenuePairs } from '../queries/insider-evidence';
import { loadOverlay } from '../rollups/positions-as-of';
import { overMarkets } from './insider';
import { scanVenue } from './insider-venue';

/** Begins a transaction in which nobody else scores. */
export const ONE_SCORING = `SELECT pg_advisory_xact_lock(hashtext('pm_score')); ${LONG_WORK}; SET LOCAL work_mem = '64MB'`;
/** Wallets older than this are no candidates of the venue-wide list. */
export const MOST_AGE_DAYS = 90;
/** Lower scores are not kept. */
const LEAST_SCORE = 20;

const WRITE: Statement = {
  name: 'pm_insider_write',
  text: `INSERT INTO pm_insider (condition_id, wallet, day, generated_at, score, token_id, buy_usdc, first_bet_at, signals)
SELECT condition_id, wallet, $2::date, $3::timestamptz, score, token_id, buy_usdc, first_bet_at, signals
FROM jsonb_to_recordset($1::jsonb) AS row(condition_id text, wallet text, score numeric, token_id text, buy_usdc numeric, first_bet_at timestamptz, signals jsonb)`,
};

const CLEAR: Statement = { name: 'pm_insider_clear', text: 'DELETE FROM pm_insider WHERE day = $1::date' };

/**
 * Scans young wallets that put at least $1,000 on a market and keeps what is found as the scan of the UTC day of `now`. Tells each wallet's
 * score over its markets.
 */
export async function keepInsiders(sql: Sql, now: Date): Promise<Map<string, number>> {
  const day = isoDay(now);
  await sql.query(CLEAR, [day]);
  const overlay = await loadOverlay(sql, now);
  const findings = await scanVenue(sql, await listVenuePairs(sql, now, overlay, MOST_AGE_DAYS), now, overlay, LEAST_SCORE);
  await sql.query(WRITE, [JSON.stringify(findings), day, now]);
  return new Map(
    [...groupedBy(findings, ({ wallet }) => wallet)].map(([wallet, own]) => [wallet, overMarkets(own.map(({ score }) => score))]),
  );
}

/** Scans again between two daily runs: replaces the scan of the UTC day of `now`. */
export async function rescanInsiders(pool: Pool, now: Date): Promise<void> {
  await inTransaction(pool, (client) => keepInsiders(sqlOf(client), now), ONE_SCORING);
}
