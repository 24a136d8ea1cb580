import { testDatabase } from '../../support/database';
import { ANN, BOB, MAX, NOW, ago, loadScores } from './small-world';
import { ask, load, match, trader, type TestDatabase } from './support';

// Who is listed is told by a score run; a list that was begun before one ends as it began.

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
  const fills = [ANN, BOB, ANN, MAX, BOB, ANN].map((taker, place) =>
    match(ago(60 - place), {
      px: '100',
      sz: String(10 + place),
      side: 'B',
      taker: [taker, '0.0'],
      maker: [taker === MAX ? ANN : MAX, '0.0'],
    }),
  );
  await load(db.pool, fills);
  await loadScores(db.pool, '2026-01-30', { [ANN]: 90, [BOB]: 95, [MAX]: 84 });
});
afterEach(() => db.drop());

interface Row {
  trader: string;
  trade_id?: string;
  score?: number;
  smart_score?: number;
}

/** All rows of a list page by page; the day is scored anew after the first page. */
async function walked(path: string, parameters: Record<string, unknown>, rowsOf: (data: never) => Row[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { data, meta } = await ask<never>(db, path, { ...parameters, limit: 1, cursor }, NOW);
    if (rows.length === 0) await loadScores(db.pool, '2026-01-31', { [ANN]: 97, [BOB]: 12, [MAX]: 96 }, 'perps-next');
    expect(meta.score_version).toBe('perps-test');
    rows.push(...rowsOf(data));
    cursor = meta.next_cursor ?? null;
  }
  return rows;
}

test.each(['score', 'volume'])('smart wallets by %s', async (sort_by) => {
  const { data } = await ask<Row[]>(db, 'perps/smart-wallets/list', { sort_by }, NOW);
  expect(data).toHaveLength(2);
  expect(await walked('perps/smart-wallets/list', { sort_by }, (rows) => rows)).toEqual(data);
});

test.each([84, 85, 91])('trades of whoever has a score of %s', async (min_score) => {
  interface Activity {
    period_summary: unknown;
    trades: Row[];
  }
  const { data } = await ask<Activity>(db, 'perps/smart-wallets/activity', { min_score }, NOW);
  expect(data.trades.length).toBeGreaterThan(1);
  const summaries: unknown[] = [];
  const rows = await walked('perps/smart-wallets/activity', { min_score }, ({ period_summary, trades }: Activity) => {
    summaries.push(period_summary);
    return trades;
  });
  expect(rows).toEqual(data.trades);
  expect(summaries).toEqual(rows.map(() => data.period_summary));
});

test('large trades of smart wallets', async () => {
  const asked = { min_usd: 1, smart_money_only: true };
  const { data } = await ask<Row[]>(db, 'perps/trades/whales', asked, NOW);
  expect(data).toHaveLength(6);
  expect(await walked('perps/trades/whales', asked, (rows) => rows)).toEqual(data);
});

test.each<[string, Record<string, unknown>]>([
  ['perps/smart-wallets/list', {}],
  ['perps/smart-wallets/activity', {}],
  ['perps/trades/whales', { min_usd: 1 }],
  ['perps/trades/feed', { coin: 'BTC' }],
])('%s: a later page says as of when it is', async (path, parameters) => {
  const { meta } = await ask(db, path, { ...parameters, limit: 1 }, NOW);
  const later = await ask(db, path, { ...parameters, limit: 1, cursor: meta.next_cursor }, ago(-30));
  expect(later.meta.as_of).toEqual(NOW);
});

test.each(['pnl', 'volume', 'win_rate', 'last_trade'])(
  'smart wallets by %s: what a live feed tells late, but after where it stood, moves nobody across the cursor',
  async (sort_by) => {
    const stood = new Date(NOW.getTime() - 2_600);
    const list = (from: Date, parameters: Record<string, unknown>) =>
      ask<Row[]>(db, 'perps/smart-wallets/list', { sort_by, min_score: 0, ...parameters }, from, stood);
    const whole = (await list(NOW, {})).data;
    const first = await list(NOW, { limit: 1 });
    // The last of all gains most, between where the feed stood and now.
    const last = whole.at(-1)?.trader as string;
    const deal = (seconds: number, side: 'B' | 'A', start: string, closedPnl: string): Record<string, unknown> =>
      match(new Date(NOW.getTime() - seconds * 1_000), { coin: 'ETH', px: '100', sz: '900', side, taker: [last, start, { closedPnl }], maker: [trader('d'), '0.0'] }); // prettier-ignore
    await load(db.pool, [deal(2, 'B', '0.0', '0.0'), deal(1, 'A', '900.0', '7000.0')]);
    const rest = await list(ago(-1), { cursor: first.meta.next_cursor, limit: 1 });
    const end = await list(ago(-1), { cursor: rest.meta.next_cursor, limit: 1 });
    expect(whole).toHaveLength(3);
    expect([first, rest, end].map(({ meta }) => meta.as_of)).toEqual([3, 3, 3].map((seconds) => new Date(NOW.getTime() - seconds * 1_000)));
    expect([...first.data, ...rest.data, ...end.data]).toEqual(whole);
    expect((await list(ago(-1), { limit: 1 })).data).toEqual(first.data);
  },
);

test('a list that no fact orders, or of which all is settled, is as of now', async () => {
  const asOf = async (sort_by: string, settled: Date): Promise<Date | null> =>
    (await ask(db, 'perps/smart-wallets/list', { sort_by, limit: 1 }, NOW, settled)).meta.as_of;
  expect(await asOf('score', ago(1))).toEqual(NOW);
  expect(await asOf('volume', ago(1))).toEqual(ago(1));
  expect(await asOf('volume', ago(-1))).toEqual(NOW);
});
