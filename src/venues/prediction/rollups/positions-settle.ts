import type { PoolClient } from 'pg';
import type { Statement } from '../../../db/sql';
import { lockRollups, listMovers, sqlOf } from './positions';
import { Book, type BookMarket } from './positions-book';
import { computePositions, keyOf, listsBy } from './positions-compute';
import { POSITION_COLUMNS, type PositionRow } from './positions-row';
import { type Group, listBookMarkets, writePositions } from './positions-store';

export type MarketsBefore = ReadonlyMap<string, BookMarket>;

/** What is known of these markets before the catalogue writes them; holds the rollups for the transaction. */
export async function marketsBefore(client: PoolClient, condition_ids: readonly string[]): Promise<MarketsBefore> {
  await lockRollups(client);
  return listBookMarkets(sqlOf(client), condition_ids);
}

const NEXT_HOLDERS: Statement = {
  name: 'pm_settle_holders',
  text: `SELECT ${POSITION_COLUMNS.map(([name]) => name).join(', ')} FROM pm_position WHERE condition_id = $1 AND wallet IN (
  SELECT wallet FROM pm_position WHERE condition_id = $1 AND wallet > $2 GROUP BY wallet ORDER BY wallet LIMIT $3) ORDER BY wallet`,
};

const CHUNK = 5_000;

/** Brings positions up to markets just written: resolutions, and tokens or groups that were not known before. */
export async function settlePositions(client: PoolClient, before: MarketsBefore, written: readonly string[]): Promise<void> {
  const sql = sqlOf(client);
  const known = written.filter((id) => before.has(id));
  const after = await listBookMarkets(sql, known);
  const reshaped = known.filter((id) => shapeOf(before.get(id)) !== shapeOf(after.get(id)));
  const settled = known.filter((id) => resultOf(before.get(id)) !== resultOf(after.get(id)));
  const anew = new Map((await listMovers(sql, [...new Set([...reshaped, ...settled])])).map((group) => [keyOf(group), group]));
  for (const condition_id of settled) {
    const market = after.get(condition_id) as BookMarket;
    for (let wallet = ''; ;) {
      const kept = await sql.query<PositionRow & Record<string, unknown>>(NEXT_HOLDERS, [condition_id, wallet, CHUNK]);
      if (kept.length === 0) break;
      const rows: PositionRow[] = [];
      for (const [holder, own] of listsBy(kept, (row) => row.wallet)) {
        const group: Group = { wallet: holder, condition_id };
        if (anew.has(keyOf(group))) continue;
        if (isBefore(own, market)) rows.push(...new Book(holder, [market], own).run([], new Map()).rows());
        else anew.set(keyOf(group), group);
      }
      await writePositions(sql, rows);
      wallet = kept.at(-1)?.wallet ?? '';
    }
  }
  await computePositions(sql, [...anew.values()], undefined, (rows) => writePositions(sql, rows));
}

const shapeOf = (market: BookMarket | undefined): string => JSON.stringify([market?.tokens, market?.neg_risk_id]);

const resultOf = (market: BookMarket | undefined): string =>
  JSON.stringify([market?.resolved_at, market?.is_voided, market?.payouts && [...market.payouts]]);

/** Whether nothing happened after the resolution that was known, nor after the one that is known now. */
function isBefore(kept: readonly PositionRow[], market: BookMarket | undefined): boolean {
  const last = Math.max(...kept.map(({ last_fact_at }) => last_fact_at.getTime()));
  const settled = kept.find(({ settled_at }) => settled_at !== null)?.settled_at ?? null;
  return (settled === null || last <= settled.getTime()) && (market?.resolved_at == null || last <= market.resolved_at.getTime());
}
