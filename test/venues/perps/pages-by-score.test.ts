import { testDatabase } from '../../support/database';
import { ANN, BOB, MAX, NOW, ago, loadScores } from './small-world';
import { ask, load, match, type TestDatabase } from './support';

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
