import type { PoolClient } from 'pg';
import { copyRows } from '../../../db/copy';
import { fillEmptied } from '../../../db/indexes';
import { type Sql, type Statement, sqlOf } from '../../../db/sql';
import { forgetCrowds } from './crowd-due';
import { forgetSettled } from './told-settled';
import { lockRollups } from './positions';
import { Book, type BookMarket, type PricesOf } from './positions-book';
import type { BookFact } from './positions-facts';
import { computePositions } from './positions-compute';
import { POSITION_NAMES, type PositionRow } from './positions-row';
import { refillSmart } from './smart-positions';
import { forgetStandings } from './standings-due';
import { millisecondsOf } from '../../../lib/tiles';
import { type Group, listBookMarkets, listSetPrices, writePositions } from './positions-store';

/** Facts read and worked on at once. */
const CHUNK = 20_000;

// Sorted as a whole by the server; a plan for the first rows only would go through the index, row by row all over the table.
const OPEN = `SET LOCAL cursor_tuple_fraction = 1;
DECLARE pm_book_stream NO SCROLL CURSOR FOR
SELECT trade_id, wallet, condition_id, token_id, side, size, usdc_size, ${millisecondsOf('"timestamp"')}, tx_hash FROM pm_trade ORDER BY condition_id, wallet`;

const TIED: Statement = {
  name: 'pm_book_tied',
  text: `SELECT trade.wallet, market.neg_risk_id, min(trade.condition_id) AS condition_id FROM pm_trade AS trade JOIN pm_market AS market ON market.condition_id = trade.condition_id
WHERE trade.side = 'CONVERSION' AND market.neg_risk_id IS NOT NULL GROUP BY trade.wallet, market.neg_risk_id`,
};

type FactCells = [string, string, string, string | null, string, string, string, string, string | null];

const factOf = ([trade_id, wallet, condition_id, token_id, side, size, usdc_size, at, tx_hash]: FactCells): BookFact => ({
  trade_id,
  wallet,
  condition_id,
  token_id,
  side,
  size,
  usdc_size,
  timestamp: new Date(Number(at)),
  tx_hash,
});

const AS_TEXT = { getTypeParser: () => (text: string) => text };

/** All facts by market and wallet, as rows come; no group is ever torn between two chunks. */
async function* factsInGroups(client: PoolClient): AsyncGenerator<BookFact[][]> {
  await client.query(OPEN);
  const fetch = async (): Promise<FactCells[]> =>
    (await client.query<FactCells>({ text: `FETCH ${CHUNK} FROM pm_book_stream`, rowMode: 'array', types: AS_TEXT as never })).rows;
  let open: BookFact[] = [];
  // The next rows are read while these are worked on.
  for (let next = fetch(); ;) {
    const rows = await next;
    if (rows.length > 0) {
      next = fetch();
      // Its failure is met at the next turn; until then it must not count as unhandled.
      next.catch(() => undefined);
    }
    const groups: BookFact[][] = [];
    for (const fact of rows.map(factOf)) {
      const last = open.at(-1);
      if (last !== undefined && (last.wallet !== fact.wallet || last.condition_id !== fact.condition_id)) {
        groups.push(open);
        open = [];
      }
      open.push(fact);
    }
    if (rows.length === 0 && open.length > 0) groups.push(open);
    if (groups.length > 0) yield groups;
    if (rows.length === 0) break;
  }
  await client.query('CLOSE pm_book_stream');
}

const idOf = (group: readonly BookFact[]): string => (group[0] as BookFact).condition_id;

/** Positions of whole groups, but for those that conversions tie to others: `wallet|neg_risk_id`. Computed as they are asked for. */
async function positionsOf(
  sql: Sql,
  groups: readonly (readonly BookFact[])[],
  markets: ReadonlyMap<string, BookMarket>,
  tied: ReadonlySet<string>,
): Promise<Iterable<PositionRow>> {
  const own = groups.filter((group) => !tied.has(`${(group[0] as BookFact).wallet}|${markets.get(idOf(group))?.neg_risk_id}`));
  return booked(own, markets, await listSetPrices(sql, own.flat(), markets));
}

function* booked(
  groups: readonly (readonly BookFact[])[],
  markets: ReadonlyMap<string, BookMarket>,
  prices: PricesOf,
): Generator<PositionRow> {
  for (const group of groups)
    yield* new Book((group[0] as BookFact).wallet, [markets.get(idOf(group)) as BookMarket]).run(group, prices).rows();
}

function* cellsOf(rows: Iterable<PositionRow>): Generator<PositionRow[keyof PositionRow][]> {
  for (const row of rows) yield POSITION_NAMES.map((name) => row[name]);
}

/** Makes all positions anew from facts, inside the caller's transaction: facts stream by in order of their groups, so memory stays what a chunk takes. */
export async function rebuildPositions(client: PoolClient, is_first_load = false): Promise<void> {
  await lockRollups(client);
  await fillEmptied(client, is_first_load ? ['pm_position'] : [], async () => {
    await client.query('DELETE FROM pm_position');
    await client.query('DELETE FROM pm_told_wallet');
    await forgetStandings(client);
    await forgetCrowds(client);
    await forgetSettled(client);
    const sql = sqlOf(client);
    const ties = await sql.query<Group & { neg_risk_id: string }>(TIED, []);
    const tied = new Set(ties.map(({ wallet, neg_risk_id }) => `${wallet}|${neg_risk_id}`));
    for await (const groups of factsInGroups(client)) {
      const markets = await listBookMarkets(sql, [...new Set(groups.map(idOf))]);
      // The server writes the first of them while the next are computed.
      await copyRows(client, 'pm_position', POSITION_NAMES, cellsOf(await positionsOf(sql, groups, markets, tied)));
    }
    await computePositions(sql, ties, undefined, (rows) => writePositions(sql, rows));
    await refillSmart(client);
  });
}
