import DataLoader from 'dataloader';
import { AppError } from '../errors';
import { CURSOR_FORMS, type CursorForm, type CursorPosition, decodeCursor, encodeCursor } from './cursor';
import { groupedBy } from './grouped';

/** One page of a list, in the terms of GraphQL's cursor connections. */
export interface Connection<Node> {
  nodes: Node[];
  page_info: { end_cursor: string | null; has_next_page: boolean };
}

/** Which page: the `first` rows behind the cursor `after`. */
export interface PageArgs {
  first: number;
  after?: string | null;
}

/** What every page of a list is asked for. */
export interface PageRequest<Filter> {
  filter: Filter;
  /** The list as of this instant, the same on all its pages. */
  to: Date;
  /** The last row of the page before; null on the first page. */
  after: CursorPosition | null;
  limit: number;
}

/** Rows that belong to parents, told by a key that never changes once a row is there. */
export interface PagedList<Row, Filter> {
  /** Names the list in its cursors. */
  name: string;
  /** At most `limit` rows of each parent behind `after`, in order, by parent: one statement for all parents. */
  list(parents: readonly string[], request: PageRequest<Filter>): Promise<ReadonlyMap<string, Row[]>>;
  position(row: Row): CursorPosition;
  /** What the values of a position look like. */
  forms: readonly CursorForm[];
}

/** A page of one parent's rows. */
export interface PageKey<Filter> extends PageArgs {
  parent: string;
  filter: Filter;
}

/** Loads pages of a list. */
export type Pages<Row, Filter> = DataLoader<PageKey<Filter>, Connection<Row>, string>;

/** Most rows of one page. */
export const MOST_FIRST = 100;

/**
 * Pages of a list by parent. Pages asked for in one tick with the same arguments are read together. A cursor carries the instant of
 * the first page, so that what arrives meanwhile shifts nothing. Throws AppError invalid_parameter for `first` outside 1..100
 * and for a cursor of another list.
 */
export function pageLoader<Row, Filter>(list: PagedList<Row, Filter>, now: Date): Pages<Row, Filter> {
  return new DataLoader((keys) => loadPages(list, keys, now), {
    cacheKeyFn: ({ parent, filter, first, after }) => JSON.stringify([parent, filter, first, after ?? null]),
  });
}

async function loadPages<Row, Filter>(
  list: PagedList<Row, Filter>,
  keys: readonly PageKey<Filter>[],
  now: Date,
): Promise<(Connection<Row> | Error)[]> {
  const pages: (Connection<Row> | Error)[] = [];
  const together = new Map<string, { request: PageRequest<Filter>; members: { key: PageKey<Filter>; index: number }[] }>();
  keys.forEach((key, index) => {
    const request = requestOf(list, key, now);
    if (request instanceof Error) return void (pages[index] = request);
    const text = JSON.stringify(request);
    const batch = together.get(text) ?? { request, members: [] };
    batch.members.push({ key, index });
    together.set(text, batch);
  });
  await Promise.all(
    [...together.values()].map(async ({ request, members }) => {
      const rows = await list.list(
        members.map(({ key }) => key.parent),
        request,
      );
      for (const { key, index } of members) pages[index] = pageOf(list, key, rows.get(key.parent) ?? [], request.to);
    }),
  );
  return pages;
}

const scopeOf = <Row, Filter>(list: PagedList<Row, Filter>, { parent, filter }: PageKey<Filter>): unknown => [list.name, parent, filter];

function requestOf<Row, Filter>(list: PagedList<Row, Filter>, key: PageKey<Filter>, now: Date): PageRequest<Filter> | Error {
  const { first, filter } = key;
  if (!Number.isInteger(first) || first < 1 || first > MOST_FIRST) return refused('first', `must be 1 to ${MOST_FIRST}`, first);
  if (key.after == null) return { filter, to: now, after: null, limit: first + 1 };
  try {
    const [to, ...after] = decodeCursor(key.after, scopeOf(list, key), [CURSOR_FORMS.instant, ...list.forms]);
    return Number(to) <= now.getTime()
      ? { filter, to: new Date(Number(to)), after, limit: first + 1 }
      : refused('after', 'is not a cursor of this list', key.after);
  } catch {
    return refused('after', 'is not a cursor of this list; send the other arguments unchanged', key.after);
  }
}

const refused = (param: string, issue: string, got: unknown): AppError =>
  new AppError('invalid_parameter', { message: `${param} ${issue}.`, details: [{ param, issue, got }] });

function pageOf<Row, Filter>(list: PagedList<Row, Filter>, key: PageKey<Filter>, rows: readonly Row[], to: Date): Connection<Row> {
  const nodes = rows.slice(0, key.first);
  const last = nodes.at(-1);
  const end = last === undefined ? null : encodeCursor([to.getTime(), ...list.position(last)], scopeOf(list, key));
  return { nodes, page_info: { end_cursor: end, has_next_page: rows.length > key.first } };
}

/** Rows by the parent each of them names. */
export const byParent = <Row>(rows: readonly (Row & { parent: string })[]): Map<string, Row[]> => groupedBy(rows, ({ parent }) => parent);

/** The same page with what its rows stand for. */
export async function mapPage<Row, Node>(page: Connection<Row>, map: (rows: Row[]) => Promise<Node[]> | Node[]): Promise<Connection<Node>> {
  return { nodes: await map(page.nodes), page_info: page.page_info };
}
