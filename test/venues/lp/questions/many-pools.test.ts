import fc from 'fast-check';
import { testDatabase } from '../../../support/database';
import { seededRandom } from '../../../support/random';
import { rebuild } from '../../../../src/venues/lp/rollups/rebuild';
import { firstPools } from '../../../../src/venues/lp/queries/first-pools';
import { sqlOver } from '../../../../src/db/sql';
import { DAY_MS, HOUR_MS } from '../../../../src/lib/time';
import { BEGINNING, windowOf } from '../../../../src/lib/timeframe';
import { ask } from '../ask';

// A venue of more pools than are looked at one by one, most of next to nothing: the first of any window are what the index's own hours say, pool by pool.

const POOLS = 700;
const DAYS = 12;
const START = new Date('2026-01-05T00:00:00Z');
const NOW = new Date(START.getTime() + (DAYS - 1) * DAY_MS + 14 * HOUR_MS + 20 * 60_000);

interface Told {
  pool: string;
  type: string;
  at: number;
  usd: number;
  fees: number;
}

const addressOf = (number: number): string => `P${String(number).padStart(3, '0').replaceAll('0', 'z')}`.padEnd(43, 'a');

/** Most hours of most pools say nothing; what the others say falls by the square of a pool's number, which changes from day to day. */
function* hours(): Generator<Told> {
  const random = seededRandom(20_261_129);
  for (let day = 0; day < DAYS; day += 1)
    for (let number = 0; number < POOLS; number += 1)
      for (let times = Math.floor(1 + 2 * random()); times > 0; times -= 1) {
        const size = 1 + ((number * 37 + day * 11) % POOLS) * (0.2 + random());
        const usd = Math.round(5_000_000 / size ** 2);
        const hour = Math.floor(24 * random());
        yield {
          pool: addressOf(number),
          type: number % 3 === 0 ? 'damm_v2' : 'dlmm',
          at: START.getTime() + day * DAY_MS + hour * HOUR_MS,
          usd,
          fees: Math.round(usd * random()),
        };
      }
}

describe('a venue of many pools', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  const told = new Map([...hours()].map((one) => [`${one.pool} ${one.at}`, one]));

  beforeAll(async () => {
    db = await testDatabase();
    const all = [...told.values()];
    await db.pool.query("SELECT ensure_month_partitions('lp_volume_hour', '2026-01-01', '2026-01-01')");
    await db.pool.query("INSERT INTO lp_token (mint, symbol, symbol_key, decimals) VALUES ('x', 'XX', 'xx', 6), ('y', 'YY', 'yy', 6)");
    await db.pool.query(
      "INSERT INTO lp_pool (pool_address, pool_type, mint_x, mint_y) SELECT DISTINCT pool, type, 'x', 'y' FROM unnest($1::text[], $2::text[]) t(pool, type)",
      [all.map(({ pool }) => pool), all.map(({ type }) => type)],
    );
    await db.pool.query(
      'INSERT INTO lp_volume_hour (pool_address, hour, volume_usd, fees_usd, protocol_fees_usd) SELECT pool, at, usd, fees, 0 FROM unnest($1::text[], $2::timestamptz[], $3::numeric[], $4::numeric[]) t(pool, at, usd, fees)',
      [all.map(({ pool }) => pool), all.map(({ at }) => new Date(at)), all.map(({ usd }) => usd), all.map(({ fees }) => fees)],
    );
    const client = await db.pool.connect();
    await client.query('BEGIN');
    await rebuild(client);
    await client.query('COMMIT');
    client.release();
  });
  afterAll(() => db.drop());

  /** Pools of hours that begin in [from, to), most first, ties by address. */
  function ranked(from: number, to: number, of: 'usd' | 'fees', type = 'all'): { pool: string; sum: number; usd: number }[] {
    const sums = new Map<string, { pool: string; sum: number; usd: number }>();
    for (const one of told.values()) {
      if (one.at < from || one.at >= to || (type !== 'all' && one.type !== type)) continue;
      const row = sums.get(one.pool) ?? { pool: one.pool, sum: 0, usd: 0 };
      sums.set(one.pool, row);
      row.sum += one[of];
      row.usd += one.usd;
    }
    return [...sums.values()].sort((a, b) => b.sum - a.sum || b.usd - a.usd || (a.pool < b.pool ? -1 : 1));
  }

  it('leaves out only pools that cannot be among the first, and most of them', async () => {
    const window = fc.tuple(fc.integer({ min: 24, max: DAYS * 24 }), fc.integer({ min: 0, max: 14 * 24 })).map(([length, back]) => {
      const to = NOW.getTime() - back * HOUR_MS;
      return { from: new Date(to - length * HOUR_MS), to: new Date(to) };
    });
    const sizes: number[] = [];
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(window, fc.constant({ from: BEGINNING, to: NOW })),
        fc.constantFrom(1, 5, 20, 100),
        fc.constantFrom('usd', 'fees'),
        async ({ from, to }, limit, of) => {
          const whole = ranked(from.getTime(), to.getTime(), of as 'usd' | 'fees');
          const rows = (pools: readonly string[] | null): Promise<typeof whole> => {
            sizes.push(pools?.length ?? POOLS);
            return Promise.resolve(whole.filter(({ pool }) => pools?.includes(pool) ?? true).slice(0, limit));
          };
          const found = await firstPools(
            sqlOver(db),
            { bound: of === 'usd' ? 'usd' : 'fee_usd', window: { from, to }, limit },
            rows,
            (first) => first[limit - 1]?.sum ?? 0,
          );
          expect(found).toEqual(whole.slice(0, limit));
        },
      ),
      { numRuns: 60, seed: 7 },
    );
    expect(sizes.filter((size) => size < POOLS / 2).length).toBeGreaterThan(sizes.length / 2);
  });

  it.each(['24h', '7d', 'all'] as const)('ranks those of %s as their hours say', async (timeframe) => {
    const { from, to } = windowOf(timeframe, NOW);
    for (const [sort_by, of] of [
      ['volume', 'usd'],
      ['fees', 'fees'],
    ] as const)
      for (const pool_type of ['all', 'damm_v2'])
        for (const limit of [20, 100]) {
          const { data } = await ask<{ pool_address: string }[]>(db, 'lp/pools/top', NOW, { timeframe, sort_by, pool_type, limit });
          const wanted = ranked(from.getTime(), to.getTime(), of, pool_type).slice(0, limit);
          expect(data.map(({ pool_address }) => pool_address)).toEqual(wanted.map(({ pool }) => pool));
        }
    const { data: cells } = await ask<{ pool_address: string; volume_usd: number }[]>(db, 'lp/platform/volume-heatmap', NOW, { timeframe });
    const volumes = new Map<string, number>();
    for (const { pool_address, volume_usd } of cells) volumes.set(pool_address, (volumes.get(pool_address) ?? 0) + volume_usd);
    const shown = ranked(from.getTime(), to.getTime(), 'usd').slice(0, 20);
    expect(volumes).toEqual(new Map(shown.map(({ pool, usd }) => [pool, usd])));
  });

  it('finds the largest of a token of them all', async () => {
    const { from, to } = windowOf('7d', NOW);
    const { data } = await ask<{ pool_address: string }[]>(db, 'lp/pools/search', NOW, { query: 'xx', limit: 10 });
    expect(data.map(({ pool_address }) => pool_address)).toEqual(
      ranked(from.getTime(), to.getTime(), 'usd')
        .slice(0, 10)
        .map(({ pool }) => pool),
    );
  });
});
