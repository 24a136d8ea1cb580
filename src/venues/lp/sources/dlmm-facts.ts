import { barePool, type EventRow, type Facts } from '../store/rows';
import type { Fields } from './borsh';
import { eventRow, type Place } from './place';

/** Adds the facts of one DLMM event (venues of discrete bins); returns how many. */
export function dlmmFact(place: Place, facts: Facts): number {
  const { event } = place;
  const f = event.fields as Record<string, string>;
  if (f.lb_pair !== undefined) facts.pools.push(barePool(f.lb_pair, 'dlmm'));
  switch (event.name) {
    case 'AddLiquidity':
      return addLiquidity(place, facts, 'deposit');
    case 'RemoveLiquidity':
      return addLiquidity(place, facts, 'withdraw');
    case 'ClaimFee':
    case 'ClaimFee2':
      return addClaim(place, facts);
    case 'ClaimReward':
    case 'ClaimReward2':
      return addReward(place, facts, event.fields.reward_index as number, f.total_reward as string);
    case 'PositionCreate':
    case 'PositionClose':
      return addPosition(place, facts);
    case 'Rebalancing':
      return addRebalance(place, facts);
    case 'Swap':
    case 'Swap2Evt':
      return addSwap(place, facts);
    case 'LbPairCreate':
      return addPool(place, facts);
    default:
      return 0;
  }
}

/** `from` signs; it is usually, not always, the owner. */
function addLiquidity(place: Place, facts: Facts, kind: EventRow['kind']): number {
  const f = place.event.fields;
  const [x, y] = f.amounts as string[];
  facts.events.push({
    ...eventRow(place, kind, 'dlmm'),
    pool_address: f.lb_pair as string,
    position_address: f.position as string,
    signer: f.from as string,
    raw_x: x as string,
    raw_y: y as string,
    bin_id: f.active_bin_id as number,
  });
  return 1;
}

function addClaim(place: Place, facts: Facts): number {
  const f = place.event.fields;
  facts.events.push({
    ...eventRow(place, 'claim', 'dlmm'),
    ...ownedBy(f),
    raw_x: f.fee_x as string,
    raw_y: f.fee_y as string,
    bin_id: (f.active_bin_id as number | undefined) ?? null,
  });
  addOwnership(place, facts);
  return 1;
}

const ownedBy = (f: Fields): Pick<EventRow, 'pool_address' | 'position_address' | 'owner'> => ({
  pool_address: f.lb_pair as string,
  position_address: f.position as string,
  owner: f.owner as string,
});

function addOwnership({ tx, event }: Place, facts: Facts): void {
  const f = event.fields;
  facts.ownerships.push({
    position_address: f.position as string,
    pool_address: (f.lb_pair as string | undefined) ?? null,
    pool_type: 'dlmm',
    owner: f.owner as string,
    at: tx.timestamp,
  });
}

function addReward({ tx, event }: Place, facts: Facts, index: number, amount: string): number {
  facts.rewards.push({
    ...(ownedBy(event.fields) as { pool_address: string; position_address: string; owner: string }),
    timestamp: tx.timestamp,
    tx_id: tx.signature,
    outer_ix: event.outerIx,
    inner_ix: event.innerIx,
    pool_type: 'dlmm',
    reward_index: index,
    mint: null,
    raw_amount: amount,
  });
  return 1;
}

/** A close does not name its pool: the position is remembered. */
function addPosition(place: Place, facts: Facts): number {
  const { tx, event } = place;
  const f = event.fields;
  facts.positionEvents.push({
    position_address: f.position as string,
    timestamp: tx.timestamp,
    tx_id: tx.signature,
    kind: event.name === 'PositionCreate' ? 'open' : 'close',
    pool_address: (f.lb_pair as string | undefined) ?? null,
    pool_type: 'dlmm',
    owner: f.owner as string,
    nft_mint: null,
  });
  addOwnership(place, facts);
  return 1;
}

/** Withdraw, deposit and claim in one event: a flagged row each, rewards beside them. A leg without amounts is no row. */
function addRebalance(place: Place, facts: Facts): number {
  const f = place.event.fields as Record<string, string>;
  const legs: [EventRow['kind'], string, string][] = [
    ['withdraw', f.x_withdrawn_amount as string, f.y_withdrawn_amount as string],
    ['deposit', f.x_added_amount as string, f.y_added_amount as string],
    ['claim', f.x_fee_amount as string, f.y_fee_amount as string],
  ];
  let count = 0;
  for (const [kind, x, y] of legs) {
    if (x === '0' && y === '0') continue;
    const bin_id = place.event.fields.active_bin_id as number;
    facts.events.push({ ...eventRow(place, kind, 'dlmm'), ...ownedBy(f), raw_x: x, raw_y: y, bin_id, rebalance: true });
    count += 1;
  }
  (place.event.fields.rewards as string[]).forEach((amount, index) => {
    if (amount !== '0') count += addReward(place, facts, index, amount);
  });
  addOwnership(place, facts);
  return count;
}

/**
 * The fee of Swap holds the protocol's part, which is told less what a host has of it (SwapResult of https://github.com/MeteoraAg/dlmm-sdk,
 * commons/src/typedefs.rs); Swap2Evt tells the providers' part (mm_fee) apart.
 */
function addSwap({ tx, event }: Place, facts: Facts): number {
  const f = event.fields as Record<string, string>;
  const xToY = event.fields.swap_for_y as boolean;
  const newer = event.name === 'Swap2Evt';
  facts.swaps.push({
    pool_address: f.lb_pair as string,
    timestamp: tx.timestamp,
    tx_id: tx.signature,
    outer_ix: event.outerIx,
    inner_ix: event.innerIx,
    pool_type: 'dlmm',
    trader: f.from as string,
    x_to_y: xToY,
    raw_in: f.amount_in as string,
    raw_out: f.amount_out as string,
    raw_fee: newer
      ? (f.mm_fee as string)
      : (BigInt(f.fee as string) - BigInt(f.protocol_fee as string) - BigInt(f.host_fee as string)).toString(),
    fee_on_x: newer ? (event.fields.fees_on_token_x as boolean) : xToY,
    bin_id: event.fields.end_bin_id as number,
    sqrt_price: null,
    slot: tx.slot,
    fee_payer: tx.feePayer,
    programs: tx.programs,
  });
  return 1;
}

function addPool({ tx, event }: Place, facts: Facts): number {
  const f = event.fields;
  facts.pools.push({
    ...barePool(f.lb_pair as string, 'dlmm'),
    mint_x: f.token_x as string,
    mint_y: f.token_y as string,
    bin_step: f.bin_step as number,
    created_at: tx.timestamp,
  });
  facts.created.push(f.lb_pair as string);
  return 1;
}
