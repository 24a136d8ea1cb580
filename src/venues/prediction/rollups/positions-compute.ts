import type { Sql } from '../../../db/sql';
import { groupedBy } from '../../../lib/grouped';
import { BEGINNING, END, type Window } from '../../../lib/timeframe';
import { Book, type BookMarket, type ConvertedShares } from './positions-book';
import type { PositionRow } from './positions-row';
import { lifeOf } from '../queries/lives';
import { type Group, listBookFacts, listBookMarkets, listSetPrices, listTies } from './positions-store';

/** A wallet and the markets that are computed together. */
interface Bundle {
  wallet: string;
  condition_ids: string[];
}

/** Groups computed from facts at once: what fits into memory and one statement. */
const CHUNK = 2_000;

export const keyOf = ({ wallet, condition_id }: Group): string => `${wallet}|${condition_id}`;

/** Each group once. */
export const distinct = (groups: readonly Group[]): Group[] => [...new Map(groups.map((group) => [keyOf(group), group])).values()];

const EVER: Window = { from: BEGINNING, to: END };

/** Up to when facts and resolutions count. */
export interface AsOf {
  /** Rows before it. */
  facts: Date;
  /** Resolutions up to it. */
  resolutions: Date;
}

/**
 * Positions of these groups from facts (all that are known, where no `as_of` is given); where conversions tie markets
 * together, the positions of all markets so tied. `told` is handed each chunk as it is done: all positions there are of the groups it names.
 */
export async function computePositions(
  sql: Sql,
  groups: readonly Group[],
  as_of: AsOf | undefined,
  told: (rows: PositionRow[], of: readonly Group[]) => Promise<void> | void,
): Promise<void> {
  for (let first = 0; first < groups.length; first += CHUNK) {
    const { rows, of } = await computeChunk(sql, groups.slice(first, first + CHUNK), as_of);
    await told(rows, of);
  }
}

async function computeChunk(
  sql: Sql,
  groups: readonly Group[],
  as_of: AsOf | undefined,
): Promise<{ rows: PositionRow[]; of: readonly Group[] }> {
  const { books, of } = await openBooks(sql, groups, as_of);
  return { rows: books.flatMap((book) => book.rows()), of };
}

/** Books of these groups, run over their facts; `of`: all groups that they tell of. */
async function openBooks(sql: Sql, groups: readonly Group[], as_of: AsOf | undefined): Promise<{ books: Book[]; of: readonly Group[] }> {
  const named = await listBookMarkets(sql, [...new Set(groups.map(({ condition_id }) => condition_id))], as_of?.resolutions);
  const bundles = await bundle(sql, groups, named);
  const further = [...new Set(bundles.flatMap(({ condition_ids }) => condition_ids))].filter((id) => !named.has(id));
  const markets = new Map([...named, ...(await listBookMarkets(sql, further, as_of?.resolutions))]);
  const of = bundles.flatMap(({ wallet, condition_ids }) => condition_ids.map((condition_id) => ({ wallet, condition_id })));
  // While positions are written, the hours of what is new may not be yet.
  const life = as_of === undefined ? EVER : await lifeOf(sql, of.map(({ condition_id }) => condition_id), as_of.facts); // prettier-ignore
  const facts = await listBookFacts(sql, of, life);
  const prices = await listSetPrices(sql, facts, markets);
  const byGroup = groupedBy(facts, keyOf);
  const books = bundles.map(({ wallet, condition_ids }) => {
    const own = condition_ids.flatMap((condition_id) => byGroup.get(keyOf({ wallet, condition_id })) ?? []);
    return new Book(wallet, condition_ids.flatMap((id) => markets.get(id) ?? []), []).run(own, prices); // prettier-ignore
  });
  return { books, of };
}

/** What conversions before `now` moved in these groups, at average cost (what resolutions realized is left in it), by `keyOf`. */
export async function listConverted(sql: Sql, groups: readonly Group[], now: Date): Promise<Map<string, ConvertedShares[]>> {
  if (groups.length === 0) return new Map();
  const { books } = await openBooks(sql, groups, { facts: now, resolutions: BEGINNING });
  return groupedBy(
    books.flatMap(({ wallet, converted }) => converted.map((move) => ({ ...move, wallet }))),
    keyOf,
  );
}

async function bundle(sql: Sql, groups: readonly Group[], markets: ReadonlyMap<string, BookMarket>): Promise<Bundle[]> {
  const { tied, siblings } = await listTies(sql, groups, markets);
  const bundles = new Map<string, Bundle>();
  for (const { wallet, condition_id } of groups) {
    const group = markets.get(condition_id)?.neg_risk_id;
    const key = group && tied.has(`${wallet}|${group}`) ? `${wallet}|${group}` : `${wallet}|${condition_id}`;
    const condition_ids = group && key.endsWith(group) ? (siblings.get(group) ?? [condition_id]) : [condition_id];
    bundles.set(key, { wallet, condition_ids });
  }
  return [...bundles.values()];
}
