import type { RecordedSource } from '../../../workers/source';
import { barePool, type EventKind, type EventRow, noFacts, numberEqualKeys } from '../store/rows';
import { loadPage, type PageLoad, type Write } from './page-load';
import { address, amount, instant, integer, isObject, type Json, text } from './record';
import { statedUsd } from './stated-usd';

/**
 * The older index: `/position/{a}/deposits`, `/withdraws`, `/claim_fees`. The rows are alike, so the page's name must
 * hold one of these words. Rows do not name the owner; `/position/{a}` does (position-owner).
 */
export const positionLegacy: RecordedSource = {
  name: 'lp.position_legacy',
  recognises: (first, page) => isRow(first) && kindOf(page.name) !== null,
  load: (page, client, options) => {
    const told: Told = { kind: kindOf(page.name), seen: new Map() };
    return loadPage('lp.position_legacy', page, client, options, (records, load) => readRows(records, load, told));
  },
};

const isRow = (row: unknown): row is Json =>
  isObject(row) && 'tx_id' in row && 'position_address' in row && 'pair_address' in row && 'onchain_timestamp' in row;

function kindOf(name: string): EventKind | null {
  if (/deposit/i.test(name)) return 'deposit';
  if (/withdraw/i.test(name)) return 'withdraw';
  return /claim_?-?fees?/i.test(name) ? 'claim' : null;
}

/** What the rows of a page are of, and how many of each key it has told: they are read group by group. */
interface Told {
  kind: EventKind | null;
  seen: Map<string, number>;
}

function readRows(records: unknown[], { log, writer }: PageLoad, { kind, seen }: Told): Write {
  const facts = noFacts();
  for (const record of records) {
    const row = isRow(record) && kind !== null ? eventRow(record, kind) : null;
    if (row === null) {
      log.skip('unusable_event');
      continue;
    }
    facts.events.push(row);
    facts.pools.push(barePool(row.pool_address, 'dlmm'));
    log.saw(row.timestamp);
  }
  numberEqualKeys(facts.events, 0, seen);
  log.read += facts.events.length;
  return () => writer.facts(facts);
}

/** Amounts are in smallest units here. */
function eventRow(row: Json, kind: EventKind): EventRow | null {
  const pool_address = address(row.pair_address);
  const position_address = address(row.position_address);
  const tx_id = text(row.tx_id);
  const timestamp = instant(row.onchain_timestamp);
  if (pool_address === null || position_address === null || tx_id === null || timestamp === null) return null;
  const x = { amount: amount(row.token_x_amount), usd: amount(row.token_x_usd_amount) };
  const y = { amount: amount(row.token_y_amount), usd: amount(row.token_y_usd_amount) };
  return {
    pool_address,
    timestamp,
    tx_id,
    position_address,
    kind,
    n: 0,
    pool_type: 'dlmm',
    owner: null,
    signer: null,
    raw_x: x.amount,
    raw_y: y.amount,
    amount_x: null,
    amount_y: null,
    stated_usd_x: x.usd,
    stated_usd_y: y.usd,
    stated_usd: statedUsd(null, x, y),
    bin_id: integer(row.active_bin_id),
    liquidity_delta: null,
    rebalance: false,
    slot: null,
    outer_ix: null,
    inner_ix: null,
    fee_payer: null,
    programs: [],
  };
}
