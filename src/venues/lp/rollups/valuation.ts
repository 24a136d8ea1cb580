import type { PoolClient } from 'pg';
import { HOUR_MS } from '../../../lib/time';
import { SOL, STABLES } from '../chain-addresses';
import { SWAP_FEE_USD, SWAP_USD, worth } from '../store/facts';
import { ensureMonths } from '../store/insert';
import { type TimeRange, TouchedMinutes } from '../store/touched';
import { STAGED_EVENTS, STAGED_SWAPS } from '../store/stage';
import { WAITING_EVENTS, WAITING_SWAPS } from '../store/waiting';
import { noteClosed, notingEvents, notingSwaps } from './changes';
import { POOL_PRICE, PRICE_SOURCE, priceOnceAt, stableList } from './price-at';

/**
 * Below this much on the side that is known, rounding of the upstream or of tiny amounts spoils a price. In SOL, not in what SOL is worth: that may come
 * to be known better, and what was evidence once stays so.
 */
export const LEAST_USD = 1;
export const LEAST_SOL = 0.01;
/** A price is used until this long after its minute. */
const USED_MS = HOUR_MS;

/** What of a page asks for prices. */
export interface Priced {
  touched: TouchedMinutes;
  /** Whether facts wait in the stage. */
  staged: boolean;
  /** Whether facts, or what they are counted in, are new; without them only prices against SOL can change: SOL's own may have come from a catalogue. */
  facts: boolean;
}

/**
 * Brings prices up to date with the facts of the touched minutes, staged ones included, and adds the minutes in which a price
 * changed. The price of a minute is derived from all facts of that minute, so the order of loading changes nothing. Returns the
 * ranges whose facts on record may have another value now.
 */
export async function derivePrices(client: PoolClient, { touched, staged, facts }: Priced): Promise<TimeRange[]> {
  const ranges = facts ? touched.ranges(USED_MS) : await rangesWithFacts(client, touched);
  if (ranges.length === 0) return [];
  await ensurePriceMonths(client, ranges);
  const { stated, stable, sol } = staged ? STAGED_TOO : ON_RECORD;
  for (const range of facts ? touched.ranges() : []) {
    await derive(client, stated, range, touched);
    await derive(client, stable, range, touched);
  }
  for (const range of facts ? touched.ranges(USED_MS) : ranges) await derive(client, sol, range, touched);
  return rangesWithFacts(client, touched);
}

/** Derives prices anew from the facts of these times, on record and waiting: first those that need no other. */
export async function deriveAllPrices(client: PoolClient, ranges: readonly TimeRange[]): Promise<void> {
  const { stated, stable, sol } = WAITING_TOO;
  await ensurePriceMonths(client, ranges);
  for (const { from, to } of ranges) {
    for (const statement of [stated, stable]) await client.query({ ...statement, values: [from, to] });
  }
  for (const { from, to } of ranges) await client.query({ ...sol, values: [from, to] });
}

/** Ranges of the touched minutes, and of the hour after each in which their prices are still used, that hold facts or closes. */
async function rangesWithFacts(client: PoolClient, touched: TouchedMinutes): Promise<TimeRange[]> {
  const ranges: TimeRange[] = [];
  for (const range of touched.ranges(USED_MS)) {
    const { rows } = await client.query<{ found: boolean }>({ name: 'lp_facts_in', text: FACTS_IN, values: [range.from, range.to] });
    if (rows[0]?.found === true) ranges.push(range);
  }
  return ranges;
}

const FACTS_IN = `SELECT EXISTS (SELECT 1 FROM lp_event WHERE "timestamp" >= $1 AND "timestamp" < $2)
  OR EXISTS (SELECT 1 FROM lp_swap WHERE "timestamp" >= $1 AND "timestamp" < $2)
  OR EXISTS (SELECT 1 FROM lp_position_sum WHERE closed_at >= $1 AND closed_at < $2) AS found`;

/** Values the facts of these times anew, by the prices of now, and notes whose positions closed in them. */
export async function revalue(client: PoolClient, ranges: readonly TimeRange[]): Promise<void> {
  for (const { from, to } of ranges) {
    await client.query({ name: 'lp_value_events', text: VALUE_EVENTS, values: [from, to] });
    await client.query({ name: 'lp_value_swaps', text: VALUE_SWAPS, values: [from, to] });
    await noteClosed(client, from, to);
  }
}

interface Derivation {
  name: string;
  text: string;
}

async function derive(client: PoolClient, statement: Derivation, { from, to }: TimeRange, touched: TouchedMinutes): Promise<void> {
  const { rows } = await client.query<{ minute: Date }>({ ...statement, values: [from, to] });
  for (const { minute } of rows) touched.add(minute);
}

const ensurePriceMonths = (client: PoolClient, ranges: readonly TimeRange[]): Promise<void> =>
  ensureMonths(client, { token_price: ranges.flatMap(({ from, to }) => [from, ...monthsBetween(from, to)]) });

/** First instants of the months that begin in (from, to). */
function monthsBetween(from: Date, to: Date): Date[] {
  const months: Date[] = [];
  for (let month = from.getUTCMonth() + 1; ; month += 1) {
    const first = new Date(Date.UTC(from.getUTCFullYear(), month, 1));
    if (first >= to) return months;
    months.push(first);
  }
}

/** Of the observations of a minute the one with the most value behind it counts. */
const derivation = (observations: string): string => `
INSERT INTO token_price AS t (mint, minute, usd, source)
SELECT mint, minute, usd, source FROM (${observations}) o WHERE usd > 0 AND weight >= least
ON CONFLICT (mint, minute) DO UPDATE SET usd = EXCLUDED.usd, source = EXCLUDED.source
  WHERE EXCLUDED.source <= t.source AND (EXCLUDED.usd, EXCLUDED.source) IS DISTINCT FROM (t.usd, t.source)
RETURNING minute`;

/** Where facts are read from: on record alone, or in the stage too. */
interface Tables {
  events: readonly string[];
  swaps: readonly string[];
}

const statedFacts = ({ events }: Tables): string =>
  events
    .map(
      (table) => `
SELECT pool_address, "timestamp", tx_id, n, stated_usd_x, stated_usd_y, amount_x, amount_y, raw_x, raw_y
FROM ${table} WHERE "timestamp" >= $1 AND "timestamp" < $2 AND (stated_usd_x > 0 OR stated_usd_y > 0)`,
    )
    .join(' UNION ALL ');

/** What the upstream states: USD of a leg over its amount. */
const stated = (tables: Tables): string => `
SELECT DISTINCT ON (mint, minute) mint, minute, weight / amount AS usd, ${PRICE_SOURCE.stated}::smallint AS source, weight, ${LEAST_USD} AS least FROM (
  SELECT CASE leg.side WHEN 'x' THEN p.mint_x ELSE p.mint_y END AS mint, date_trunc('minute', e."timestamp") AS minute, leg.usd AS weight, leg.amount,
    e."timestamp", e.tx_id, e.n, leg.side
  FROM (${statedFacts(tables)}) e JOIN lp_pool p ON p.pool_address = e.pool_address
  LEFT JOIN lp_token a ON a.mint = p.mint_x LEFT JOIN lp_token b ON b.mint = p.mint_y
  CROSS JOIN LATERAL (VALUES ('x', e.stated_usd_x, coalesce(e.amount_x, e.raw_x * ('1e-' || a.decimals)::numeric)),
    ('y', e.stated_usd_y, coalesce(e.amount_y, e.raw_y * ('1e-' || b.decimals)::numeric))) AS leg(side, usd, amount)
  WHERE leg.usd > 0 AND leg.amount > 0
) o WHERE mint IS NOT NULL AND mint NOT IN (${stableList})
ORDER BY mint, minute, weight DESC, "timestamp", tx_id, n, side`;

/** Swaps and provider events as amounts of either token, with the bin or square root that tells the pool's price. */
const pricedFacts = ({ events, swaps }: Tables): string =>
  [
    ...swaps.map(
      (table) => `
SELECT pool_address, "timestamp", tx_id, outer_ix * 1000 + inner_ix AS ix, bin_id, sqrt_price,
  CASE WHEN x_to_y THEN raw_in ELSE raw_out END AS raw_x, CASE WHEN x_to_y THEN raw_out ELSE raw_in END AS raw_y
FROM ${table} WHERE "timestamp" >= $1 AND "timestamp" < $2`,
    ),
    ...events.map(
      (table) => `
SELECT pool_address, "timestamp", tx_id, 1000000 + n, bin_id, NULL, raw_x, raw_y
FROM ${table} WHERE "timestamp" >= $1 AND "timestamp" < $2 AND bin_id IS NOT NULL AND raw_x IS NOT NULL AND raw_y IS NOT NULL`,
    ),
  ].join(' UNION ALL ');

/** Prices of tokens in pools whose other token is one of `quotes`, which are worth `q.usd`. */
const againstQuotes = (tables: Tables, quotes: readonly string[], source: number, least: number, quotePrice: string): string => {
  const list = quotes.map((mint) => `'${mint}'`).join(', ');
  return `
SELECT b.mint, b.minute, b.price * q.usd AS usd, ${source}::smallint AS source, b.quote AS weight, ${least} AS least FROM (
  SELECT DISTINCT ON (mint, minute) mint, minute, price, quote FROM (
    SELECT CASE WHEN p.mint_y IN (${list}) THEN p.mint_x ELSE p.mint_y END AS mint, date_trunc('minute', f."timestamp") AS minute,
      CASE WHEN p.mint_y IN (${list}) THEN ${POOL_PRICE}::numeric ELSE 1 / nullif(${POOL_PRICE}::numeric, 0) END AS price,
      CASE WHEN p.mint_y IN (${list}) THEN f.raw_y * ('1e-' || y.decimals)::numeric ELSE f.raw_x * ('1e-' || x.decimals)::numeric END AS quote,
      f."timestamp", f.tx_id, f.ix
    FROM (${pricedFacts(tables)}) f
    JOIN lp_pool p ON p.pool_address = f.pool_address AND (p.mint_y IN (${list}) OR p.mint_x IN (${list}))
    JOIN lp_token x ON x.mint = p.mint_x AND x.decimals IS NOT NULL
    JOIN lp_token y ON y.mint = p.mint_y AND y.decimals IS NOT NULL
  ) o WHERE mint NOT IN (${stableList}) AND mint NOT IN (${list}) AND quote > 0
  ORDER BY mint, minute, quote DESC, "timestamp", tx_id, ix
) b ${quotePrice}`;
};

const derivationsOf = (tables: Tables, suffix: string): Record<'stated' | 'stable' | 'sol', Derivation> => ({
  stated: { name: `lp_prices_stated${suffix}`, text: derivation(stated(tables)) },
  stable: {
    name: `lp_prices_stable${suffix}`,
    text: derivation(againstQuotes(tables, STABLES, PRICE_SOURCE.stable, LEAST_USD, 'CROSS JOIN (SELECT 1::numeric AS usd) q')),
  },
  sol: {
    name: `lp_prices_sol${suffix}`,
    text: derivation(againstQuotes(tables, [SOL], PRICE_SOURCE.sol, LEAST_SOL, priceOnceAt(`'${SOL}'::text`, 'b.minute', 'q'))),
  },
});

const ON_RECORD = derivationsOf({ events: ['lp_event'], swaps: ['lp_swap'] }, '');
const STAGED_TOO = derivationsOf({ events: ['lp_event', STAGED_EVENTS], swaps: ['lp_swap', STAGED_SWAPS] }, '_staged');
const WAITING_TOO = derivationsOf({ events: ['lp_event', WAITING_EVENTS], swaps: ['lp_swap', WAITING_SWAPS] }, '_waiting');

/**
 * Rows find themselves again by their place (partition and ctid), which stays while one statement runs: a page may fill
 * tables that have no statistics yet, and a join over six key columns is then planned as if one row came out of it.
 */
const VALUE_EVENTS = notingEvents(`
UPDATE lp_event e SET usd = v.usd FROM (
  SELECT part, place, usd FROM (
    SELECT e.tableoid AS part, e.ctid AS place, e.usd AS before, ${worth('e.amount_x', 'e.amount_y')} AS usd
    FROM lp_event e JOIN lp_pool p ON p.pool_address = e.pool_address
    ${priceOnceAt('p.mint_x', 'e."timestamp"', 'x')} ${priceOnceAt('p.mint_y', 'e."timestamp"', 'y')}
    WHERE e."timestamp" >= $1 AND e."timestamp" < $2 AND NOT e.usd_stated
  ) valued WHERE before IS DISTINCT FROM usd
) v
WHERE e.tableoid = v.part AND e.ctid = v.place AND e."timestamp" >= $1 AND e."timestamp" < $2`);

const VALUE_SWAPS = notingSwaps(`
UPDATE lp_swap s SET usd = v.usd, fee_usd = v.fee_usd FROM (
  SELECT part, place, usd, fee_usd FROM (
    SELECT s.tableoid AS part, s.ctid AS place, s.usd AS usd_before, s.fee_usd AS fee_before, ${SWAP_USD} AS usd, ${SWAP_FEE_USD} AS fee_usd
    FROM lp_swap s JOIN lp_pool p ON p.pool_address = s.pool_address
    LEFT JOIN lp_token a ON a.mint = p.mint_x LEFT JOIN lp_token b ON b.mint = p.mint_y
    ${priceOnceAt('p.mint_x', 's."timestamp"', 'x')} ${priceOnceAt('p.mint_y', 's."timestamp"', 'y')}
    CROSS JOIN LATERAL (SELECT s.amount_in) m
    WHERE s."timestamp" >= $1 AND s."timestamp" < $2
  ) valued WHERE (usd_before, fee_before) IS DISTINCT FROM (usd, fee_usd)
) v
WHERE s.tableoid = v.part AND s.ctid = v.place AND s."timestamp" >= $1 AND s."timestamp" < $2`);
