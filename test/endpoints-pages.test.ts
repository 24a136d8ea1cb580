import http from 'node:http';
import { VENUES } from '../src/wings';
import type { Endpoint } from '../src/endpoints/endpoint';
import { runScores } from '../src/workers/scores';
import { type Input, ask, requestOf } from './support/ask';
import { ENDPOINTS } from './support/catalogue';
import { testDatabase } from './support/database';
import { type OpenGateway, startOpenGateway } from './support/open-gateway';
import { type Subjects, loosestInput, subjectsOf } from './support/subjects';
import { loadWorld } from './support/world';

// Pages of a list do not repeat or skip a row while new rows arrive, and old ones leave its window, between them: what the first page began, the
// last one ends.

const START = new Date('2026-02-20T00:00:00Z');
const SOON = new Date('2026-03-02T00:00:00Z');
const LATER = new Date('2026-03-03T00:00:00Z');
const PAGED = ENDPOINTS.filter(({ parameters }) => parameters.some(({ name }) => name === 'cursor'));
/** Every paged list as wide as it may be, and those that have a window over the last day: when it is read on nothing of that day is in the window any more. */
const LISTS = PAGED.flatMap((endpoint): [string, Endpoint, Input][] => [
  [endpoint.name, endpoint, {}],
  ...(endpoint.parameters.some(({ name }) => name === 'timeframe')
    ? [[`${endpoint.name} of a day`, endpoint, { timeframe: '24h' }] as [string, Endpoint, Input]]
    : []),
]);
const PAGE = 5;
const MOST_PAGES = 16;

let database: Awaited<ReturnType<typeof testDatabase>>;
let before: OpenGateway;
let after: OpenGateway;
const subjects: Partial<Record<Endpoint['venue'], Subjects>> = {};
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });

interface Page {
  data: unknown;
  meta: { next_cursor: string | null };
}

/** The first page of every paged list, asked before the new rows, and the whole list as it stood then. */
const begun = new Map<string, { first: Page; whole: readonly unknown[] }>();

beforeAll(async () => {
  database = await testDatabase();
  for (const venue of VENUES) {
    await loadWorld(database.pool, venue.name, 4_000, START, SOON);
    await runScores(database.pool, venue, SOON, () => undefined);
    subjects[venue.name] = await subjectsOf(database.pool, venue.name);
  }
  [before, after] = await Promise.all([startOpenGateway(database, SOON), startOpenGateway(database, LATER)]);
  for (const [name, endpoint, input] of LISTS) {
    const whole = await page(before, endpoint, { ...input, limit: PAGE * MOST_PAGES });
    begun.set(name, { first: await page(before, endpoint, { ...input, limit: PAGE }), whole: rowsOf(whole) });
  }
  for (const venue of VENUES) await loadWorld(database.pool, venue.name, 4_000, SOON, LATER, START);
});
afterAll(async () => {
  agent.destroy();
  await Promise.all([before.close(), after.close()]);
  await database.drop();
});

async function page(gateway: OpenGateway, endpoint: Endpoint, change: Input): Promise<Page> {
  const { path, body } = requestOf(endpoint, { ...loosestInput(endpoint, subjects[endpoint.venue] as Subjects), ...change });
  const told = await ask(gateway.url, agent, endpoint.method, path, body);
  expect([endpoint.name, told.status, told.status === 200 ? '' : told.body]).toEqual([endpoint.name, 200, '']);
  return JSON.parse(told.body) as Page;
}

/** The rows of a page: the answer, or the one list in it that is not a summary. */
function rowsOf({ data }: Page): readonly Record<string, unknown>[] {
  if (Array.isArray(data)) return data as Record<string, unknown>[];
  return (data as { trades: Record<string, unknown>[] }).trades;
}

test.each(LISTS)('%s', async (name, endpoint, input) => {
  const { first, whole } = begun.get(name) as NonNullable<ReturnType<typeof begun.get>>;
  const rows = [...rowsOf(first)];
  let cursor = first.meta.next_cursor;
  while (cursor !== null && rows.length < PAGE * MOST_PAGES) {
    const next = await page(after, endpoint, { ...input, limit: PAGE, cursor });
    rows.push(...rowsOf(next));
    cursor = next.meta.next_cursor;
  }
  expect(rows.map(keyOf)).toEqual(whole.map((row) => keyOf(row as Record<string, unknown>)));
  expect(new Set(rows.map(keyOf)).size).toBe(rows.length);
  expect(rows.length).toBeGreaterThan(PAGE);
});

/** What a row is about and when: figures that go on changing are left out. */
function keyOf(row: Record<string, unknown>): string {
  const names = ['trade_id', 'condition_id', 'wallet', 'trader', 'coin', 'timestamp', 'side', 'direction', 'tx_hash', 'TxId', 'tx_id', 'Owner', 'owner', 'EventType', 'event_type', 'PositionAddress', 'position_address', 'PoolAddress', 'size', 'Timestamp']; // prettier-ignore
  return JSON.stringify(names.flatMap((name) => (name in row ? [[name, row[name]]] : [])));
}
