import { inTransaction } from '../../../src/db/transaction';
import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import { perps } from '../../../src/venues/perps/index';
import { testDatabase } from '../../support/database';
import { fillsOf } from './recount';
import { ask, load, match, type TestDatabase, trader } from './support';

const DAY = 86_400_000;
const START = new Date('2026-03-01T00:00:00Z');
const SCORED = new Date('2026-03-12T09:17:00Z');
const END = new Date('2026-03-13T00:00:00Z');

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.drop());

test('after the daily scores nobody gains more than the bound, and the first by PnL are those by plain sums, whatever comes later', async () => {
  const pages = [...perpsWorld({ seed: 23, size: 5_000, start: START }).pages(START, END)];
  const blocks = pages.flatMap(({ format, records }) => (format === 'ndjson' ? records : [])) as { block_time: string }[];
  // Some of every day comes only after the scores, and all of what happened after them.
  const isLate = (block: { block_time: string }, place: number): boolean =>
    place % 5 === 0 || Date.parse(`${block.block_time}Z`) >= SCORED.getTime();
  await load(db.pool, blocks.filter((block, place) => !isLate(block, place))); // prettier-ignore
  await perps.score?.(db.pool, SCORED, () => undefined);
  await load(db.pool, blocks.filter(isLate));

  const fills = fillsOf(pages);
  const { rows } = await db.pool.query<{ trader: string; week: string; month: string }>(
    'SELECT trader, most_pnl_7d AS week, most_pnl_30d AS month FROM perp_trader',
  );
  const bounds = new Map(rows.map((row) => [row.trader, { 7: Number(row.week), 30: Number(row.month) }]));
  const machines = await db.pool.query<{ trader: string }>("SELECT trader FROM perp_score WHERE tags && '{vault,market_maker,wash}'");
  const left = new Set(machines.rows.map(({ trader }) => trader));
  for (let now = Date.UTC(2026, 2, 12); now < END.getTime(); now += 5 * 3_600_000 + 61_001) {
    for (const days of [7, 30] as const) {
      const own = new Map<string, { pnl: number; fills: number }>();
      for (const { user, time, closedPnl } of fills) {
        if (time < now - days * DAY || time >= now) continue;
        const known = own.get(user) ?? { pnl: 0, fills: 0 };
        own.set(user, { pnl: known.pnl + Number(closedPnl), fills: known.fills + 1 });
      }
      for (const [user, { pnl }] of own) expect(bounds.get(user)?.[days]).toBeGreaterThanOrEqual(pnl - 1e-6);
      const expected = [...own]
        .filter(([user, sums]) => sums.fills >= 3 && !left.has(user))
        .sort(([, a], [, b]) => b.pnl - a.pnl)
        .slice(0, 6);
      const parameters = { timeframe: `${days}d`, min_trades: 3, limit: 6 };
      const { data } = await ask<{ trader: string; total_pnl: string }[]>(db, 'perps/traders/leaderboard', parameters, new Date(now));
      // Of accounts with the same sum any may come first here.
      expect(data.map(({ total_pnl }) => Number(total_pnl).toFixed(4))).toEqual(expected.map(([, { pnl }]) => pnl.toFixed(4)));
    }
  }
  expect(rows.length).toBeGreaterThan(50);
  expect((await db.pool.query('SELECT day FROM perp_standing')).rows).toEqual([{ day: new Date('2026-03-12T00:00:00Z') }]);
});

test('a day is bounded by its height, and a window holds the first instant of its first day, in the head', async () => {
  const store = await testDatabase();
  try {
    const gain = (at: string, trader_: string, start: number, closedPnl: string): Record<string, unknown> =>
      match(new Date(at), { px: '1', sz: '1', side: 'A', taker: [trader_, `${start}.0`, { closedPnl, dir: 'Close Long' }], maker: [trader('9'), '0.0'] }); // prettier-ignore
    const [ann, bob, cal, dan] = ['a', 'b', 'c', 'd'].map(trader) as [string, string, string, string];
    await load(store.pool, [
      // A week is not all there is.
      gain('2026-02-01T00:00:00Z', trader('e'), 5, '2'),
      gain('2026-03-12T08:00:00Z', ann, 5, '100'),
      gain('2026-03-12T08:01:00Z', bob, 5, '50'),
      gain('2026-03-12T08:02:00Z', cal, 5, '40'),
      gain('2026-03-12T08:03:00Z', dan, 5, '1'),
      gain('2026-03-12T09:00:00Z', ann, 4, '-90'),
    ]);
    await perps.score?.(store.pool, SCORED, () => undefined);
    const first = async (): Promise<unknown> =>
      (await ask<{ trader: string; total_pnl: number }[]>(store, 'perps/traders/leaderboard', { timeframe: '7d', min_trades: 1, limit: 1 }, new Date('2026-03-12T08:30:00Z'))).data.map((row) => [row.trader, row.total_pnl]); // prettier-ignore
    expect(await first()).toEqual([[ann, 100]]);
    await load(store.pool, [gain('2026-03-05T00:00:00Z', dan, 6, '30')]);
    const { rows } = await store.pool.query<{ most: string }>('SELECT most_pnl_7d AS most FROM perp_trader WHERE trader = $1', [dan]);
    expect(Number(rows[0]?.most)).toBe(31);
  } finally {
    await store.drop();
  }
});

test('whoever scores at once does so one after the other', async () => {
  const runs = await Promise.all([1, 2, 3].map(async () => perps.score?.(db.pool, END, () => undefined)));
  expect(runs[1]).toEqual(runs[0]);
  expect(runs[2]).toEqual(runs[0]);
});

test('a rebuild tells them again for the same day', async () => {
  const told = async (): Promise<unknown[]> =>
    (await db.pool.query('SELECT day, trader, most_pnl_7d, most_pnl_30d FROM perp_standing, perp_trader ORDER BY trader')).rows;
  const before = await told();
  await inTransaction(db.pool, async (client) => perps.rebuild?.(client));
  expect(before.length).toBeGreaterThan(50);
  expect(await told()).toEqual(before);
});
