import fc from 'fast-check';
import { rowCounts } from '../../../../src/db/row-counts';
import { prediction } from '../../../../src/venues/prediction/index';
import { testDatabase } from '../../../support/database';
import { NOW, iso, market, move, now, trade } from '../small-world';
import { condition, loadRecorded, loadRecords, token, tx, wallet } from '../support';

describe('loading trades and activity', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeEach(async () => {
    db = await testDatabase();
  });
  afterEach(() => db.drop());

  const load = (name: string, rows: unknown[], format?: 'json' | 'csv' | 'ndjson'): ReturnType<typeof loadRecords> =>
    loadRecords(db.pool, name, rows, format);
  const stored = async (): Promise<Record<string, unknown>[]> =>
    (
      await db.pool.query<Record<string, unknown>>(
        'SELECT trade_id, is_taker, usdc_size::float8 AS usdc, side FROM pm_trade ORDER BY trade_id',
      )
    ).rows;

  test('every record is inserted, a duplicate or skipped, and says why', async () => {
    const rows = [
      trade(1, 1, 0, 1, 'BUY', 10, 0.5, 9),
      trade(1, 1, 0, 1, 'BUY', 10, 0.5, 9),
      { ...trade(2, 1, 0, 1, 'BUY', 10, 0.5, 9), price: 7 },
      trade(3, 1, 1, 2, 'SELL', 10, 0.5, 8),
      17,
    ];
    expect((await load('a.json', rows)).report).toEqual({
      read: 5,
      inserted: 3,
      duplicates: 0,
      skipped: { bad_price: 1, not_an_object: 1 },
    });
    expect((await load('a.json', rows)).report).toEqual({
      read: 5,
      inserted: 0,
      duplicates: 3,
      skipped: { bad_price: 1, not_an_object: 1 },
    });
    expect((await load('overlapping.json', [rows[3], trade(4, 1, 1, 2, 'SELL', 10, 0.5, 7)])).report).toEqual({
      read: 2,
      inserted: 1,
      duplicates: 1,
      skipped: {},
    });
  });

  test('a page may be an object with its rows under data', async () => {
    const page = { data: [trade(1, 1, 0, 1, 'BUY', 10, 0.5, 9), trade(2, 1, 0, 1, 'BUY', 10, 0.5, 9)], pagination: { has_more: false } };
    expect(await load('page.json', [page])).toMatchObject({ source: 'prediction.trades', report: { read: 2, inserted: 2 } });
    expect(await load('page.json', [{ data: [move(3, 1, 1, 'MERGE', 5, 5, 8)] }])).toMatchObject({
      source: 'prediction.activity',
      report: { read: 1, inserted: 1 },
    });
  });

  test('rows of a taker feed are takers; rows of a wallet history, and of a recording of both sides, are not known to be', async () => {
    await load('trades.json', [trade(1, 1, 0, 1, 'BUY', 10, 0.5, 9)]);
    await load('activity.json', [{ ...trade(2, 1, 0, 1, 'BUY', 10, 0.5, 9), type: 'TRADE', usdcSize: 5 }, move(3, 1, 1, 'SPLIT', 5, 5, 8)]);
    await load('trades?takerOnly=false&limit=500.json', [trade(4, 1, 0, 1, 'BUY', 10, 0.5, 9)]);
    const { rows } = await db.pool.query<{ tx_hash: string; is_taker: boolean | null }>(
      'SELECT tx_hash, is_taker FROM pm_trade ORDER BY tx_hash',
    );
    expect(rows).toEqual([
      { tx_hash: tx(1), is_taker: true },
      { tx_hash: tx(2), is_taker: null },
      { tx_hash: tx(3), is_taker: null },
      { tx_hash: tx(4), is_taker: null },
    ]);
  });

  test('a fill in both feeds is one row that ends the same, whichever comes first and however often', async () => {
    const fill = trade(1, 1, 0, 1, 'BUY', 402_482.85, 0.6542489661, 9);
    const own = { ...fill, type: 'TRADE', usdcSize: 267_876.215535 };
    const pages = { trades: [fill, fill, trade(2, 1, 0, 2, 'SELL', 3, 0.6, 5)], activity: [own, own, move(3, 1, 1, 'REDEEM', 5, 5, 1)] };
    await load('trades.json', pages.trades);
    await load('activity.json', pages.activity);
    const expected = await stored();
    expect(expected.filter((row) => row.side === 'BUY')).toEqual(
      [0, 1].map(() => expect.objectContaining({ is_taker: true, usdc: 267_876.215535 }) as unknown),
    );
    expect(expected).toHaveLength(4);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom<keyof typeof pages>('trades', 'activity'), { minLength: 2, maxLength: 5 }),
        async (order) => {
          await db.pool.query('TRUNCATE pm_trade');
          for (const name of [...order, 'trades', 'activity'] as (keyof typeof pages)[]) await load(`${name}.json`, pages[name]);
          expect(await stored()).toEqual(expected);
        },
      ),
      { numRuns: 12 },
    );
  });

  test('USDC: stated, else price times size exactly, else one a share; of a conversion not guessed', async () => {
    await load('trades.json', [trade(1, 1, 0, 1, 'BUY', 0.1, 0.3, 9), trade(2, 1, 0, 1, 'BUY', 30_974.624038, 0.968534758, 8)]);
    const unstated = (row: Record<string, unknown>): Record<string, unknown> => ({ ...row, usdcSize: undefined });
    await load('activity.json', [
      unstated(move(3, 1, 1, 'REDEEM', 7.5, 0, 7)),
      unstated(move(4, 1, 1, 'CONVERSION', 7.5, 0, 6)),
      move(5, 1, 1, 'REDEEM', 8, 4, 5),
    ]);
    const { rows } = await db.pool.query<{ usdc: string }>('SELECT usdc_size::text AS usdc FROM pm_trade ORDER BY timestamp');
    expect(rows.map((row) => row.usdc)).toEqual(['0.030000', '29999.999997', '7.500000', '0', '4']);
  });

  test('wallets, markets and outcomes become known with their first row, and better with later ones', async () => {
    await load('activity.json', [move(1, 4, 1, 'SPLIT', 5, 5, 100), { ...move(2, 5, 2, 'REDEEM', 5, 5, 90), title: '', slug: '' }]);
    const { title, outcomeIndex, ...csv } = trade(3, 5, 1, 1, 'SELL', 5, 0.5, 80);
    expect([title, outcomeIndex]).toEqual(['Question 5?', 1]);
    await load('export.csv', [csv], 'csv');
    await load('trades.json', [trade(4, 5, 1, 1, 'BUY', 5, 0.5, 200), trade(5, 5, 1, 1, 'BUY', 5, 0.5, 70)]);
    const wallets = await db.pool.query('SELECT * FROM pm_wallet ORDER BY wallet');
    const at = (ago: number): Date => new Date((NOW - ago) * 1_000);
    expect(wallets.rows).toEqual([
      { wallet: wallet(1), first_trade_at: at(200), first_seen_at: at(200) },
      { wallet: wallet(2), first_trade_at: null, first_seen_at: at(90) },
    ]);
    const markets = await db.pool.query('SELECT condition_id, question, is_stub FROM pm_market ORDER BY 1');
    expect(markets.rows).toEqual([
      { condition_id: condition(4), question: 'Question 4?', is_stub: true },
      { condition_id: condition(5), question: 'Question 5?', is_stub: true },
    ]);
    const outcomes = await db.pool.query('SELECT token_id, outcome, outcome_index FROM pm_outcome');
    expect(outcomes.rows).toEqual([{ token_id: token(5, 1), outcome: 'Outcome 1', outcome_index: 1 }]);
    await load('markets.json', [market(5)]);
    await load('trades.json', [{ ...trade(6, 5, 0, 1, 'BUY', 5, 0.5, 60), title: 'Another title', outcome: 'Another name' }]);
    const described = await db.pool.query(
      'SELECT question, is_stub, created_at IS NOT NULL AS listed FROM pm_market WHERE condition_id = $1',
      [condition(5)],
    );
    expect(described.rows).toEqual([{ question: 'Question 5?', is_stub: false, listed: true }]);
    const names = await db.pool.query('SELECT outcome FROM pm_outcome WHERE condition_id = $1 ORDER BY outcome_index', [condition(5)]);
    expect(names.rows).toEqual([{ outcome: 'Yes' }, { outcome: 'No' }]);
  });

  test('months get their partitions as they come', async () => {
    await load('trades.json', [
      trade(1, 1, 0, 1, 'BUY', 1, 0.5, 9),
      { ...trade(2, 1, 0, 1, 'BUY', 1, 0.5, 9), timestamp: '2024-12-31 23:59:59' },
      { ...trade(3, 1, 0, 1, 'BUY', 1, 0.5, 9), timestamp: '2025-01-01 00:00:00' },
    ]);
    const { rows } = await db.pool.query(
      "SELECT inhrelid::regclass::text AS part FROM pg_inherits WHERE inhparent = 'pm_trade'::regclass ORDER BY 1",
    );
    expect(rows.map((row: { part: string }) => row.part)).toEqual(['pm_trade_202412', 'pm_trade_202501', 'pm_trade_202603']);
  });

  test('the cursor tells the newest event, and never turns back', async () => {
    expect(await prediction.freshness(db.pool)).toEqual({ last_event_at: null, watermark: null });
    await load('trades.json', [trade(1, 1, 0, 1, 'BUY', 1, 0.5, 100), trade(2, 1, 0, 1, 'BUY', 1, 0.5, 50)]);
    await load('older.json', [trade(3, 1, 0, 1, 'BUY', 1, 0.5, 500)]);
    const newest = new Date((NOW - 50) * 1_000);
    expect(await prediction.freshness(db.pool)).toEqual({ last_event_at: newest, watermark: newest });
    const { rows } = await db.pool.query('SELECT source, venue, cursor, watermark FROM source_cursor');
    expect(rows).toEqual([{ source: 'prediction.trades', venue: 'prediction', cursor: { page: 'older.json' }, watermark: newest }]);
    await load('activity.json', [move(4, 1, 1, 'MERGE', 1, 1, 20)]);
    expect((await prediction.freshness(db.pool)).watermark).toEqual(new Date((NOW - 20) * 1_000));
    expect(await rowCounts(db.pool, prediction.factTables, 60_000)).toEqual({ pm_market: 1, pm_outcome: 1, pm_trade: 4, pm_wallet: 1 });
  });

  test('a page that fails leaves nothing behind', async () => {
    async function* broken(): AsyncGenerator<unknown> {
      for (let n = 0; n < 6_000; n += 1) yield trade(n, 1, 0, 1, 'BUY', 1, 0.5, n);
      throw new Error('Line 6001 is not JSON');
    }
    await expect(loadRecorded(db.pool, { name: 'broken.ndjson', format: 'ndjson', records: broken() })).rejects.toThrow('Line 6001');
    expect((await db.pool.query('SELECT count(*)::int AS n FROM pm_trade')).rows).toEqual([{ n: 0 }]);
    expect((await db.pool.query('SELECT count(*)::int AS n FROM source_cursor')).rows).toEqual([{ n: 0 }]);
  });

  test('two loaders at once neither wait for ever nor double anything', async () => {
    const rows = Array.from({ length: 4_000 }, (_, n) => trade(n % 3_000, 1 + (n % 7), n % 2, 1 + (n % 50), 'BUY', 1 + (n % 9), 0.5, n));
    const reports = await Promise.all([load('a.json', rows), load('b.json', [...rows].reverse())]);
    const distinct = reports.reduce((sum, { report }) => sum + report.inserted, 0);
    expect((await db.pool.query('SELECT count(*)::int AS n FROM pm_trade')).rows).toEqual([{ n: distinct }]);
    expect((await load('a.json', rows)).report.inserted).toBe(0);
  });
});

describe('what a page is', () => {
  const first = { trades: trade(1, 1, 0, 1, 'BUY', 1, 0.5, 1), activity: move(1, 1, 1, 'REDEEM', 1, 1, 1), markets: market(1) };
  const sourceOf = (record: unknown): string | undefined =>
    prediction.sources.find((source) => source.recognises(record, { name: 'x', format: 'json' }))?.name;

  test('is told by its first record', () => {
    expect([sourceOf(first.trades), sourceOf(first.activity), sourceOf(first.markets)]).toEqual([
      'prediction.trades',
      'prediction.activity',
      'prediction.markets',
    ]);
    expect(sourceOf({ markets: [market(1)], next_cursor: 'x' })).toBe('prediction.markets');
    expect(sourceOf({ data: [market(1)] })).toBe('prediction.markets');
    expect(sourceOf({ id: '1', slug: 'event', tags: [], markets: [market(1)] })).toBe('prediction.markets');
    expect(sourceOf({ events: [{ markets: [market(1)] }] })).toBe('prediction.markets');
  });

  test('other formats are not taken, and nothing throws', () => {
    for (const other of [
      null,
      1,
      'x',
      [],
      {},
      { coin: 'BTC', px: '1' },
      { data: [{ condition_id: 'x' }] },
      { proxyWallet: 'x' },
      { channel: 'trades', data: [{ coin: 'BTC' }] },
      { universe: [] },
    ])
      expect(sourceOf(other)).toBeUndefined();
    fc.assert(fc.property(fc.anything(), (record) => expect(() => sourceOf(record)).not.toThrow()));
    expect([iso(NOW), now.getTime()]).toEqual(['2026-03-10T12:00:00Z', NOW * 1_000]);
  });
});
