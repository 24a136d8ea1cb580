import { makeContext } from '../../../src/graph/context';
import { lpWorld } from '../../../src/sandbox/simulator/lp';
import { previousWindow, TIMEFRAMES, windowOf } from '../../../src/lib/timeframe';
import { makeLoaders } from '../../../src/venues/lp/loaders';
import { testDatabase } from '../../support/database';
import { type Answer, ask } from './ask';
import { loadAtOnce } from '../../support/world';
import { scoresWritten } from './load';
import {
  newestFirst,
  type RawEvent,
  type RawSwap,
  type RawWorld,
  readWorld,
  scoreBefore,
  searchByHand,
  statsByHand,
  toSix,
  scaled,
} from './recount';

// Every answer again, in plain TypeScript over the facts of a simulated world, to the last digit.

const START = new Date('2026-03-01T00:00:00Z');
const NOW = new Date('2026-03-10T15:37:21Z');
let db: Awaited<ReturnType<typeof testDatabase>>;
let world: RawWorld;

beforeAll(async () => {
  db = await testDatabase();
  const simulated = lpWorld({ seed: 7, size: 25_000, start: START });
  // Two more hours than the clock shows: what is after now must not be seen.
  await loadAtOnce(db.pool, 'lp', simulated.pages(START, new Date(NOW.getTime() + 7_200_000)));
  const owners = simulated.truth();
  for (const [i, day] of ['2026-03-04', '2026-03-05', '2026-03-08', '2026-03-09', '2026-03-10'].entries()) {
    for (const [j, { owner }] of owners.entries()) {
      if ((i + j) % 3 === 0) continue;
      await db.pool.query('INSERT INTO lp_score (owner, day, score, n, wins, version) VALUES ($1, $2, $3, 5, 3, $4)', [
        owner,
        day,
        ((i * 17 + j * 31) % 1000) / 10,
        'test',
      ]);
    }
  }
  await scoresWritten(db.pool);
  world = await readWorld(db.pool);
});
afterAll(() => db.drop());

test('the world is worth counting', () => {
  expect(world.events.length).toBeGreaterThan(2_000);
  expect(world.swaps.length).toBeGreaterThan(2_000);
  expect(world.hours.length).toBeGreaterThan(300);
  expect(new Set(world.events.map((event) => event.pool_type)).size).toBe(2);
  expect(world.events.filter((event) => event.usd === null).length).toBeGreaterThan(10);
});

describe('platform/stats', () => {
  test.each(TIMEFRAMES.flatMap((timeframe) => (['all', 'dlmm', 'damm_v2'] as const).map((type) => [timeframe, type] as const)))(
    '%s %s',
    async (timeframe, pool_type) => {
      const wanted = statsByHand(world, pool_type, windowOf(timeframe, NOW), previousWindow(timeframe, NOW));
      const asked = ask(db, 'lp/platform/stats', NOW, { timeframe, pool_type });
      if (wanted === null) return expect(asked).rejects.toMatchObject({ code: 'empty_result' });
      const { data, meta } = await asked;
      expect(data).toEqual(wanted);
      expect(meta.timeframe).toBe(timeframe);
    },
  );
});

describe('pools/search', () => {
  test.each([
    ['SOL-USDC', 'all', 10],
    ['usdc/sol', 'all', 50],
    ['sol', 'dlmm', 50],
    ['SOL', 'damm_v2', 7],
    ['a', 'all', 50],
    ['ra', 'all', 20],
    ['token', 'all', 50],
    ['So11111111111111111111111111111111111111112', 'all', 50],
    ['ka-sol', 'all', 50],
    ['35YP4zjMVHm1VsBe1ZVGxonqEaXwzZY5z2Jm132Lkwyf', 'all', 10],
    ['  USDT ', 'all', 50],
  ] as const)('%s %s %i', async (query, pool_type, limit) => {
    const wanted = searchByHand(world, query, pool_type, limit, windowOf('7d', NOW));
    const { data, meta } = await ask<Record<string, unknown>[]>(db, 'lp/pools/search', NOW, { query, pool_type, limit });
    expect(
      data.map(({ pool_address, match, volume_usd, event_count, unique_lps }) => ({
        pool_address,
        match,
        volume_usd,
        event_count,
        unique_lps,
      })),
    ).toEqual(wanted);
    expect(wanted.length).toBeGreaterThan(0);
    expect(meta.count).toBe(wanted.length);
  });
});

describe('pools/events', () => {
  const shownEvent = (event: RawEvent): Record<string, unknown> => ({
    tx_id: event.tx_id,
    owner: event.owner,
    usd_total: event.usd === null ? null : toSix(scaled(event.usd)),
    timestamp: event.timestamp.toISOString().replace('.000', ''),
  });
  const shownSwap = (swap: RawSwap): Record<string, unknown> => ({
    tx_id: swap.tx_id,
    owner: swap.trader,
    usd_total: swap.usd === null ? null : toSix(scaled(swap.usd)),
    timestamp: swap.timestamp.toISOString().replace('.000', ''),
  });

  /** All pages of 37 rows, joined. */
  async function allPages(variables: Record<string, unknown>): Promise<Record<string, unknown>[]> {
    const rows: Record<string, unknown>[] = [];
    for (let cursor: string | null = null; ;) {
      const answer: Answer<Record<string, unknown>[]> = await ask<Record<string, unknown>[]>(db, 'lp/pools/events', NOW, {
        ...variables,
        field_case: 'snake',
        limit: 37,
        cursor,
      });
      rows.push(...answer.data);
      cursor = answer.meta.next_cursor;
      expect(answer.data.length).toBe(cursor === null ? answer.meta.count : 37);
      if (cursor === null) return rows;
    }
  }

  test('deposits, withdrawals and claims of each pool, by every filter, page by page', async () => {
    const busiest = [...new Set(world.events.map((event) => event.pool_address))].sort((a, b) => count(b) - count(a)).slice(0, 4);
    for (const pool_address of busiest) {
      const own = newestFirst(
        world.events.filter((event) => event.pool_address === pool_address && event.timestamp <= NOW),
        (event) => [event.tx_id, event.position_address, event.kind, event.n],
      );
      const owner = own[0]?.owner as string;
      const filters: [Record<string, unknown>, (event: RawEvent) => boolean][] = [
        [{}, () => true],
        [{ event_type: 'deposit' }, (event) => event.kind === 'deposit'],
        [{ event_type: 'RemoveLiquidity' }, (event) => event.kind === 'withdraw'],
        [{ event_type: 'claim_fee', min_usd: 2.5 }, (event) => event.kind === 'claim' && Number(event.usd ?? 0) >= 2.5],
        [{ owner }, (event) => event.owner === owner],
        [{ owner, min_usd: 100 }, (event) => event.owner === owner && Number(event.usd ?? 0) >= 100],
      ];
      for (const [variables, keeps] of filters) {
        const wanted = own.filter(keeps).map(shownEvent);
        if (wanted.length === 0) continue;
        const rows = await allPages({ pool_address, ...variables });
        expect(rows.map(({ tx_id, owner: shown, usd_total, timestamp }) => ({ tx_id, owner: shown, usd_total, timestamp }))).toEqual(
          wanted,
        );
      }
    }
    function count(pool: string): number {
      return world.events.filter((event) => event.pool_address === pool).length;
    }
  });

  test('swaps only when asked for', async () => {
    const pool_address = '35YP4zjMVHm1VsBe1ZVGxonqEaXwzZY5z2Jm132Lkwyf';
    const own = newestFirst(
      world.swaps.filter((swap) => swap.pool_address === pool_address && swap.timestamp <= NOW),
      (swap) => [swap.tx_id, swap.outer_ix, swap.inner_ix],
    );
    const rows = await allPages({ pool_address, event_type: 'swap' });
    expect(rows.map(({ tx_id, owner, usd_total, timestamp }) => ({ tx_id, owner, usd_total, timestamp }))).toEqual(own.map(shownSwap));
    const large = await allPages({
      pool_address,
      event_type: 'swap',
      min_usd: 500,
      owner: own.find((swap) => Number(swap.usd) >= 500)?.trader,
    });
    expect(large.length).toBe(own.filter((swap) => Number(swap.usd) >= 500 && swap.trader === large[0]?.owner).length);
  });

  test('scores of the day before each event', async () => {
    const some = world.events.filter((event) => event.owner !== null && scoreBefore(world, event.owner, event.timestamp) !== null);
    expect(some.length).toBeGreaterThan(100);
    const { scoreBefore: load } = makeContext(db, NOW).loaders(makeLoaders);
    const sample = world.events.filter((event) => event.owner !== null).slice(0, 400);
    const loaded = await Promise.all(
      sample.map((event) => load.load({ owner: event.owner as string, day: event.timestamp.toISOString().slice(0, 10) })),
    );
    expect(loaded).toEqual(sample.map((event) => scoreBefore(world, event.owner as string, event.timestamp)));
  });
});
