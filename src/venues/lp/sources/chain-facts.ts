import { DAMM_V2_PROGRAM, DCA_PROGRAM, DLMM_PROGRAM } from '../chain-addresses';
import type { DcaRow, EventRow, OwnershipRow, PoolRow, PositionEventRow, RewardRow, SwapRow } from '../store/rows';
import { dammV2Fact } from './damm-v2-facts';
import { dcaFact } from './dca-facts';
import { dlmmFact } from './dlmm-facts';
import { withoutTwins } from './event-twins';
import type { ChainEvent, DecodedTransaction } from './transaction';

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

/** Where an event happened: the part of a row that is the same for every event of a transaction. */
export interface Place {
  tx: DecodedTransaction;
  event: ChainEvent;
}

/**
 * Adds the facts of one transaction to `facts`; returns how many (the making of a pool and its first liquidity are facts too).
 * Events that an upgrade emitted twice, in an old and a new form, are one fact.
 */
export function addFacts(tx: DecodedTransaction, facts: Facts): number {
  const first = facts.events.length;
  let count = 0;
  for (const event of withoutTwins(tx.events)) {
    const place = { tx, event };
    if (event.program === DLMM_PROGRAM) count += dlmmFact(place, facts);
    else if (event.program === DAMM_V2_PROGRAM) count += dammV2Fact(place, facts);
    else if (event.program === DCA_PROGRAM) count += dcaFact(place, facts);
  }
  numberEqualKeys(facts.events, first);
  return count;
}

/**
 * Numbers the events of one transaction, position and kind in their order. Every feed keeps that order, so that an event
 * told by the chain and by the index has one key.
 */
export function numberEqualKeys(events: EventRow[], from: number): void {
  const seen = new Map<string, number>();
  for (let i = from; i < events.length; i += 1) {
    const event = events[i] as EventRow;
    const key = `${event.tx_id}/${event.position_address}/${event.kind}`;
    const n = seen.get(key) ?? 0;
    event.n = n;
    seen.set(key, n + 1);
  }
}

/** An event row with everything the transaction says and nothing yet of amounts. */
export function eventRow({ tx, event }: Place, kind: EventRow['kind'], pool_type: EventRow['pool_type']): EventRow {
  return {
    pool_address: '',
    timestamp: tx.timestamp,
    tx_id: tx.signature,
    position_address: '',
    kind,
    n: 0,
    pool_type,
    owner: null,
    signer: null,
    raw_x: null,
    raw_y: null,
    amount_x: null,
    amount_y: null,
    stated_usd_x: null,
    stated_usd_y: null,
    stated_usd: null,
    bin_id: null,
    liquidity_delta: null,
    rebalance: false,
    slot: tx.slot,
    outer_ix: event.outerIx,
    inner_ix: event.innerIx,
    fee_payer: tx.feePayer,
    programs: tx.programs,
  };
}
