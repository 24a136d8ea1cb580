import type { Sql, Statement } from '../../../db/sql';
import { setPrices } from '../positions/average-cost';
import { type TokenAt, listPricesBefore } from '../queries/trade-surroundings';
import { payoutByName } from '../sources/settlement';
import { addTo } from '../../../lib/grouped';
import type { Window } from '../../../lib/timeframe';
import { arrayOf } from './array-text';
import { noteCrowdDue } from './crowd-due';
import type { BookMarket, PricesOf } from './positions-book';
import type { BookFact } from './positions-facts';
import { POSITION_COLUMNS, POSITION_NAMES, type PositionRow } from './positions-row';
import { keepSmart } from './smart-positions';
import { noteSettledDue } from './settled-due';
import { noteDue } from './standings-due';

/** A wallet on a market: what is computed together, unless a conversion ties markets. */
export interface Group {
  wallet: string;
  condition_id: string;
}

const MARKETS: Statement = {
  name: 'pm_book_markets',
  keyed: true,
  text: `SELECT market.condition_id, market.neg_risk_id, market.resolved_at, market.is_voided,
  COALESCE(array_agg(outcome.token_id ORDER BY outcome.outcome_index, outcome.token_id) FILTER (WHERE outcome.token_id IS NOT NULL), '{}') AS tokens,
  array_agg(COALESCE(outcome.payout, ${payoutByName('outcome.outcome')}) ORDER BY outcome.outcome_index, outcome.token_id) FILTER (WHERE outcome.token_id IS NOT NULL)::text[] AS payouts
FROM pm_market AS market LEFT JOIN pm_outcome AS outcome ON outcome.condition_id = market.condition_id
WHERE market.condition_id = ANY($1) GROUP BY market.condition_id`,
};

interface MarketRow {
  condition_id: string;
  neg_risk_id: string | null;
  resolved_at: Date | null;
  is_voided: boolean;
  tokens: string[];
  payouts: string[] | null;
}

/** Markets as known at `now`; at the end of time where none is given. */
export async function listBookMarkets(sql: Sql, condition_ids: readonly string[], now?: Date): Promise<Map<string, BookMarket>> {
  const rows = condition_ids.length === 0 ? [] : await sql.query<MarketRow>(MARKETS, [condition_ids]);
  return new Map(
    rows.map(({ condition_id, neg_risk_id, resolved_at, is_voided, tokens, payouts }) => {
      const known = resolved_at !== null && (now === undefined || resolved_at <= now);
      const paid = known ? new Map(tokens.map((token, index) => [token, payouts?.[index] ?? '0'])) : null;
      return [condition_id, { condition_id, neg_risk_id, tokens, is_voided, resolved_at: known ? resolved_at : null, payouts: paid }];
    }),
  );
}

const FACTS: Statement = {
  name: 'pm_book_facts',
  text: `SELECT trade.trade_id, trade.wallet, trade.condition_id, trade.token_id, trade.side, trade.size, trade.usdc_size, trade."timestamp", trade.tx_hash
FROM unnest($1::text[], $2::text[]) AS wanted(wallet, condition_id)
JOIN pm_trade AS trade ON trade.wallet = wanted.wallet AND trade.condition_id = wanted.condition_id WHERE trade."timestamp" >= $3 AND trade."timestamp" < $4`,
};

/** All rows of these wallets on these markets in the window, in no order. */
export function listBookFacts(sql: Sql, groups: readonly Group[], { from, to }: Window): Promise<BookFact[]> {
  return sql.query<BookFact>(FACTS, [groups.map(({ wallet }) => wallet), groups.map(({ condition_id }) => condition_id), from, to]);
}

const CONVERSIONS: Statement = {
  name: 'pm_book_conversions',
  keyed: true,
  text: `SELECT DISTINCT trade.wallet, market.neg_risk_id FROM pm_trade AS trade JOIN pm_market AS market ON market.condition_id = trade.condition_id
WHERE trade.side = 'CONVERSION' AND trade.wallet = ANY($1) AND market.neg_risk_id = ANY($2)`,
};

const SIBLINGS: Statement = {
  name: 'pm_book_siblings',
  text: 'SELECT condition_id, neg_risk_id FROM pm_market WHERE neg_risk_id = ANY($1) ORDER BY condition_id',
};

/** Which wallets' markets conversions tie together: `wallet|neg_risk_id`, and the markets of each such group. */
export interface Ties {
  tied: ReadonlySet<string>;
  siblings: ReadonlyMap<string, string[]>;
}

export async function listTies(sql: Sql, groups: readonly Group[], markets: ReadonlyMap<string, BookMarket>): Promise<Ties> {
  const inGroups = groups.filter(({ condition_id }) => markets.get(condition_id)?.neg_risk_id);
  if (inGroups.length === 0) return { tied: new Set(), siblings: new Map() };
  const ids = [...new Set(inGroups.map(({ condition_id }) => markets.get(condition_id)?.neg_risk_id))];
  const found = await sql.query<{ wallet: string; neg_risk_id: string }>(CONVERSIONS, [
    [...new Set(inGroups.map(({ wallet }) => wallet))],
    ids,
  ]);
  const tied = new Set(found.map(({ wallet, neg_risk_id }) => `${wallet}|${neg_risk_id}`));
  const siblings = new Map<string, string[]>();
  if (found.length > 0) {
    const rows = await sql.query<{ condition_id: string; neg_risk_id: string }>(SIBLINGS, [
      [...new Set(found.map((row) => row.neg_risk_id))],
    ]);
    for (const { condition_id, neg_risk_id } of rows) addTo(siblings, neg_risk_id, condition_id);
  }
  return { tied, siblings };
}

/** Prices at the splits, merges and conversions among `facts`, as of the second before each. */
export async function listSetPrices(sql: Sql, facts: readonly BookFact[], markets: ReadonlyMap<string, BookMarket>): Promise<PricesOf> {
  const moves = facts.filter(({ side }) => side === 'SPLIT' || side === 'MERGE' || side === 'CONVERSION');
  if (moves.length === 0) return new Map();
  const wanted = moves.map((fact) => tokensOf(fact, markets));
  const prices = await listPricesBefore(sql, wanted.flat());
  let place = 0;
  return new Map(
    moves.map((fact, index) => {
      const tokens = wanted[index] as TokenAt[];
      const last = new Map<string, string>();
      for (const { token_id } of tokens) {
        const price = prices[place++];
        if (price !== null && price !== undefined) last.set(token_id, price);
      }
      return [fact.trade_id, setPrices(tokens.map(({ token_id }) => token_id), last)]; // prettier-ignore
    }),
  );
}

/** A set's tokens; of a conversion the first outcome of every market of the group. */
function tokensOf({ side, condition_id, timestamp }: BookFact, markets: ReadonlyMap<string, BookMarket>): TokenAt[] {
  const market = markets.get(condition_id);
  if (market === undefined) return [];
  if (side !== 'CONVERSION') return market.tokens.map((token_id) => ({ condition_id, token_id, at: timestamp }));
  const group = [...markets.values()].filter(
    ({ neg_risk_id, tokens }) => neg_risk_id !== null && neg_risk_id === market.neg_risk_id && tokens.length === 2,
  );
  return group.map((sibling) => ({ condition_id: sibling.condition_id, token_id: sibling.tokens[0] as string, at: timestamp }));
}

const KEPT: Statement = {
  name: 'pm_book_kept',
  text: `SELECT ${POSITION_NAMES.map((name) => `position.${name}`).join(', ')} FROM unnest($1::text[], $2::text[]) AS wanted(wallet, condition_id)
JOIN pm_position AS position ON position.condition_id = wanted.condition_id AND position.wallet = wanted.wallet`,
};

/** What is kept of these groups. */
export function listKept(sql: Sql, groups: readonly Group[]): Promise<PositionRow[]> {
  return sql.query<PositionRow>(KEPT, [groups.map(({ wallet }) => wallet), groups.map(({ condition_id }) => condition_id)]);
}

const WALLETS = `$${POSITION_NAMES.indexOf('wallet') + 1}::text[]`;

const WRITE: Statement = {
  name: 'pm_book_write',
  // What was told of these wallets is no longer true.
  text: `WITH gone AS (DELETE FROM pm_told_wallet WHERE wallet = ANY(${WALLETS})), due AS (${noteDue(WALLETS)}), crowd_due AS (${noteCrowdDue(WALLETS)}),
written AS MATERIALIZED (SELECT * FROM unnest(${POSITION_COLUMNS.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ')}) AS row(${POSITION_NAMES.join(', ')})),
settled_due AS (${noteSettledDue('SELECT condition_id, settled_at FROM written')}), smart AS (${keepSmart('written')})
INSERT INTO pm_position (${POSITION_NAMES.join(', ')}) SELECT * FROM written
ON CONFLICT (condition_id, wallet, token_id) DO UPDATE SET ${POSITION_NAMES.slice(3)
    .map((name) => `${name} = EXCLUDED.${name}`)
    .join(', ')}`,
};

/** Keeps positions as they are now. */
export async function writePositions(sql: Sql, rows: readonly PositionRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql.query(WRITE, POSITION_COLUMNS.map(([name]) => arrayOf(rows.map((row) => row[name])))); // prettier-ignore
}

/** SQL that takes the groups out of a table. */
const forgetOf = (
  table: string,
): string => `DELETE FROM ${table} AS kept USING unnest($1::text[], $2::text[]) AS wanted(wallet, condition_id)
WHERE kept.wallet = wanted.wallet AND kept.condition_id = wanted.condition_id`;

const UNTELL: Statement = { name: 'pm_book_untell', text: 'DELETE FROM pm_told_wallet WHERE wallet = ANY($1)' };

/** Takes out what was told of wallets of which rows came that moved none of their positions. */
export async function untellWallets(sql: Sql, wallets: readonly string[]): Promise<void> {
  if (wallets.length > 0) await sql.query(UNTELL, [wallets]);
}

const FORGET: Statement = {
  name: 'pm_book_forget',
  text: `WITH gone AS (DELETE FROM pm_told_wallet WHERE wallet = ANY($1::text[])), due AS (${noteDue('$1::text[]')}), crowd_due AS (${noteCrowdDue('$1::text[]')}), smart AS (${forgetOf('pm_smart_position')}), gone_position AS (${forgetOf('pm_position')} RETURNING kept.condition_id, kept.settled_at)
${noteSettledDue('SELECT * FROM gone_position')}`,
};

/** Keeps these positions, and no others of the groups: what a conversion seemed to bring may turn out never to have come. */
export async function replacePositions(sql: Sql, rows: readonly PositionRow[], of: readonly Group[]): Promise<void> {
  await sql.query(FORGET, [of.map(({ wallet }) => wallet), of.map(({ condition_id }) => condition_id)]);
  await writePositions(sql, rows);
}
