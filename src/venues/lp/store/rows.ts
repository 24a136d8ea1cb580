import type { PoolType } from '../chain-addresses';

/** Amounts are decimal text throughout: smallest units under raw_*, units of the token under amount_*. */
export type EventKind = 'deposit' | 'withdraw' | 'claim';

export interface EventRow {
  pool_address: string;
  timestamp: Date;
  tx_id: string;
  /** Empty where the event names no position. */
  position_address: string;
  kind: EventKind;
  n: number;
  pool_type: PoolType;
  /** Null where the record does not name the owner: the position's owner, else the signer. */
  owner: string | null;
  signer: string | null;
  raw_x: string | null;
  raw_y: string | null;
  amount_x: string | null;
  amount_y: string | null;
  stated_usd_x: string | null;
  stated_usd_y: string | null;
  stated_usd: string | null;
  bin_id: number | null;
  liquidity_delta: string | null;
  rebalance: boolean;
  slot: number | null;
  outer_ix: number | null;
  inner_ix: number | null;
  fee_payer: string | null;
  programs: string[];
}

export interface SwapRow {
  pool_address: string;
  timestamp: Date;
  tx_id: string;
  outer_ix: number;
  inner_ix: number;
  pool_type: PoolType;
  trader: string;
  x_to_y: boolean;
  raw_in: string;
  raw_out: string;
  /** What providers earned. */
  raw_fee: string;
  fee_on_x: boolean | null;
  bin_id: number | null;
  /** Square root of the price after the swap, Q64.64. */
  sqrt_price: string | null;
  slot: number | null;
  fee_payer: string;
  programs: string[];
}

export interface RewardRow {
  pool_address: string;
  timestamp: Date;
  tx_id: string;
  outer_ix: number;
  inner_ix: number;
  pool_type: PoolType;
  position_address: string;
  owner: string;
  reward_index: number;
  mint: string | null;
  raw_amount: string;
}

export interface PositionEventRow {
  position_address: string;
  timestamp: Date;
  tx_id: string;
  kind: 'open' | 'close';
  pool_address: string | null;
  pool_type: PoolType;
  owner: string;
  nft_mint: string | null;
}

/** Who owns a position, as a record of that time says. */
export interface OwnershipRow {
  position_address: string;
  pool_address: string | null;
  pool_type: PoolType;
  owner: string;
  at: Date;
}

export interface DcaRow {
  order_address: string;
  timestamp: Date;
  tx_id: string;
  outer_ix: number;
  inner_ix: number;
  kind: 'opened' | 'filled' | 'closed' | 'fee' | 'withdraw' | 'deposit';
  owner: string | null;
  input_mint: string | null;
  output_mint: string | null;
  in_amount: string | null;
  out_amount: string | null;
  in_deposited: string | null;
  in_amount_per_cycle: string | null;
  unfilled_amount: string | null;
  cycle_frequency: string | null;
  opened_at: Date | null;
  fee_mint: string | null;
  fee: string | null;
  by_user: boolean | null;
}

/** A pool as one record shows it; null where the record does not say. */
export interface PoolRow {
  pool_address: string;
  pool_type: PoolType;
  name: string | null;
  mint_x: string | null;
  mint_y: string | null;
  bin_step: number | null;
  base_fee_pct: string | null;
  created_at: Date | null;
  /** Whether the record is the catalogue's own. */
  catalogued: boolean;
  as_of: Date | null;
  tvl_usd: string | null;
  lifetime_volume_usd: string | null;
  lifetime_fees_usd: string | null;
  reserve_x: string | null;
  reserve_y: string | null;
  reserve_at: Date | null;
}

/** A token as one record shows it. quality: 0 chain, 1 name of a pair, 2 pool page, 3 token list. */
export interface TokenRow {
  mint: string;
  symbol: string | null;
  name: string | null;
  decimals: number | null;
  quality: 0 | 1 | 2 | 3;
}

/** Whose word for a token's decimals a record has: the chain's counts most. 0: it says none. */
export const authorityOf = ({ decimals, quality }: Pick<TokenRow, 'decimals' | 'quality'>): number =>
  decimals === null ? 0 : quality === 0 ? 4 : quality;

/** A pool of which nothing is known but that it exists. */
export function barePool(pool_address: string, pool_type: PoolType): PoolRow {
  return {
    pool_address,
    pool_type,
    name: null,
    mint_x: null,
    mint_y: null,
    bin_step: null,
    base_fee_pct: null,
    created_at: null,
    catalogued: false,
    as_of: null,
    tvl_usd: null,
    lifetime_volume_usd: null,
    lifetime_fees_usd: null,
    reserve_x: null,
    reserve_y: null,
    reserve_at: null,
  };
}

/** Facts of the venue, as rows of our tables. */
export interface Facts {
  events: EventRow[];
  swaps: SwapRow[];
  rewards: RewardRow[];
  positionEvents: PositionEventRow[];
  ownerships: OwnershipRow[];
  pools: PoolRow[];
  /** Pools whose making is a fact of its own. */
  created: string[];
  dca: DcaRow[];
}

export function noFacts(): Facts {
  return { events: [], swaps: [], rewards: [], positionEvents: [], ownerships: [], pools: [], created: [], dca: [] };
}

/**
 * Numbers the events of one transaction, position and kind in their order, from `from` on. Every feed keeps that order, so that an event
 * told by the chain and by the index has one key. `seen`: how many of each key came before, of which these are added; left out: none.
 */
export function numberEqualKeys(events: EventRow[], from: number, seen?: Map<string, number>): void {
  if (seen === undefined && events.length - from < 2) return;
  const before = seen ?? new Map<string, number>();
  for (let i = from; i < events.length; i += 1) {
    const event = events[i] as EventRow;
    const key = `${event.tx_id}/${event.position_address}/${event.kind}`;
    const n = before.get(key) ?? 0;
    event.n = n;
    before.set(key, n + 1);
  }
}
