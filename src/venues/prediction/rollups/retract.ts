import type { PoolClient } from 'pg';
import type { Span } from '../../../workers/source';
import { forgetFollowed } from '../scoring/follow-days';
import { recomputeHours } from './hours';
import { recomputeLatest } from './latest-fills';
import { lockRollups, recomputePositions } from './positions';
import type { BookFact } from './positions-book';
import { forgetParticipants } from './told-participants';
import { noteLate } from './told-settled';
import { rollVolumes } from './volumes';

const REMOVE = `DELETE FROM pm_trade WHERE "timestamp" >= $1 AND "timestamp" < $2 AND side IN ('BUY', 'SELL')
RETURNING trade_id, wallet, condition_id, token_id, side, size, usdc_size, "timestamp", tx_hash, is_taker`;

// A wallet or a market that only the removed rows told of was never there.
const WALLETS = `WITH known AS (
  SELECT wanted.wallet, min(trade."timestamp") AS seen, min(trade."timestamp") FILTER (WHERE trade.price IS NOT NULL) AS traded
  FROM unnest($1::text[]) AS wanted(wallet) LEFT JOIN pm_trade AS trade ON trade.wallet = wanted.wallet GROUP BY wanted.wallet
), gone AS (DELETE FROM pm_wallet USING known WHERE pm_wallet.wallet = known.wallet AND known.seen IS NULL)
UPDATE pm_wallet SET first_seen_at = known.seen, first_trade_at = known.traded FROM known WHERE pm_wallet.wallet = known.wallet AND known.seen IS NOT NULL`;

const STUBS = `WITH gone AS (
  DELETE FROM pm_market WHERE condition_id = ANY($1) AND is_stub AND NOT EXISTS (SELECT 1 FROM pm_trade WHERE pm_trade.condition_id = pm_market.condition_id)
  RETURNING condition_id)
DELETE FROM pm_outcome USING gone WHERE pm_outcome.condition_id = gone.condition_id`;

/**
 * Takes back every fill of a span, inside the caller's transaction, and makes anew from what is left: the hours, the positions (also those
 * whose sets these fills priced), volume by category, first days of wallets. Rows that are no fills stay. Tells how many were removed.
 */
export async function retractFills(client: PoolClient, { from, to }: Span): Promise<number> {
  await lockRollups(client);
  const { rows } = await client.query<BookFact & { is_taker: boolean | null }>(REMOVE, [from, to]);
  if (rows.length === 0) return 0;
  await recomputeHours(client, rows);
  await rollVolumes(
    client,
    rows.filter(({ is_taker }) => is_taker === true).map((row) => ({ ...row, takes: -1, taker_usdc: `-${row.usdc_size}` })),
  );
  await recomputePositions(client, rows);
  const wallets = [...new Set(rows.map(({ wallet }) => wallet))];
  await recomputeLatest(client, wallets);
  await forgetParticipants(client, rows);
  await noteLate(client, rows);
  // What is told in their place may be as many.
  await forgetFollowed(client, rows);
  await client.query(WALLETS, [wallets]);
  await client.query(STUBS, [[...new Set(rows.map(({ condition_id }) => condition_id))]]);
  return rows.length;
}
