import type { Pool } from 'pg';
import { inTransaction } from '../../../../src/db/transaction';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { randomOf } from '../../../../src/sandbox/simulator/world';
import { retractFills } from '../../../../src/venues/prediction/rollups/retract';
import { rebuildVolumes } from '../../../../src/venues/prediction/rollups/volumes';
import { testDatabase } from '../../../support/database';
import { NOW, iso, market, move, trade } from '../small-world';
import { condition, loadRecords } from '../support';

type Database = Awaited<ReturnType<typeof testDatabase>>;

/** A decimal text in units of 10^-12. */
function scaled(text: string): bigint {
  const [whole = '0', part = ''] = text.split('.');
  return BigInt(whole + part.padEnd(12, '0').slice(0, 12));
}

/** Every row as `unit start category buys sells buy_usdc sell_usdc`. */
async function volumes(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{
    unit: string;
    at: Date;
    category: string;
    buys: number;
    sells: number;
    buy_usdc: string;
    sell_usdc: string;
  }>('SELECT * FROM pm_category_volume');
  return rows
    .map(({ unit, at, category, buys, sells, buy_usdc, sell_usdc }) =>
      lineOf(unit, at, category, [BigInt(buys), BigInt(sells), scaled(buy_usdc), scaled(sell_usdc)]),
    )
    .sort();
}

const lineOf = (unit: string, at: Date, category: string, [buys, sells, buy, sell]: readonly bigint[]): string =>
  `${unit} ${at.toISOString().slice(0, 16)} ${category} ${buys} ${sells} ${shown(buy)} ${shown(sell)}`;

/** Exact, with four decimals at least. */
const shown = (amount = 0n): string => {
  const text = amount.toString().padStart(13, '0');
  return `${text.slice(0, -12)}.${text.slice(-12, -8)}${text.slice(-8).replace(/0+$/, '')}`;
};

/** The same from facts alone. */
async function counted(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ timestamp: Date; side: string; usdc_size: string; is_taker: boolean | null; condition_id: string }>(
    'SELECT "timestamp", side, usdc_size, is_taker, condition_id FROM pm_trade',
  );
  const markets = await pool.query<{ condition_id: string; category: string }>('SELECT condition_id, category FROM pm_market');
  const categories = new Map(markets.rows.map(({ condition_id, category }) => [condition_id, category]));
  const sums = new Map<string, { unit: string; at: Date; category: string; figures: bigint[] }>();
  for (const { timestamp, side, usdc_size, is_taker, condition_id } of rows) {
    if (is_taker !== true || (side !== 'BUY' && side !== 'SELL')) continue;
    for (const [unit, length] of [['minute', 60_000], ['hour', 3_600_000], ['day', 86_400_000]] as const) {
      const at = new Date(Math.floor(timestamp.getTime() / length) * length);
      const category = categories.get(condition_id) as string;
      const key = `${unit} ${at.toISOString()} ${category}`;
      const sum = sums.get(key) ?? { unit, at, category, figures: [0n, 0n, 0n, 0n] };
      const place = side === 'BUY' ? 0 : 1;
      sum.figures[place] = (sum.figures[place] as bigint) + 1n;
      sum.figures[place + 2] = (sum.figures[place + 2] as bigint) + scaled(usdc_size);
      sums.set(key, sum);
    }
  } // prettier-ignore
  return [...sums.values()].map(({ unit, at, category, figures }) => lineOf(unit, at, category, figures)).sort();
}

describe('volume by category', () => {
  const databases: Database[] = [];
  const database = async (): Promise<Pool> => {
    const made = await testDatabase();
    databases.push(made);
    return made.pool;
  };
  afterAll(() => Promise.all(databases.map((db) => db.drop())));

  const politics = market(1, { tags: [{ slug: 'politics' }] });
  const fills = [trade(1, 1, 0, 1, 'BUY', 100, 0.5, 50), trade(2, 1, 0, 2, 'SELL', 40, 0.6, 40), trade(3, 1, 1, 1, 'BUY', 10, 0.3, 4_000)];

  test('by hand: takers alone, in minutes, hours and days', async () => {
    const pool = await database();
    await loadRecords(pool, 'markets.json', [politics]);
    await loadRecords(pool, 'trades.json', fills);
    // A maker's fill and a split are not taken volume; the USDC that another feed states counts.
    await loadRecords(pool, 'activity.json', [{ ...trade(4, 1, 0, 3, 'BUY', 10, 0.45, 30), type: 'TRADE' }, move(5, 1, 1, 'SPLIT', 20, 20, 20), { ...fills[0], type: 'TRADE', usdcSize: 50.25 }]); // prettier-ignore
    expect(await volumes(pool)).toEqual([
      'day 2026-03-10T00:00 Politics 2 1 53.2500 24.0000',
      'hour 2026-03-10T10:00 Politics 1 0 3.0000 0.0000',
      'hour 2026-03-10T11:00 Politics 1 1 50.2500 24.0000',
      'minute 2026-03-10T10:53 Politics 1 0 3.0000 0.0000',
      'minute 2026-03-10T11:59 Politics 1 1 50.2500 24.0000',
    ]);
  });

  test('moves with a market that changes its category, and leaves nothing behind', async () => {
    const pool = await database();
    await loadRecords(pool, 'trades.json', [...fills, trade(9, 2, 0, 1, 'BUY', 10, 0.7, 45)]);
    const other = await volumes(pool);
    expect(other).toContain('minute 2026-03-10T11:59 Other 2 1 57.0000 24.0000');
    await loadRecords(pool, 'markets.json', [politics]);
    expect((await volumes(pool)).filter((line) => line.startsWith('minute'))).toEqual([
      'minute 2026-03-10T10:53 Politics 1 0 3.0000 0.0000',
      'minute 2026-03-10T11:59 Other 1 0 7.0000 0.0000',
      'minute 2026-03-10T11:59 Politics 1 1 50.0000 24.0000',
    ]);
    const moved = { tags: [{ slug: 'crypto' }], updatedAt: iso(NOW - 86_400) };
    await loadRecords(pool, 'markets.json', [market(1, moved), market(2, moved)]);
    expect(new Set((await volumes(pool)).map((line) => line.split(' ')[2]))).toEqual(new Set(['Crypto']));
    expect(await volumes(pool)).toEqual(await counted(pool));
  });

  test('moves where a later row names a market that was known by its id alone', async () => {
    const pool = await database();
    const bare = { ...fills[0], title: '', slug: '', eventSlug: '' };
    await loadRecords(pool, 'trades.json', [bare]);
    expect((await volumes(pool))[0]).toContain('Other');
    await loadRecords(pool, 'trades.json', [{ ...fills[1], title: 'Will Bitcoin hit 200k?', slug: 'will-bitcoin-hit-200k', eventSlug: 'bitcoin' }]); // prettier-ignore
    expect(await volumes(pool)).toEqual(await counted(pool));
    expect((await volumes(pool))[0]).toBe('day 2026-03-10T00:00 Crypto 1 1 50.0000 24.0000');
  });

  test('fills that are taken back leave it', async () => {
    const pool = await database();
    await loadRecords(pool, 'markets.json', [politics]);
    await loadRecords(pool, 'trades.json', fills);
    await loadRecords(pool, 'activity.json', [{ ...trade(4, 1, 0, 3, 'BUY', 10, 0.45, 45), type: 'TRADE' }]);
    await inTransaction(pool, (client) => retractFills(client, { from: new Date((NOW - 50) * 1_000), to: new Date((NOW - 40) * 1_000) }));
    expect((await volumes(pool))[0]).toBe('day 2026-03-10T00:00 Politics 1 1 3.0000 24.0000');
    expect(await volumes(pool)).toEqual(await counted(pool));
    const days = async (): Promise<unknown[]> => (await pool.query(`SELECT condition_id, day::text, fills, buys, sells, first_at FROM pm_market_day`)).rows; // prettier-ignore
    expect(await days()).toEqual([{ condition_id: condition(1), day: '2026-03-10', fills: 2, buys: 1, sells: 1, first_at: new Date((NOW - 4_000) * 1_000) }]); // prettier-ignore
    const quarters = async (): Promise<unknown[]> => (await pool.query('SELECT quarter, fills, buys, sells, buy_usdc::float8, sell_usdc::float8 FROM pm_market_quarter')).rows; // prettier-ignore
    expect(await quarters()).toEqual([{ quarter: new Date('2026-03-10T06:00:00Z'), fills: 2, buys: 1, sells: 1, buy_usdc: 3, sell_usdc: 24 }]); // prettier-ignore
    await inTransaction(pool, (client) => retractFills(client, { from: new Date(0), to: new Date((NOW + 1) * 1_000) }));
    expect(await volumes(pool)).toEqual([]);
    expect(await days()).toEqual([]);
    expect(await quarters()).toEqual([]);
  });

  test('kept as facts and catalogue arrive in any order: what the facts say, and what is made anew', async () => {
    const start = new Date('2026-02-01T00:00:00Z');
    const pool = await database();
    const random = randomOf(4, 'order');
    const pages = [...predictionWorld({ seed: 6, size: 3_000, start }).pages(start, new Date(start.getTime() + 8 * 86_400_000))]
      .map((page) => ({ page, at: random() }))
      .sort((a, b) => a.at - b.at);
    for (const { page } of pages) await loadRecords(pool, page.name, page.records, page.format);
    const kept = await volumes(pool);
    expect(kept.length).toBeGreaterThan(200);
    expect(new Set(kept.map((line) => line.split(' ')[2])).size).toBeGreaterThan(3);
    expect(kept).toEqual(await counted(pool));
    await inTransaction(pool, rebuildVolumes);
    expect(await volumes(pool)).toEqual(kept);
  });
});
