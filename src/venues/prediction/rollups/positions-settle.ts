import type { PoolClient } from 'pg';
import { type Sql, type Statement, sqlOf } from '../../../db/sql';
import { groupedBy } from '../../../lib/grouped';
import { lockRollups, listMovers, listTied } from './positions';
import { Book, type BookMarket } from './positions-book';
import { computePositions, keyOf } from './positions-compute';
import { POSITION_NAMES, type PositionRow } from './positions-row';
import { type Group, listBookMarkets, replacePositions, writePositions } from './positions-store';
import { NOTE_MARKETS } from './settled-due';

export type MarketsBefore = ReadonlyMap<string, BookMarket>;

/** What is known of these markets before the catalogue writes them; holds the rollups for the transaction. */
export async function marketsBefore(client: PoolClient, condition_ids: readonly string[]): Promise<MarketsBefore> {
  await lockRollups(client);
  return listBookMarkets(sqlOf(client), condition_ids);
}

const NEXT_HOLDERS: Statement = {
  name: 'pm_settle_holders',
  text: `SELECT ${POSITION_NAMES.join(', ')} FROM pm_position
WHERE condition_id = ANY($1) AND (condition_id, wallet, token_id) > ($2, $3, $4) ORDER BY condition_id, wallet, token_id LIMIT $5`,
};

const CHUNK = 10_000;

/** All positions on these markets, whole groups at a time. */
async function* holdersOf(sql: Sql, condition_ids: readonly string[]): AsyncGenerator<Map<string, PositionRow[]>> {
  let rest: PositionRow[] = [];
  for (let last: PositionRow | undefined; ;) {
    const after = [last?.condition_id ?? '', last?.wallet ?? '', last?.token_id ?? ''];
    const rows = await sql.query<PositionRow>(NEXT_HOLDERS, [condition_ids, ...after, CHUNK]);
    const groups = groupedBy([...rest, ...rows], keyOf);
    last = rows.at(-1);
    const isEnd = last === undefined || rows.length < CHUNK;
    rest = isEnd ? [] : (groups.get(keyOf(last as PositionRow)) ?? []);
    if (!isEnd) groups.delete(keyOf(last as PositionRow));
    yield groups;
    if (isEnd) return;
  }
}

/** Brings positions up to markets just written: resolutions, and tokens or groups that were not known before. Tells the markets that had ended otherwise. */
export async function settlePositions(client: PoolClient, before: MarketsBefore, written: readonly string[]): Promise<string[]> {
  const sql = sqlOf(client);
  const after = await listBookMarkets(sql, written);
  const reshaped = written.filter((id) => shapeOf(before.get(id)) !== shapeOf(after.get(id)));
  const settled = written.filter((id) => before.has(id) && resultOf(before.get(id)) !== resultOf(after.get(id)));
  const left = reshaped.flatMap((id) => before.get(id)?.neg_risk_id ?? []);
  const groups = [...(await listMovers(sql, [...new Set([...reshaped, ...settled])])), ...(await listTied(sql, reshaped, left))];
  const anew = new Map(groups.map((group) => [keyOf(group), group]));
  if (settled.length > 0) {
    for await (const holders of holdersOf(sql, settled)) await settleChunk(sql, holders, after, anew);
  }
  await computePositions(sql, [...anew.values()], undefined, (rows, of) => replacePositions(sql, rows, of));
  const otherwise = settled.filter((id) => before.get(id)?.resolved_at);
  if (otherwise.length > 0) await sql.query(NOTE_OTHERWISE, [otherwise]);
  return otherwise;
}

/** Settles what ends with the resolution; adds to `anew` what does not. */
async function settleChunk(
  sql: Sql,
  holders: ReadonlyMap<string, PositionRow[]>,
  markets: MarketsBefore,
  anew: Map<string, Group>,
): Promise<void> {
  const rows: PositionRow[] = [];
  for (const [key, own] of holders) {
    const { wallet, condition_id } = own[0] as PositionRow;
    const market = markets.get(condition_id) as BookMarket;
    if (anew.has(key)) continue;
    if (isBefore(own, market)) rows.push(...new Book(wallet, [market], own).run([], new Map()).rows());
    else anew.set(key, { wallet, condition_id });
  }
  await writePositions(sql, rows);
}

const NOTE_OTHERWISE: Statement = { name: 'pm_settle_otherwise', text: NOTE_MARKETS };

const shapeOf = (market: BookMarket | undefined): string => JSON.stringify([market?.tokens, market?.neg_risk_id]);

const resultOf = (market: BookMarket | undefined): string =>
  JSON.stringify([market?.resolved_at, market?.is_voided, market?.payouts && [...market.payouts]]);

/** Whether nothing happened after the resolution that was known, nor after the one that is known now. */
function isBefore(kept: readonly PositionRow[], market: BookMarket | undefined): boolean {
  const last = Math.max(...kept.map(({ last_fact_at }) => last_fact_at.getTime()));
  const settled = kept.find(({ settled_at }) => settled_at !== null)?.settled_at ?? null;
  return (settled === null || last <= settled.getTime()) && (market?.resolved_at == null || last <= market.resolved_at.getTime());
}
