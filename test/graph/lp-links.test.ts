import { score } from '../../src/venues/lp/scoring/job';
import type { Connection } from '../../src/lib/connection';
import { testDatabase } from '../support/database';
import { statementsOf } from '../support/statements';
import { type WorldFacts, factsOf, grouped, shown } from '../venues/lp/oracle';
import { type CountedPosition, livesOf, positionsAt } from '../venues/lp/positions-oracle';
import { loadAtOnce } from '../support/world';
import { START, simulated } from '../venues/lp/world';
import { explore } from './explore';

const DAY = 86_400_000;
/** A day before the last facts: those are to be ignored. */
const NOW = new Date(START.getTime() + 17 * DAY + 5 * 3_600_000 + 41_000);
const END = new Date(START.getTime() + 19 * DAY);

let db: Awaited<ReturnType<typeof testDatabase>>;
let facts: WorldFacts;
let positions: CountedPosition[];
let owner: string;
let pool: string;

beforeAll(async () => {
  db = await testDatabase();
  await loadAtOnce(db.pool, 'lp', simulated(4_000, 18).pages);
  await score(db.pool, NOW, () => undefined);
  facts = await factsOf(db.pool);
  positions = positionsAt(facts, await livesOf(db.pool), NOW.getTime());
  const before = facts.events.filter((event) => event.at < NOW.getTime() && event.owner !== null);
  const busiest = (key: 'owner' | 'pool'): string =>
    [...grouped(before, (event) => event[key] as string)].sort((a, b) => b[1].length - a[1].length)[0]?.[0] as string;
  owner = busiest('owner');
  pool = busiest('pool');
});
afterAll(() => db.drop());

const ask = <T>(source: string, at = NOW): Promise<T> => explore<T>(db, at, source);
type Row = Record<string, unknown>;

/** All rows of a list, `size` a page. */
async function walk(entry: string, field: string, args: string, node: string, size: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (let after = ''; ;) {
    const { from } = await ask<{ from: { list: Connection<Row> } }>(
      `{ from: ${entry} { list: ${field}(first: ${size}${after}${args}) { nodes { ${node} } page_info { end_cursor has_next_page } } } }`,
    );
    rows.push(...from.list.nodes);
    if (!from.list.page_info.has_next_page) return rows;
    after = `, after: "${from.list.page_info.end_cursor}"`;
  }
}

const EVENT =
  '... on LpEvent { owner tx_id timestamp usd_total event_type pool { pool_address } provider { owner } position { position_address } }';
const second = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

test.each([
  ['pool', () => `pool(pool_address: "${pool}")`, () => facts.events.filter((event) => event.pool === pool)],
  ['provider', () => `provider(owner: "${owner}")`, () => facts.events.filter((event) => event.owner === owner)],
] as const)('all events of a %s, page by page, are its facts before now, and lead back', async (_, entry, own) => {
  const rows = await walk(entry(), 'events', ', field_case: snake', EVENT, 7);
  const expected = own().filter((event) => event.at < NOW.getTime());
  const line = (tx: unknown, at: unknown, usd: unknown): string => `${String(at)} ${String(tx)} ${String(usd)}`;
  expect(rows.map((row) => line(row.tx_id, row.timestamp, row.usd_total)).sort()).toEqual(
    expected.map((event) => line(event.tx, second(event.at), event.usd === null ? null : shown(event.usd))).sort(),
  );
  expect(rows.map((row) => row.timestamp)).toEqual(
    rows
      .map((row) => row.timestamp)
      .sort()
      .reverse(),
  );
  expect(rows.map((row) => (row.provider as { owner: string } | null)?.owner ?? null)).toEqual(rows.map((row) => row.owner));
  expect(rows.every((row) => (row.pool as { pool_address: string }).pool_address !== '')).toBe(true);
  expect(rows.filter((row) => row.position !== null).length).toBeGreaterThan(0);
});

test('a pool is there from when it was made', async () => {
  const { rows } = await db.pool.query<{ id: string; made: Date }>(
    'SELECT pool_address AS id, created_at AS made FROM lp_pool WHERE created_at > $1 ORDER BY created_at DESC LIMIT 1',
    [START],
  );
  const [{ id, made }] = rows as [(typeof rows)[number]];
  const asked = (at: number): Promise<unknown> => ask(`{ pool(pool_address: "${id}") { pool_address } }`, new Date(at));
  expect([await asked(made.getTime() - 1), await asked(made.getTime())]).toEqual([{ pool: null }, { pool: { pool_address: id } }]);
});

test('an event of a list is the same share of its pool as among the large ones', async () => {
  const node = '... on LpEvent { tx_id event_type usd_total pct_of_pool }';
  const { lpLpsWhales: large } = await ask<{ lpLpsWhales: Row[] }>(
    `{ lpLpsWhales(pool_address: "${pool}", min_usd: 1, timeframe: "all", limit: 200, field_case: snake) { ${node} } }`,
  );
  expect(large.filter((row) => row.pct_of_pool !== null).length).toBeGreaterThan(0);
  const listed = await walk(`pool(pool_address: "${pool}")`, 'events', ', field_case: snake', node, 100);
  for (const row of large) expect(listed).toContainEqual(row);
});

test('an event of a question that is sold leads to the same position as in the lists of its pool, of either pool type', async () => {
  const first = (type: string): string =>
    facts.events.find((event) => event.type === type && event.at < NOW.getTime() && event.position !== '')?.pool ?? '';
  for (const type of ['dlmm', 'damm_v2']) {
    const node = '... on LpEvent { tx_id event_type timestamp position { position_address } }';
    const { lpPoolsEvents: sold } = await ask<{ lpPoolsEvents: Row[] }>(
      `{ lpPoolsEvents(pool_address: "${first(type)}", limit: 200, field_case: snake) { ${node} } }`,
    );
    const acts = sold.filter((row) => !/swap/i.test(String(row.event_type)));
    expect(acts.filter((row) => row.position !== null).length).toBeGreaterThan(0);
    const listed = await walk(`pool(pool_address: "${first(type)}")`, 'events', ', field_case: snake', node, 100);
    for (const row of acts) expect(listed).toContainEqual(row);
  }
});

test('events keep the names of their pool types in a union', async () => {
  const rows = await walk(
    `provider(owner: "${owner}")`,
    'events',
    '',
    '__typename ... on DlmmEvent { PoolAddress pool { pool_type } position { position_address pool { pool_address } } } ... on DammV2Event { pool_address pool { pool_type } position { position_address } }',
    100,
  );
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect((row.pool as Row).pool_type).toBe(row.__typename === 'DlmmEvent' ? 'dlmm' : 'damm_v2');
});

test('who swaps is named, and is no provider', async () => {
  const busy = [...facts.swaps].find((swap) => swap.at < NOW.getTime())?.pool;
  const rows = await walk(
    `pool(pool_address: "${busy}")`,
    'events',
    ', action: swap, field_case: snake',
    '... on LpEvent { owner provider { owner } lp_score }',
    100,
  );
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(row).toEqual({ owner: expect.any(String) as string, provider: null, lp_score: null });
});

test('positions of a provider and of a pool: sums and results of the facts', async () => {
  const node =
    'position_address pool_address owner status deposited_usd withdrawn_usd fees_claimed_usd realized_pnl_usd event_count pool { pool_address } provider { owner } events(first: 100) { nodes { __typename } }';
  for (const [entry, own] of [
    [`provider(owner: "${owner}")`, positions.filter((row) => row.owner === owner)],
    [`pool(pool_address: "${pool}")`, positions.filter((row) => row.pool === pool)],
  ] as const) {
    const counted = own.filter((row) => row.closed !== null || row.events.some((event) => event.kind === 'deposit'));
    const rows = await walk(entry, 'positions', '', node, 5);
    expect(rows.length).toBe(counted.length);
    expect(counted.length).toBeGreaterThan(1);
    for (const row of rows) {
      const truth = counted.find((one) => one.position === row.position_address) as CountedPosition;
      expect(row).toEqual({
        position_address: truth.position,
        pool_address: truth.pool,
        owner: truth.owner,
        status: truth.closed === null ? 'open' : 'closed',
        deposited_usd: shown(truth.deposited),
        withdrawn_usd: shown(truth.withdrawn),
        fees_claimed_usd: shown(truth.claimed),
        realized_pnl_usd: truth.pnl === null ? null : shown(truth.pnl),
        event_count: truth.events.length,
        pool: { pool_address: truth.pool },
        provider: truth.owner === null ? null : { owner: truth.owner },
        events: { nodes: truth.events.slice(0, 100).map(() => ({ __typename: truth.type === 'dlmm' ? 'DlmmEvent' : 'DammV2Event' })) },
      });
    }
    const open = await walk(entry, 'positions', ', status: open', 'status', 100);
    expect(open.length).toBe(counted.filter((row) => row.closed === null).length);
  }
});

test('a token leads to its pools and orders, an order to its tokens, and nothing is made up', async () => {
  const { rows: orders } = await db.pool.query<Record<string, string>>(
    `SELECT order_address, owner, input_mint, output_mint FROM dca_event WHERE kind = 'opened' AND "timestamp" < $1 ORDER BY "timestamp" LIMIT 1`,
    [NOW],
  );
  const [order] = orders as [Record<string, string>];
  const { recurringOrder, token } = await ask<Record<string, Row>>(
    `{ recurringOrder(order_address: "${order.order_address}") { order_address owner amount_per_cycle cycle_seconds input_token { mint } output_token { mint } provider { owner recurring_orders(first: 100, open_only: false) { nodes { order_address } } } }
       token(mint: "${order.output_mint}") { mint pools(first: 100) { nodes { token_x_mint token_y_mint } } } }`,
  );
  expect(recurringOrder).toMatchObject({
    order_address: order.order_address,
    owner: order.owner,
    input_token: { mint: order.input_mint },
    output_token: { mint: order.output_mint },
    provider: { owner: order.owner },
  });
  const { provider } = recurringOrder as { provider: { recurring_orders: Connection<Row> } };
  expect(provider.recurring_orders.nodes).toContainEqual({ order_address: order.order_address });
  const pools = (token?.pools as Connection<Row>).nodes;
  expect(pools.length).toBeGreaterThan(0);
  for (const row of pools) expect([row.token_x_mint, row.token_y_mint]).toContain(order.output_mint);
  const placed = await walk(`token(mint: "${order.output_mint}")`, 'buy_orders', ', open_only: false', 'order_address output_mint', 4);
  const opened = await db.pool.query(
    `SELECT DISTINCT order_address FROM dca_event WHERE kind = 'opened' AND output_mint = $2 AND "timestamp" < $1`,
    [NOW, order.output_mint],
  );
  expect(placed.map((row) => row.order_address).sort()).toEqual(opened.rows.map((row: Row) => row.order_address).sort());
  const stranger = '11111111111111111111111111111112';
  expect(
    await ask(
      `{ pool(pool_address: "${stranger}") { name } provider(owner: "${stranger}") { owner } lpPosition(position_address: "${stranger}") { owner } recurringOrder(order_address: "${stranger}") { owner } token(mint: "${stranger}") { symbol } }`,
    ),
  ).toEqual({ pool: null, provider: null, lpPosition: null, recurringOrder: null, token: null });
});

test('rows of open positions lead to their pools, providers and positions, each to its own', async () => {
  const open = positions.filter((row) => row.closed === null && row.owner !== null && row.events.some((event) => event.kind === 'deposit'));
  const { lpPositionsActive: rows } = await ask<{ lpPositionsActive: Row[] }>(
    `{ lpPositionsActive(pool_address: "${open[0]?.pool}", pool_type: all, limit: 50, sort_by: deposited, min_usd: 0) { pool_address owner deposited_usd pool { pool_address } provider { owner } position { position_address pool_address owner deposited_usd status } } }`,
  );
  expect(rows.length).toBeGreaterThan(0);
  for (const { pool_address, owner, deposited_usd, ...row } of rows)
    expect(row).toEqual({
      pool: { pool_address },
      provider: owner === null ? null : { owner },
      position: { position_address: expect.any(String) as string, pool_address, owner, deposited_usd, status: 'open' },
    });
  expect(new Set(rows.map(({ position }) => (position as Row).position_address)).size).toBe(rows.length);
});

test('scores of a provider, newest first, are those of the runs', async () => {
  const rows = await walk(`provider(owner: "${owner}")`, 'score_history', '', 'date score provider { owner }', 3);
  const stored = facts.scores.filter((row) => row.owner === owner).map(({ day, score }) => ({ date: day, score, provider: { owner } }));
  expect(rows).toEqual(stored.sort((a, b) => (a.date < b.date ? 1 : -1)));
});

test('statements: one a list, however many pools, providers and rows', async () => {
  const sent = async (pools: number, rows: number): Promise<(string | undefined)[]> =>
    (
      await statementsOf(() =>
        ask(
          `{ lpPoolsTop(timeframe: "all", pool_type: dlmm, sort_by: volume, min_liquidity_usd: 0, exclude_anomalous: false, limit: ${pools}) { pool { lps(first: ${rows}) { nodes { provider { lp_score positions(first: ${rows}) { nodes { event_count } } } } } events(first: ${rows}) { nodes { __typename } } } } }`,
          END,
        ),
      )
    ).map((text) => /(lp_\w+)/.exec(text.replace(/^[\s\S]*?FROM/, ''))?.[1]);
  const many = await sent(5, 20);
  expect((await sent(2, 2)).length).toBe(many.length);
  expect(many.length).toBeLessThanOrEqual(14);
});

test('statements: one for recurring orders by their addresses, however many', async () => {
  const { rows } = await db.pool.query<{ order_address: string }>('SELECT order_address FROM dca_order LIMIT 20');
  const asked = rows.map(({ order_address }, n) => `o${n}: recurringOrder(order_address: "${order_address}") { order_address }`);
  const sent = async (some: readonly string[]): Promise<number> => (await statementsOf(() => ask(`{ ${some.join(' ')} }`, END))).length;
  expect(asked.length).toBeGreaterThan(5);
  expect(await sent(asked)).toBe(await sent(asked.slice(0, 1)));
});

test('statements: one for providers by their addresses, however many', async () => {
  const owners = [...grouped(facts.events, (event) => event.owner ?? '').keys()].filter((one) => one !== '').slice(0, 10);
  const asked = owners.map((one, n) => `p${n}: provider(owner: "${one}") { owner }`);
  const sent = async (some: readonly string[]): Promise<number> => (await statementsOf(() => ask(`{ ${some.join(' ')} }`, END))).length;
  expect(Object.values(await ask<Record<string, Row>>(`{ ${asked.join(' ')} }`, END)).map((row) => row.owner)).toEqual(owners);
  expect(owners).toHaveLength(10);
  expect(await sent(asked)).toBe(await sent(asked.slice(0, 1)));
});
