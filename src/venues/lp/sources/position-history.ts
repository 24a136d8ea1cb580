import type { RecordedSource } from '../../../workers/source';
import { barePool, type EventKind, type EventRow, type Facts, noFacts, numberEqualKeys } from '../store/rows';
import { loadPage, type PageLoad, type Write } from './page-load';
import { BIG_INTEGER, SMALL_INTEGER, address, amount, instant, integer, isObject, type Json, listOf, text } from './record';
import { statedUsd } from './stated-usd';

/** `/positions/{position}/historical`: deposits, withdrawals and claims of one position with their USD at event time. */
export const positionHistory: RecordedSource = {
  name: 'lp.position_history',
  harmless: ['claim_reward'],
  recognises: (first) => isObject(first) && Array.isArray(first.events) && (first.events.length === 0 || isEvent(first.events[0])),
  load: (page, client, options) => loadPage('lp.position_history', page, client, options, readHistories),
};

const isEvent = (event: unknown): event is Json =>
  isObject(event) && 'signature' in event && 'eventType' in event && 'positionAddress' in event;

const KINDS = new Map<unknown, EventKind>([
  ['add', 'deposit'],
  ['remove', 'withdraw'],
  ['claim_fee', 'claim'],
]);

function readHistories(records: unknown[], { log, writer }: PageLoad): Write {
  const facts = noFacts();
  for (const record of records) {
    const events = isObject(record) ? listOf(record.events) : [];
    if (!isObject(record) || !Array.isArray(record.events)) log.skip('unusable_page');
    const first = facts.events.length;
    // Answers come newest first or oldest first; keys number the events of a transaction in the chain's order.
    const told = new Set<string>();
    for (const event of [...events].sort((a, b) => instructionOf(a) - instructionOf(b))) {
      const reason = isRepeated(event, told) ? 'repeated_event' : addEvent(event, facts);
      if (reason !== null) log.skip(reason);
    }
    numberEqualKeys(facts.events, first);
  }
  log.read += facts.events.length;
  for (const event of facts.events) log.saw(event.timestamp);
  return () => writer.facts(facts);
}

/** Whether the row stood in the answer before: an event is told once by its transaction, instruction and kind. */
function isRepeated(event: unknown, told: Set<string>): boolean {
  if (!isEvent(event) || integer(event.ixIndex) === null) return false;
  const { signature, ixIndex, eventType, positionAddress, amountX, amountY } = event;
  const key = JSON.stringify([signature, ixIndex, eventType, positionAddress, amountX, amountY]);
  if (told.has(key)) return true;
  told.add(key);
  return false;
}

const instructionOf = (event: unknown): number => (isObject(event) ? (integer(event.ixIndex) ?? 0) : 0);

/** Why the event is left out, or null when it was added. */
function addEvent(event: unknown, facts: Facts): string | null {
  if (!isEvent(event)) return 'unusable_event';
  if (event.eventType === 'claim_reward') return 'claim_reward';
  const kind = KINDS.get(event.eventType);
  const pool_address = address(event.poolAddress);
  const position_address = address(event.positionAddress);
  const tx_id = text(event.signature);
  const timestamp = instant(event.blockTime);
  if (kind === undefined) return 'unknown_event_type';
  if (pool_address === null || position_address === null || tx_id === null || timestamp === null) return 'unusable_event';
  const owner = address(event.userAddress);
  facts.events.push({ ...statedEvent(event), kind, pool_address, position_address, tx_id, timestamp, owner });
  facts.pools.push({ ...barePool(pool_address, 'dlmm'), mint_x: address(event.tokenX), mint_y: address(event.tokenY) });
  if (owner !== null) facts.ownerships.push({ position_address, pool_address, pool_type: 'dlmm', owner, at: timestamp });
  return null;
}

type Keys = 'kind' | 'pool_address' | 'position_address' | 'tx_id' | 'timestamp' | 'owner';

/** Amounts are in units of the tokens here; the total is stated, or the sum of the legs. */
function statedEvent(event: Json): Omit<EventRow, Keys> {
  const x = { amount: amount(event.amountX), usd: amount(event.amountXUsd) };
  const y = { amount: amount(event.amountY), usd: amount(event.amountYUsd) };
  return {
    n: 0,
    pool_type: 'dlmm',
    signer: null,
    raw_x: null,
    raw_y: null,
    amount_x: x.amount,
    amount_y: y.amount,
    stated_usd_x: x.usd,
    stated_usd_y: y.usd,
    stated_usd: statedUsd(amount(event.totalUsd), x, y),
    bin_id: null,
    liquidity_delta: null,
    rebalance: false,
    slot: integer(event.slot, BIG_INTEGER),
    outer_ix: integer(event.ixIndex, SMALL_INTEGER),
    inner_ix: null,
    fee_payer: null,
    programs: [],
  };
}
