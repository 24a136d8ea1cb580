import type { Reply } from './upstream-server';

/** A row of a wallet's history and which listing tells it to everybody. */
export interface ToldRow {
  taker: boolean;
  row: Record<string, unknown>;
}

/** What a listing is made from. */
interface Told {
  /** Oldest first. */
  rows: readonly ToldRow[];
  /** The same by wallet. */
  byWallet: ReadonlyMap<string, readonly ToldRow[]>;
  /** Rows that are not told. */
  hides(row: Readonly<Record<string, unknown>>): boolean;
  /** Markets by condition id, as they stand. */
  catalogue: ReadonlyMap<string, Record<string, unknown>>;
}

/** One path of the upstream: its parameters, caps and order as documented or seen. */
export type Listing = (told: Told, query: URLSearchParams) => Reply;

const ok = (body: unknown): Reply => ({ status: 200, body });
const refused = (status: number, error: string): Reply => ({ status, body: { error } });

const whole = (query: URLSearchParams, name: string, fallback: number): number => {
  const value = Number(query.get(name) ?? fallback);
  return Number.isInteger(value) && value >= 0 ? value : fallback;
};

const idsOf = (query: URLSearchParams, name: string): string[] =>
  query
    .getAll(name)
    .flatMap((value) => value.split(','))
    .filter(Boolean);

/** The markets that a listing is of, in its order; a string is why it is refused. Without `closed` only open markets. */
function listed({ catalogue }: Told, query: URLSearchParams): Record<string, unknown>[] | string {
  const ids = idsOf(query, 'condition_ids');
  if (ids.length > 100) return 'too many condition_ids';
  const closed = query.get('closed') === 'true';
  const order = query.get('order') ?? 'id';
  const found = [...catalogue.values()].filter(
    (market) => market.closed === closed && (ids.length === 0 || ids.includes(String(market.conditionId))),
  );
  const sign = query.get('ascending') === 'true' ? 1 : -1;
  found.sort((a, b) => sign * (compare(a[order], b[order]) || compare(a.conditionId, b.conditionId)));
  return query.get('include_tag') === 'true' ? found : found.map(({ tags: _, ...market }) => market);
}

const MARKETS_AT_MOST = 100;
const pageSize = (query: URLSearchParams): number => Math.min(MARKETS_AT_MOST, whole(query, 'limit', 20));

/** `/markets`: at most 100, silently; offsets beyond 10,000 are refused. */
export const markets: Listing = (told, query) => {
  const offset = whole(query, 'offset', 0);
  const found = offset > 10_000 ? 'offset too large' : listed(told, query);
  return typeof found === 'string' ? refused(422, found) : ok(found.slice(offset, offset + pageSize(query)));
};

/** `/markets/keyset`: pages that begin behind a market of the page before, in place of offsets; the last one names no next. */
export const marketsByCursor: Listing = (told, query) => {
  const found = query.has('offset') ? 'offset is not supported' : listed(told, query);
  if (typeof found === 'string') return refused(422, found);
  const after = query.get('after_cursor');
  const start = after === null ? 0 : found.findIndex(({ conditionId }) => cursorOf(conditionId) === after) + 1;
  if (after !== null && start === 0) return refused(422, 'invalid cursor');
  const page = found.slice(start, start + pageSize(query));
  const more = start + page.length < found.length;
  return ok({ markets: page, ...(more && { next_cursor: cursorOf(page.at(-1)?.conditionId) }) });
};

const cursorOf = (conditionId: unknown): string => Buffer.from(String(conditionId)).toString('base64url');

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

/** Highest offset that is really served. */
const OFFSET_CAP = 3_000;

/** Rows of [start, end], both included, newest first, one page of them: those that `tells` makes something of. */
function page(
  rows: readonly ToldRow[],
  query: URLSearchParams,
  most: number,
  tells: (row: ToldRow) => Record<string, unknown> | null,
): Reply {
  const [limit, offset] = [Math.min(most, whole(query, 'limit', 100)), whole(query, 'offset', 0)];
  if (offset > OFFSET_CAP) return refused(400, `max historical activity offset of ${OFFSET_CAP} exceeded`);
  const [start, end] = [whole(query, 'start', 0), whole(query, 'end', Number.MAX_SAFE_INTEGER)];
  const [side, conditions] = [query.get('side'), idsOf(query, 'market')];
  const wanted = (row: Record<string, unknown>): boolean =>
    (side === null || row.side === side) && (conditions.length === 0 || conditions.includes(String(row.conditionId)));
  const found = between(rows, start, end).flatMap((told) => {
    const row = tells(told);
    return row !== null && wanted(row) ? [row] : [];
  });
  return ok(found.reverse().slice(offset, offset + limit));
}

function between(rows: readonly ToldRow[], start: number, end: number): ToldRow[] {
  return rows.slice(firstAt(rows, start), firstAt(rows, end + 1));
}

function firstAt(rows: readonly ToldRow[], second: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (((rows[middle] as ToldRow).row.timestamp as number) < second) low = middle + 1;
    else high = middle;
  }
  return low;
}

const isFill = (row: Record<string, unknown>): boolean => row.side === 'BUY' || row.side === 'SELL';

/** `/trades`: fills; of takers alone unless `takerOnly=false`; at most 1,000 a page. */
export const trades: Listing = ({ rows, byWallet, hides }, query) => {
  const everybody = query.get('takerOnly') === 'false';
  const user = query.get('user')?.toLowerCase();
  return page(user === undefined ? rows : (byWallet.get(user) ?? []), query, 1_000, ({ taker, row }) => {
    if (!isFill(row) || !(everybody || taker) || hides(row)) return null;
    const { type: _type, usdcSize: _usdc, ...trade } = row;
    return trade;
  });
};

/** `/activity`: one wallet's rows of some types; at most 500 a page. */
export const activity: Listing = ({ byWallet, hides }, query) => {
  const user = query.get('user')?.toLowerCase();
  if (user === undefined) return refused(400, 'required query param user not provided');
  const types = idsOf(query, 'type');
  return page(byWallet.get(user) ?? [], query, 500, ({ row }) => {
    if (hides(row)) return null;
    const told: Record<string, unknown> = { type: 'TRADE', usdcSize: usdcOf(row), ...row };
    return types.length === 0 || types.includes(String(told.type)) ? told : null;
  });
};

const usdcOf = (row: Record<string, unknown>): number => Math.round((row.size as number) * (row.price as number) * 1e6) / 1e6;
