import type { lp_pool as PoolRecord } from '../../../generated/prisma/client';
import { isoDay } from '../../../lib/time';
import type { GraphContext, Resolvers } from '../../venue';
import type { PoolType } from '../chain-addresses';
import { makeLoaders } from '../loaders';
import type { PoolEventRow, PoolSwapRow } from '../queries/pools-events';

/** An event of either kind, ready to be shown. Decimal text for numbers. */
export interface ShownEvent {
  __typename: 'DlmmEvent' | 'DammV2Event' | 'LpEvent';
  owner: string | null;
  pool_address: string;
  pool_type: PoolType;
  event_type: string;
  usd_total: string | null;
  timestamp: Date;
  tx_id: string;
  position_address: string | null;
  /** Where the event is known to belong, also where its pool type tells no position. */
  position_key: string | null;
  token_x: string | null;
  token_y: string | null;
  amount_x: string | null;
  amount_y: string | null;
  fees_usd: string | null;
  /** Where the answer has it at hand. */
  pct_of_pool?: string | null;
  /** Only where an answer tells it. */
  cumulative_net_usd?: string | null;
}

/** Names of the two pool types for the same events. */
const EVENT_TYPES = {
  dlmm: { deposit: 'AddLiquidity', withdraw: 'RemoveLiquidity', claim: 'ClaimFee', swap: 'Swap' },
  damm_v2: { deposit: 'add_liquidity', withdraw: 'remove_liquidity', claim: 'claim_fee', swap: 'swap' },
} as const;

/** Symbols of a pool's tokens; the mint where no symbol is known. */
export interface PoolSymbols {
  token_x: string | null;
  token_y: string | null;
}

export async function symbolsOf(pool: Pick<PoolRecord, 'mint_x' | 'mint_y'>, context: GraphContext): Promise<PoolSymbols> {
  const { token } = context.loaders(makeLoaders);
  const symbol = async (mint: string | null): Promise<string | null> => (mint === null ? null : ((await token.load(mint))?.symbol ?? mint));
  const [token_x, token_y] = await Promise.all([symbol(pool.mint_x), symbol(pool.mint_y)]);
  return { token_x, token_y };
}

/** How a row is shown: by the names of its pool type, or by one set of names (`snake`). */
export function shownEvent(row: PoolEventRow | PoolSwapRow, symbols: PoolSymbols, snake: boolean): ShownEvent {
  const swap = !('kind' in row);
  const { pool_type } = row;
  const position_key = swap || row.position_address === '' ? null : row.position_address;
  return {
    __typename: snake ? 'LpEvent' : pool_type === 'dlmm' ? 'DlmmEvent' : 'DammV2Event',
    owner: row.owner,
    pool_address: row.pool_address,
    pool_type,
    event_type: EVENT_TYPES[pool_type][swap ? 'swap' : row.kind],
    usd_total: row.usd,
    timestamp: row.timestamp,
    tx_id: row.tx_id,
    position_address: pool_type === 'damm_v2' ? null : position_key,
    position_key,
    token_x: symbols.token_x,
    token_y: symbols.token_y,
    amount_x: row.amount_x,
    amount_y: row.amount_y,
    fees_usd: swap ? row.fee_usd : row.kind === 'claim' ? row.usd : null,
  };
}

/** Whether who is named traded, and provides nothing. */
export const isSwap = ({ event_type }: Pick<ShownEvent, 'event_type'>): boolean => /swap/i.test(event_type);

/** Score of the provider on the day before the event; traders have none. */
function lpScore(event: ShownEvent, _args: unknown, context: GraphContext): Promise<string | null> | null {
  if (event.owner === null || isSwap(event)) return null;
  return context.loaders(makeLoaders).scoreBefore.load({ owner: event.owner, day: isoDay(event.timestamp) });
}

/** What the event is worth against what the pool held just before it. */
function pctOfPool(event: ShownEvent, _args: unknown, context: GraphContext): Promise<string | null> | string | null {
  const { pct_of_pool, usd_total: usd, pool_address, timestamp } = event;
  if (pct_of_pool !== undefined || usd === null) return pct_of_pool ?? null;
  return context.loaders(makeLoaders).shareOfPool.load({ pool_address, timestamp, usd });
}

const of =
  <Key extends keyof ShownEvent>(key: Key) =>
  (event: ShownEvent): ShownEvent[Key] =>
    event[key];

export const poolEventResolvers: Resolvers = {
  PoolEvent: { __resolveType: (event: ShownEvent) => event.__typename },
  DlmmEvent: {
    Owner: of('owner'),
    PoolAddress: of('pool_address'),
    PoolType: of('pool_type'),
    EventType: of('event_type'),
    UsdTotal: of('usd_total'),
    Timestamp: of('timestamp'),
    TxId: of('tx_id'),
    PositionAddress: of('position_address'),
    TokenX: of('token_x'),
    TokenY: of('token_y'),
    AmountX: of('amount_x'),
    AmountY: of('amount_y'),
    FeesUsd: of('fees_usd'),
    PctOfPool: pctOfPool,
    CumulativeNetUsd: of('cumulative_net_usd'),
    LpScore: lpScore,
  },
  DammV2Event: {
    token_a: of('token_x'),
    token_b: of('token_y'),
    amount_a: of('amount_x'),
    amount_b: of('amount_y'),
    pct_of_pool: pctOfPool,
    lp_score: lpScore,
  },
  LpEvent: {
    pct_of_pool: pctOfPool,
    lp_score: lpScore,
  },
};
