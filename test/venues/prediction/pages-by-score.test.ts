import { testDatabase } from '../../support/database';
import { call } from './markets/call';
import { NOW, iso, market, now, score, trade } from './small-world';
import { condition, loadRecords, wallet } from './support';

// Who is smart is told by a score run, and what they hold by facts; a list that was begun before newer ones ends as it began.

type Database = Awaited<ReturnType<typeof testDatabase>>;
type Row = Record<string, unknown>;

const LATER = new Date(now.getTime() + 60_000);
const CLOSED = { closed: true, outcomePrices: '["1", "0"]', umaResolutionStatus: 'resolved' };
/** Wallets that are smart before the second run, and since. */
const [BEFORE, SINCE] = [
  [1, 2, 3],
  [4, 5, 6],
];

let db: Database;
beforeEach(async () => {
  db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [
    ...[1, 2, 3, 4].map((n) => market(n)),
    market(5, { ...CLOSED, closedTime: iso(NOW - 3_600) }),
    market(6, { ...CLOSED, closedTime: iso(NOW - 7_200) }),
  ]);
  // All of one half bought on the first two markets, all of the other on the next two.
  const bought = [1, 2, 3, 4].flatMap((on) =>
    (on < 3 ? BEFORE : SINCE).map((by, place) => trade(10 * on + place, on, 0, by, 'BUY', 1_000 * on, 0.5, 600 - 10 * on - place)),
  );
  const others = [1, 4, 2, 5].map((by, place) => trade(90 + place, 1, 1, by, 'BUY', 300, 0.4, 500 - place));
  const closed = [5, 6].map((on) => trade(95 + on, on, 0, 1, 'BUY', 100 * on, 0.5, 3 * 86_400));
  await loadRecords(db.pool, 'trades.json', [...bought, ...others, ...closed]);
  await score(db.pool, '2026-03-09', run(BEFORE), 'first');
});
afterEach(() => db.drop());

const run = (smart: readonly number[]): [number, number][] => [...BEFORE, ...SINCE].map((by) => [by, smart.includes(by) ? 70 + by : 10]);

/** The other half is smart, and all who were have sold on the second market. */
async function somethingComes(): Promise<void> {
  await score(db.pool, '2026-03-10', run(SINCE), 'second');
  await loadRecords(db.pool, 'trades.json', BEFORE.map((by) => trade(200 + by, 2, 0, by, 'SELL', 2_000, 0.3, -10 - by))); // prettier-ignore
}

const LISTS: [string, Row, (data: never) => Row[]][] = [
  ['markets/trades', { condition_id: condition(1), smart_money_only: true }, ({ trades }: { trades: Row[] }) => trades],
  ['markets/trades', { condition_id: condition(1) }, ({ trades }: { trades: Row[] }) => trades],
  ['trades/whales', { min_usdc: 1, smart_money_only: true }, (rows) => rows],
  ['trades/whales', { min_usdc: 1, smart_money_only: true, aggregate: 'burst' }, (rows) => rows],
  ['trades/whales', { min_usdc: 1 }, (rows) => rows],
  ['wallets/activity', { wallet: wallet(2) }, ({ trades }: { trades: Row[] }) => trades],
  ['markets/search', { has_smart_money_signal: true }, (rows) => rows],
  ['markets/search', { has_smart_money_signal: false, sort_by: 'volume' }, (rows) => rows],
  ['markets/search', { status: 'all' }, (rows) => rows],
  ['markets/resolutions', { sort_by: 'smart_money_accuracy' }, (rows) => rows],
];

test.each(LISTS)('%s %j: all pages are of the run and of the facts of the first', async (path, parameters, rowsOf) => {
  const all = await call<never>(db, path, now, { ...parameters, limit: 100 });
  const [rows, heads]: [Row[], unknown[]] = [[], []];
  const headOf = (data: unknown, { score_version, window }: typeof all.meta): unknown => [
    score_version,
    window,
    Array.isArray(data) ? null : { ...(data as Row), trades: [] },
  ];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const sent = { ...parameters, limit: 1, ...(cursor !== undefined && { cursor }) };
    const { data, meta } = await call<never>(db, path, cursor === undefined ? now : LATER, sent);
    if (rows.length === 0) await somethingComes();
    rows.push(...rowsOf(data));
    heads.push([meta.as_of, headOf(data, meta)]);
    cursor = meta.next_cursor;
  }
  expect(rows).toEqual(rowsOf(all.data));
  expect(rows.length).toBeGreaterThan(1);
  expect(heads).toEqual(rows.map(() => [now, headOf(all.data, all.meta)]));
});

test('markets without a signal that were listed before the first run go on without one', async () => {
  await db.pool.query('DELETE FROM pm_wallet_score');
  const asked = { has_smart_money_signal: false, limit: 2 };
  const first = await call<Row[]>(db, 'markets/search', now, asked);
  await somethingComes();
  const second = await call<Row[]>(db, 'markets/search', LATER, { ...asked, cursor: first.meta.next_cursor });
  expect([...first.data, ...second.data].map(({ condition_id }) => condition_id)).toEqual([4, 3, 2, 1].map(condition));
  expect(second.meta.score_version).toBeNull();
});

test.each<[string, Row, number]>([
  ['markets/resolutions', { sort_by: 'volume' }, 25],
  ['markets/resolutions', { sort_by: 'smart_money_accuracy' }, 25],
  ['markets/resolutions', { sort_by: 'resolved_recently' }, 0],
])(
  '%s %j: what live feeds tell late, but after what they had settled, moves no market across the cursor',
  async (path, parameters, ago) => {
    const settled = new Date(now.getTime() - 24_500);
    const list = (at: Date, more: Row) => call<Row[]>(db, path, at, { ...parameters, ...more }, settled);
    const whole = (await list(now, { limit: 100 })).data;
    const told = [await list(now, { limit: 1 })];
    const last = Number(BigInt(whole.at(-1)?.condition_id as string));
    await loadRecords(db.pool, 'trades.json', [trade(300, last, 0, 9, 'BUY', 90_000, 0.5, 20)]);
    for (let cursor = told[0]?.meta.next_cursor; cursor; cursor = told.at(-1)?.meta.next_cursor) told.push(await list(LATER, { limit: 1, cursor })); // prettier-ignore
    const idsOf = (rows: readonly Row[]): unknown[] => rows.map(({ condition_id }) => condition_id);
    expect(whole.length).toBeGreaterThan(1);
    expect(idsOf(told.flatMap(({ data }) => data))).toEqual(idsOf(whole));
    expect(told.map(({ meta }) => meta.as_of)).toEqual(whole.map(() => new Date(now.getTime() - ago * 1_000)));
  },
);

test.each([
  ['burst', 25],
  ['fill', 0],
])('trades/whales by %s: a fill told late, but after what had settled, takes nothing over the cursor', async (aggregate, ago) => {
  await loadRecords(db.pool, 'trades.json', [trade(301, 3, 0, 7, 'BUY', 700, 0.5, 65), trade(302, 3, 0, 8, 'BUY', 800, 0.5, 70)]);
  const settled = new Date(now.getTime() - 24_500);
  const list = (at: Date, more: Row) =>
    call<Row[]>(db, 'trades/whales', at, { min_usdc: 100, condition_id: condition(3), aggregate, ...more }, settled);
  const whole = (await list(now, { limit: 100 })).data;
  const told = [await list(now, { limit: 1 })];
  // With it the second burst stands before the first.
  await loadRecords(db.pool, 'trades.json', [trade(303, 3, 0, 8, 'BUY', 800, 0.5, 20)]);
  for (let cursor = told[0]?.meta.next_cursor; cursor; cursor = told.at(-1)?.meta.next_cursor) told.push(await list(LATER, { limit: 1, cursor })); // prettier-ignore
  expect(told.flatMap(({ data }) => data.map(({ trade_id }) => trade_id))).toEqual(whole.map(({ trade_id }) => trade_id));
  expect(told.map(({ meta }) => meta.as_of)).toEqual(whole.map(() => new Date(now.getTime() - ago * 1_000)));
});
