import type { PoolClient } from 'pg';
import type { Span } from '../../../workers/source';
import { noteFollowed } from '../scoring/follow-days';
import { recomputeHours } from './hours';
import { recomputeLatest } from './latest-fills';
import { lockRollups, recomputePositions } from './positions';
import type { BookFact } from './positions-facts';
import { forgetParticipants } from './told-participants';
import { noteLate } from './told-settled';
import { listCategories, moveVolumes, rollVolumes } from './volumes';

const REMOVE = `DELETE FROM pm_trade WHERE "timestamp" >= $1 AND "timestamp" < $2 AND side IN ('BUY', 'SELL')
RETURNING trade_id, wallet, condition_id, token_id, side, size, usdc_size, "timestamp", tx_hash, is_taker`;

// A wallet or a market that only the removed rows told of was never there.
const WALLETS = `WITH known AS (
  SELECT wanted.wallet, min(trade."timestamp") AS seen, min(trade."timestamp") FILTER (WHERE trade.price IS NOT NULL) AS traded
  FROM unnest($1::text[]) AS wanted(wallet) LEFT JOIN pm_trade AS trade ON trade.wallet = wanted.wallet GROUP BY wanted.wallet
), gone AS (DELETE FROM pm_wallet USING known WHERE pm_wallet.wallet = known.wallet AND known.seen IS NULL)
UPDATE pm_wallet SET first_seen_at = known.seen, first_trade_at = known.traded FROM known WHERE pm_wallet.wallet = known.wallet AND known.seen IS NOT NULL`;

// Nor was a token, where no catalogue tells which a market has.
const TOKENS = `DELETE FROM pm_outcome AS outcome USING pm_market AS market
WHERE market.condition_id = outcome.condition_id AND market.is_stub AND outcome.condition_id = ANY($1) AND outcome.token_id = ANY($2)
  AND NOT EXISTS (SELECT 1 FROM pm_trade AS trade WHERE trade.condition_id = outcome.condition_id AND trade.token_id = outcome.token_id)
RETURNING outcome.condition_id`;

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
  await recomputePositions(client, rows, await forgetTokens(client, rows));
  const wallets = [...new Set(rows.map(({ wallet }) => wallet))];
  await recomputeLatest(client, wallets);
  await forgetParticipants(client, rows);
  await noteLate(client, rows);
  // What is told in their place may be as many.
  await noteFollowed(client, rows);
  await client.query(WALLETS, [wallets]);
  await client.query(STUBS, [[...new Set(rows.map(({ condition_id }) => condition_id))]]);
  return rows.length;
}

/** Forgets tokens that nothing tells of any more; tells their markets. */
async function forgetTokens(client: PoolClient, removed: readonly BookFact[]): Promise<string[]> {
  const ids = [...new Set(removed.map(({ condition_id }) => condition_id))];
  const before = await listCategories(client, ids);
  const gone = await client.query<{ condition_id: string }>(TOKENS, [ids, [...new Set(removed.map(({ token_id }) => token_id))]]);
  if (gone.rows.length > 0) await moveVolumes(client, before);
  return [...new Set(gone.rows.map(({ condition_id }) => condition_id))];
}
