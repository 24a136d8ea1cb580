import type { EventRow } from '../store/rows';
import type { ChainEvent, DecodedTransaction } from './transaction';

/** Where an event happened: the part of a row that is the same for every event of a transaction. */
export interface Place {
  tx: DecodedTransaction;
  event: ChainEvent;
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

/** The transaction's time, with milliseconds by which the few slots of one second are in their order. */
export const slotTime = ({ timestamp, slot }: DecodedTransaction): Date => new Date(timestamp.getTime() + ((slot ?? 0) % 1_000));
