import type { PoolClient } from 'pg';
import { type Sql, type Statement, sqlOf } from '../../../db/sql';
import { writersTurn } from '../../../db/transaction';
import { groupedBy } from '../../../lib/grouped';
import { Book, type BookMarket } from './positions-book';
import type { BookFact } from './positions-facts';
import { computePositions, distinct, keyOf } from './positions-compute';
import type { PositionRow } from './positions-row';
import {
  type Group,
  listBookMarkets,
  listKept,
  listSetPrices,
  listTies,
  replacePositions,
  untellWallets,
  writePositions,
} from './positions-store';

export const LOCK_ROLLUPS = writersTurn('prediction');

/** Waits for the turn to write rollups. */
export async function lockRollups(client: PoolClient): Promise<void> {
  await client.query(LOCK_ROLLUPS);
}

/** What a batch of rows changed. */
export interface Appended {
  /** Rows that are new. */
  facts: readonly BookFact[];
  /** Groups of which a known row has other USDC now. */
  restated: readonly Group[];
  /** Markets of which a token was seen for the first time. */
  new_tokens: readonly string[];
}

/**
 * Brings positions up to rows just appended, inside their transaction. A group whose rows come in order of time goes on from what is kept; one with a
 * late or restated row, a conversion, or a split whose price a late row changes, is computed from all its facts.
 */
export async function rollPositions(client: PoolClient, { facts, restated, new_tokens }: Appended): Promise<void> {
  const sql = sqlOf(client);
  const byGroup = groupedBy(facts, keyOf);
  const touched = distinct([...facts, ...restated]).map(({ wallet, condition_id }) => ({ wallet, condition_id }));
  if (touched.length + new_tokens.length === 0) return;
  const markets = await listBookMarkets(sql, [...new Set(touched.map(({ condition_id }) => condition_id))]);
  const kept = groupedBy(await listKept(sql, touched), keyOf);
  const { tied } = await listTies(sql, touched, markets);
  const fresh = touched.filter((group) => !kept.has(keyOf(group)));
  const slow = new Map(
    [
      ...restated,
      ...(await listMisjudged(sql, facts, markets)),
      ...(await listMovers(sql, new_tokens)),
      ...(await listTied(sql, new_tokens)),
      ...(await listUnpaid(sql, new_tokens)),
      ...(await listKnown(sql, fresh, facts)),
    ].map((group) => [keyOf(group), group]),
  );
  const steady: Group[] = [];
  for (const group of touched) {
    const own = byGroup.get(keyOf(group)) ?? [];
    const isTied =
      tied.has(`${group.wallet}|${markets.get(group.condition_id)?.neg_risk_id}`) || own.some(({ side }) => side === 'CONVERSION');
    if (isTied || !continues(kept.get(keyOf(group)) ?? [], own)) slow.set(keyOf(group), group);
    else if (!slow.has(keyOf(group))) steady.push(group);
  }
  const steadyFacts = steady.flatMap((group) => byGroup.get(keyOf(group)) ?? []);
  const prices = await listSetPrices(sql, steadyFacts, markets);
  const rows = steady.flatMap((group) => {
    const market = markets.get(group.condition_id) as BookMarket;
    return new Book(group.wallet, [market], kept.get(keyOf(group))).run(byGroup.get(keyOf(group)) ?? [], prices).rows();
  });
  await writePositions(sql, rows);
  const moved = new Set(rows.map(({ wallet }) => wallet));
  await untellWallets(
    sql,
    [...new Set(steady.map(({ wallet }) => wallet))].filter((wallet) => !moved.has(wallet)),
  );
  await computePositions(sql, [...slow.values()], undefined, (computed, of) => replacePositions(sql, computed, of));
}

/** Whether all rows stand behind what is kept. */
function continues(kept: readonly PositionRow[], facts: readonly BookFact[]): boolean {
  return facts.every(({ timestamp }) => kept.every(({ last_fact_at }) => timestamp > last_fact_at));
}

const movesOf = (facts: readonly BookFact[]): string[] =>
  facts.filter(({ side }) => side !== 'BUY' && side !== 'SELL').map(({ trade_id }) => trade_id);

const KNOWN: Statement = {
  name: 'pm_book_known',
  text: `SELECT DISTINCT trade.wallet, trade.condition_id FROM unnest($1::text[], $2::text[]) AS wanted(wallet, condition_id)
JOIN pm_trade AS trade ON trade.wallet = wanted.wallet AND trade.condition_id = wanted.condition_id
WHERE trade.side IN ('REDEEM', 'SPLIT', 'MERGE', 'CONVERSION') AND trade.trade_id <> ALL($3::uuid[])`,
};

/** Groups of which nothing is kept although rows were known before: they moved no shares, but may stand behind those that do. */
function listKnown(sql: Sql, groups: readonly Group[], facts: readonly BookFact[]): Promise<Group[]> {
  const values = [groups.map(({ wallet }) => wallet), groups.map(({ condition_id }) => condition_id), movesOf(facts)];
  return sql.query<Group>(KNOWN, values);
}

// Trades tell the prices of sets: one that comes late may change those of sets moved after it.
const MISJUDGED: Statement = {
  name: 'pm_book_misjudged',
  text: `SELECT DISTINCT trade.wallet, trade.condition_id FROM unnest($1::text[], $2::timestamptz[]) AS late(condition_id, at)
JOIN pm_trade AS trade ON trade.condition_id = late.condition_id AND trade."timestamp" > late.at
WHERE trade.side IN ('SPLIT', 'MERGE', 'CONVERSION') AND trade.trade_id <> ALL($3::uuid[])
UNION
SELECT DISTINCT trade.wallet, trade.condition_id FROM unnest($4::text[], $5::timestamptz[]) AS late(neg_risk_id, at)
JOIN pm_market AS market ON market.neg_risk_id = late.neg_risk_id
JOIN pm_trade AS trade ON trade.condition_id = market.condition_id AND trade."timestamp" > late.at WHERE trade.side = 'CONVERSION'`,
};

async function listMisjudged(sql: Sql, facts: readonly BookFact[], markets: ReadonlyMap<string, BookMarket>): Promise<Group[]> {
  const firsts = new Map<string, Date>();
  const groups = new Map<string, Date>();
  const note = (into: Map<string, Date>, key: string, at: Date): void => {
    const known = into.get(key);
    if (known === undefined || at < known) into.set(key, at);
  };
  for (const { side, condition_id, timestamp } of facts) {
    if (side !== 'BUY' && side !== 'SELL') continue;
    note(firsts, condition_id, timestamp);
    const group = markets.get(condition_id)?.neg_risk_id;
    if (group) note(groups, group, timestamp);
  }
  return sql.query<Group>(MISJUDGED, [[...firsts.keys()], [...firsts.values()], movesOf(facts), [...groups.keys()], [...groups.values()]]);
}

const MOVERS: Statement = {
  name: 'pm_book_movers',
  text: `SELECT DISTINCT wallet, condition_id FROM pm_trade WHERE condition_id = ANY($1) AND side IN ('REDEEM', 'SPLIT', 'MERGE', 'CONVERSION')`,
};

/** Groups with rows that name no token: what they mean depends on which tokens the market has and what they pay. */
export async function listMovers(sql: Sql, condition_ids: readonly string[]): Promise<Group[]> {
  return condition_ids.length === 0 ? [] : sql.query<Group>(MOVERS, [condition_ids]);
}

const UNPAID: Statement = {
  name: 'pm_book_unpaid',
  text: `SELECT DISTINCT wallet, condition_id FROM pm_position JOIN pm_market USING (condition_id)
WHERE condition_id = ANY($1) AND resolved_at IS NOT NULL AND settled_at IS NULL`,
};

/** Groups that were not paid on resolved markets: what a token pays is known once something names it, whoever's row that is. */
function listUnpaid(sql: Sql, condition_ids: readonly string[]): Promise<Group[]> | Group[] {
  return condition_ids.length === 0 ? [] : sql.query<Group>(UNPAID, [condition_ids]);
}

const TIED: Statement = {
  name: 'pm_book_tied_to',
  text: `WITH market AS (
  SELECT unnest($1::text[]) AS condition_id UNION SELECT condition_id FROM pm_market
  WHERE neg_risk_id = ANY($2) OR neg_risk_id IN (SELECT own.neg_risk_id FROM pm_market AS own WHERE own.condition_id = ANY($1))
), conversion AS MATERIALIZED (
  SELECT DISTINCT trade.wallet, trade.condition_id FROM market JOIN pm_trade AS trade ON trade.condition_id = market.condition_id WHERE trade.side = 'CONVERSION'
)
SELECT wallet, condition_id FROM conversion UNION
SELECT position.wallet, position.condition_id FROM (SELECT DISTINCT wallet FROM conversion) AS converting CROSS JOIN market
JOIN pm_position AS position ON position.condition_id = market.condition_id AND position.wallet = converting.wallet`,
};

/** Groups of wallets whose conversions reach these markets, or reached them while they were in the groups they have left: what came of them depends on all markets of the group. */
export async function listTied(sql: Sql, condition_ids: readonly string[], left: readonly string[] = []): Promise<Group[]> {
  return condition_ids.length === 0 ? [] : sql.query<Group>(TIED, [condition_ids, left]);
}

/** Makes the positions anew that rows just removed from pm_trade had a part in, inside the transaction that removed them; and on markets that lost a token with them. */
export async function recomputePositions(client: PoolClient, removed: readonly BookFact[], lost_tokens: readonly string[]): Promise<void> {
  const sql = sqlOf(client);
  const markets = await listBookMarkets(sql, [...new Set(removed.map(({ condition_id }) => condition_id))]);
  const tied = [...(await listMovers(sql, lost_tokens)), ...(await listTied(sql, lost_tokens))];
  const groups = distinct([...removed, ...(await listMisjudged(sql, removed, markets)), ...tied]);
  await computePositions(sql, groups, undefined, (rows, of) => replacePositions(sql, rows, of));
}
