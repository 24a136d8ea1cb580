import { barePool, type EventKind, type Facts } from '../store/rows';
import type { Fields } from './borsh';
import { eventRow, type Place, slotTime } from './place';

/** In this mode fees stay in the pool, partly for its providers (cp_amm CollectFeeMode::Compounding). */
const COMPOUNDING = 2;
/** Fees are taken in the token paid out; in every other mode in the second token (cp_amm CollectFeeMode::BothToken). */
const BOTH_TOKENS = 0;

/** Adds the facts of one DAMM v2 event; returns how many. */
export function dammV2Fact(place: Place, facts: Facts): number {
  const pool = place.event.fields.pool as string;
  facts.pools.push(barePool(pool, 'damm_v2'));
  switch (place.event.name) {
    case 'EvtLiquidityChange':
      return addLiquidity(
        place,
        facts,
        place.event.fields.change_type === 0 ? 'deposit' : 'withdraw',
        place.event.fields.liquidity_delta as string,
      );
    case 'EvtAddLiquidity':
      return addLiquidity(place, facts, 'deposit', (place.event.fields.params as Fields).liquidity_delta as string);
    case 'EvtRemoveLiquidity':
      return addLiquidity(place, facts, 'withdraw', (place.event.fields.params as Fields).liquidity_delta as string);
    case 'EvtClaimPositionFee':
      return addClaim(place, facts);
    case 'EvtClaimReward':
      return addReward(place, facts);
    case 'EvtCreatePosition':
    case 'EvtClosePosition':
      return addPosition(place, facts);
    case 'EvtInitializePool':
      return addFirstLiquidity(place, facts);
    case 'EvtSplitPosition':
    case 'EvtSplitPosition2':
    case 'EvtSplitPosition3':
      return addSplit(place, facts);
    case 'EvtSwap2':
    case 'EvtSwap':
      return addSwap(place, facts);
    default:
      return 0;
  }
}

function addLiquidity(place: Place, facts: Facts, kind: 'deposit' | 'withdraw', delta: string): number {
  const f = place.event.fields as Record<string, string>;
  facts.events.push({
    ...eventRow(place, kind, 'damm_v2'),
    ...ownedBy(place),
    raw_x: f.token_a_amount as string,
    raw_y: f.token_b_amount as string,
    liquidity_delta: kind === 'deposit' ? delta : `-${delta}`,
  });
  addOwnership(place, facts);
  addReserves(place, facts);
  return 1;
}

const ownedBy = ({ event: { fields } }: Place): { pool_address: string; position_address: string; owner: string } => ({
  pool_address: fields.pool as string,
  position_address: fields.position as string,
  owner: fields.owner as string,
});

function addOwnership(place: Place, facts: Facts): void {
  facts.ownerships.push({ ...ownedBy(place), pool_type: 'damm_v2', at: slotTime(place.tx) });
}

function addReserves({ tx, event: { fields } }: Place, facts: Facts): void {
  if (fields.reserve_a_amount === undefined) return;
  facts.pools.push({
    ...barePool(fields.pool as string, 'damm_v2'),
    reserve_x: fields.reserve_a_amount as string,
    reserve_y: fields.reserve_b_amount as string,
    reserve_at: slotTime(tx),
  });
}

function addClaim(place: Place, facts: Facts): number {
  const f = place.event.fields as Record<string, string>;
  facts.events.push({
    ...eventRow(place, 'claim', 'damm_v2'),
    ...ownedBy(place),
    raw_x: f.fee_a_claimed as string,
    raw_y: f.fee_b_claimed as string,
  });
  addOwnership(place, facts);
  return 1;
}

function addReward(place: Place, facts: Facts): number {
  const { tx, event } = place;
  facts.rewards.push({
    ...ownedBy(place),
    timestamp: tx.timestamp,
    tx_id: tx.signature,
    outer_ix: event.outerIx,
    inner_ix: event.innerIx,
    pool_type: 'damm_v2',
    reward_index: event.fields.reward_index as number,
    mint: event.fields.mint_reward as string,
    raw_amount: event.fields.total_reward as string,
  });
  addOwnership(place, facts);
  return 1;
}

function addPosition(place: Place, facts: Facts): number {
  const { tx, event } = place;
  facts.positionEvents.push({
    ...ownedBy(place),
    timestamp: tx.timestamp,
    tx_id: tx.signature,
    kind: event.name === 'EvtCreatePosition' ? 'open' : 'close',
    pool_type: 'damm_v2',
    nft_mint: event.fields.position_nft_mint as string,
  });
  addOwnership(place, facts);
  return 1;
}

/** The pool's birth. Its first liquidity has no event of its own; the position was made by the event just before. */
function addFirstLiquidity(place: Place, facts: Facts): number {
  const { tx, event } = place;
  const f = event.fields as Record<string, string>;
  const pool = f.pool as string;
  facts.pools.push({
    ...barePool(pool, 'damm_v2'),
    mint_x: f.token_a_mint as string,
    mint_y: f.token_b_mint as string,
    created_at: tx.timestamp,
    reserve_x: f.token_a_amount as string,
    reserve_y: f.token_b_amount as string,
    reserve_at: slotTime(tx),
  });
  const made = tx.events.find((other) => other.name === 'EvtCreatePosition' && other.fields.pool === pool);
  facts.events.push({
    ...eventRow(place, 'deposit', 'damm_v2'),
    pool_address: pool,
    position_address: (made?.fields.position as string | undefined) ?? '',
    owner: f.creator as string,
    raw_x: f.token_a_amount as string,
    raw_y: f.token_b_amount as string,
    liquidity_delta: f.liquidity as string,
  });
  return 1;
}

/**
 * Liquidity, locked or not, goes over from a position to another, be it somebody else's: taken out of the one and put into the other. How much of the tokens
 * that is the event does not tell, so what either came to is unknown from then on.
 */
function addSplit({ tx, event }: Place, facts: Facts): number {
  const f = event.fields as Record<string, string>;
  // The program refuses this (cp_amm SamePosition).
  if (f.first_position === f.second_position) return 0;
  const { permanent_locked_liquidity, unlocked_liquidity, vested_liquidity = 0 } = event.fields.amount_splits as Record<string, string>;
  const moved = BigInt(permanent_locked_liquidity as string) + BigInt(unlocked_liquidity as string) + BigInt(vested_liquidity);
  const legs = [
    ['withdraw', f.first_position, f.first_owner, -moved],
    ['deposit', f.second_position, f.second_owner, moved],
  ] as [EventKind, string, string, bigint][];
  for (const [kind, position_address, owner, delta] of legs) {
    const owned = { pool_address: f.pool as string, position_address, owner };
    facts.ownerships.push({ ...owned, pool_type: 'damm_v2', at: slotTime(tx) });
    if (moved > 0n) facts.events.push({ ...eventRow({ tx, event }, kind, 'damm_v2'), ...owned, liquidity_delta: delta.toString() });
  }
  return moved > 0n ? legs.length : 0;
}

/** Swap events of this program do not name the trader: it is who pays for the transaction. */
function addSwap(place: Place, facts: Facts): number {
  const { tx, event } = place;
  const f = event.fields;
  const result = f.swap_result as Record<string, string>;
  const newer = event.name === 'EvtSwap2';
  facts.swaps.push({
    pool_address: f.pool as string,
    timestamp: tx.timestamp,
    tx_id: tx.signature,
    outer_ix: event.outerIx,
    inner_ix: event.innerIx,
    pool_type: 'damm_v2',
    trader: tx.feePayer,
    x_to_y: f.trade_direction === 0,
    raw_in: newer ? (result.included_fee_input_amount as string) : (f.actual_amount_in as string),
    raw_out: result.output_amount as string,
    raw_fee: newer ? providersFee(result, f.collect_fee_mode as number) : (result.lp_fee as string),
    fee_on_x: feeOnX(f),
    bin_id: null,
    sqrt_price: f.collect_fee_mode === COMPOUNDING ? null : (result.next_sqrt_price as string),
    slot: tx.slot,
    fee_payer: tx.feePayer,
    programs: tx.programs,
  });
  if (newer) addReserves(place, facts);
  return 1;
}

/** Outside the compounding mode the third fee is a partner's, not the providers'. */
function providersFee(result: Record<string, string>, mode: number): string {
  if (mode !== COMPOUNDING) return result.claiming_fee as string;
  return (BigInt(result.claiming_fee as string) + BigInt(result.compounding_fee as string)).toString();
}

/** Null: the old event does not tell the fee mode, and a purchase may be charged in either token. */
function feeOnX({ trade_direction, collect_fee_mode }: Fields): boolean | null {
  if (trade_direction === 0) return false;
  if (collect_fee_mode === undefined) return null;
  return collect_fee_mode === BOTH_TOKENS;
}
