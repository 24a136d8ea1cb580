import type { Pool } from 'pg';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { listFirstBuyers, loadFirstBuys } from '../../../../src/venues/prediction/queries/market-holdings';
import { testDatabase } from '../../../support/database';
import { sqlOf } from '../rollups/untold';
import { NOW, market, move, now, trade } from '../small-world';
import { condition, loadRecords, token, wallet } from '../support';

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const after = (days: number): Date => new Date(start.getTime() + days * DAY);

interface Bought {
  condition_id: string;
  token_id: string;
  wallet: string;
  at: Date;
  usdc: number;
  shares: number;
}

/** What each wallet bought of each outcome before $1, and when first, from facts alone. */
const FROM_FACTS = `SELECT condition_id, token_id, wallet, min("timestamp") AS at, sum(usdc_size)::float8 AS usdc, sum(size)::float8 AS shares
FROM pm_trade WHERE side = 'BUY' AND "timestamp" < $1 GROUP BY 1, 2, 3 ORDER BY condition_id, at, wallet COLLATE "C", token_id COLLATE "C"`;

const buyersOf = (pool: Pool, condition_id: string, token_ids: readonly string[], limit: number, at: Date, min_usdc = 0) =>
  listFirstBuyers(sqlOf(pool), { condition_id, token_ids, min_usdc, without_tag: null, min_score: null, score_day: null }, limit, at);

describe('first buys', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let pool: Pool;
  beforeEach(async () => {
    database = await testDatabase();
    pool = database.pool;
  });
  afterEach(() => database.drop());

  test('are those of the facts, whatever the clock, late pages and later facts among them', async () => {
    const pages = [...predictionWorld({ seed: 11, size: 8_000, start }).pages(start, after(16))];
    const isLate = (index: number): boolean => index % 7 === 3;
    for (const late of [false, true])
      for (const [index, page] of pages.entries())
        if (isLate(index) === late) await loadRecords(pool, page.name, page.records, page.format);
    await pool.query('ANALYZE');
    for (const at of [after(16), after(9), new Date(after(7).getTime() + 13.45 * 3_600_000)]) {
      const { rows } = await pool.query<Bought>(FROM_FACTS, [at]);
      expect(rows.length).toBeGreaterThan(500);
      const everybody = await pool.query<{ condition_id: string; wallet: string }>('SELECT DISTINCT condition_id, wallet FROM pm_trade');
      const first = await loadFirstBuys(sqlOf(pool), everybody.rows, at);
      const known = new Map(rows.map((row) => [`${row.wallet}|${row.token_id}`, row.at]));
      const tokens = await pool.query<{ wallet: string; token_id: string }>('SELECT DISTINCT wallet, token_id FROM pm_trade WHERE token_id IS NOT NULL'); // prettier-ignore
      for (const { wallet: by, token_id } of tokens.rows) expect(first(by, token_id)).toEqual(known.get(`${by}|${token_id}`) ?? null);

      const large = [...new Set(rows.map((row) => row.condition_id))].sort((a, b) => sizeOf(rows, b) - sizeOf(rows, a)).slice(0, 6);
      for (const id of large) {
        const own = rows.filter((row) => row.condition_id === id);
        const token_ids = [...new Set(own.map((row) => row.token_id))];
        for (const [asked, limit] of [
          [token_ids, 1_000],
          [token_ids, 7],
          [token_ids.slice(0, 1), 5],
        ] as const) {
          const told = await buyersOf(pool, id, asked, limit, at);
          const expected = own.filter((row) => asked.includes(row.token_id)).slice(0, limit);
          expect(told.map((row) => [row.wallet, row.token_id, row.first_buy_at])).toEqual(expected.map((row) => [row.wallet, row.token_id, row.at])); // prettier-ignore
          for (const [index, row] of told.entries()) {
            expect(Number(row.buy_usdc)).toBeCloseTo(expected[index]?.usdc ?? Number.NaN, 6);
            expect(Number(row.buy_shares)).toBeCloseTo(expected[index]?.shares ?? Number.NaN, 6);
          }
        }
      }
    }
  });

  test('of a position that a split opened, of one sold out and bought again, and of two in one second', async () => {
    const hours = (n: number): number => n * 3_600;
    await loadRecords(pool, 'markets', [market(1)]);
    await loadRecords(pool, 'activity', [move(1, 1, 1, 'SPLIT', 100, 100, hours(9))]);
    await loadRecords(pool, 'trades', [
      trade(2, 1, 0, 1, 'SELL', 100, 0.5, hours(8)),
      trade(3, 1, 0, 1, 'BUY', 40, 0.5, hours(5) + 60),
      trade(4, 1, 0, 2, 'BUY', 20, 0.5, hours(6)),
      trade(5, 1, 0, 2, 'SELL', 20, 0.5, hours(5)),
      trade(6, 1, 0, 2, 'BUY', 60, 0.5, hours(4)),
      trade(7, 1, 1, 4, 'BUY', 10, 0.5, hours(6)),
      trade(8, 1, 1, 3, 'BUY', 10, 0.5, hours(6)),
      trade(9, 1, 1, 5, 'BUY', 10, 0.5, 60),
    ]);
    const [yes, no] = [token(1, 0), token(1, 1)];
    const ids = [1, 2, 3, 4, 5].map((n) => ({ condition_id: condition(1), wallet: wallet(n) }));
    const ago = (seconds: number): Date => new Date((NOW - seconds) * 1_000);
    const told = async (at: Date): Promise<unknown[]> =>
      (await buyersOf(pool, condition(1), [yes, no], 10, at)).map((row) => [row.wallet, row.token_id, row.first_buy_at, Number(row.buy_usdc)]); // prettier-ignore
    const early = [
      [wallet(2), yes, ago(hours(6)), 10],
      [wallet(3), no, ago(hours(6)), 5],
      [wallet(4), no, ago(hours(6)), 5],
    ];
    expect(await told(ago(hours(5) + 61))).toEqual(early);
    expect(await told(ago(60))).toEqual([[wallet(2), yes, ago(hours(6)), 40], ...early.slice(1), [wallet(1), yes, ago(hours(5) + 60), 20]]);
    expect(await told(now)).toHaveLength(5);
    // The first transaction decides, not what was bought since.
    expect((await buyersOf(pool, condition(1), [yes, no], 10, now, 10)).map((row) => row.wallet)).toEqual([wallet(2), wallet(1)]);

    // By scores and tags of the run asked for; who has none is neither high nor tagged.
    await pool.query(
      `INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, '2026-03-10', 70, '{}', 'v'), ($2, '2026-03-10', 60, '{}', 'v'), ($3, '2026-03-10', NULL, '{market_maker}', 'v'), ($4, '2026-03-09', 90, '{}', 'v')`,
      [1, 2, 3, 4].map((n) => wallet(n)),
    );
    const scored = async (min_score: number | null, without_tag: string | null): Promise<string[]> => {
      const scope = { condition_id: condition(1), token_ids: [yes, no], min_usdc: 0, without_tag, min_score, score_day: '2026-03-10' };
      return (await listFirstBuyers(sqlOf(pool), scope, 10, now)).map((row) => `${row.wallet.at(-1)}:${row.score}`);
    };
    expect(await scored(null, 'market_maker')).toEqual(['2:60', '4:null', '1:70', '5:null']);
    expect(await scored(60, null)).toEqual(['2:60', '1:70']);
    expect(await scored(60.1, null)).toEqual(['1:70']);

    const before = await loadFirstBuys(sqlOf(pool), ids, ago(hours(5) + 60));
    expect([before(wallet(1), yes), before(wallet(1), no), before(wallet(2), yes)]).toEqual([null, null, ago(hours(6))]);
    const later = await loadFirstBuys(sqlOf(pool), ids, now);
    expect([later(wallet(1), yes), later(wallet(1), no), later(wallet(2), yes), later(wallet(5), no)]).toEqual([ago(hours(5) + 60), null, ago(hours(6)), ago(60)]); // prettier-ignore
  });
});

const sizeOf = (rows: readonly Bought[], id: string): number => rows.filter((row) => row.condition_id === id).length;
