import { DAY_MS } from '../../../../src/lib/time';
import { testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { type Between, eventsIn, factsOf, grouped, over, shown, swapTotals, total, type WorldFacts } from '../oracle';
import { START, storeOf } from '../world';

const HOUR = 3_600_000;
const NOW = new Date(START.getTime() + 11 * 24 * HOUR + 5 * HOUR + 23 * 60_000 + 41_000);
const SIZES: Record<string, number> = { '1h': HOUR, '4h': 4 * HOUR, '12h': 12 * HOUR, '1d': 24 * HOUR };

interface Bucket {
  bucket: string;
  volume_usd: number | null;
  event_count: number;
  action_breakdown: { action: string; count: number; usd: number | null }[];
  fees_usd: number | null;
  unique_lps: number;
  net_liquidity_usd: number;
}

interface Cell {
  action: string;
  bucket: string;
  pool_type: string;
  volume_usd: number;
  event_count: number;
  pool_address: string | null;
  pct_of_bucket: number;
}

describe('volume of pools on a simulated world', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let facts: WorldFacts;
  let pools: string[];

  beforeAll(async () => {
    db = await storeOf(9_000, 12);
    facts = await factsOf(db.pool);
    const busy = (rows: { pool: string }[]): string =>
      [...grouped(rows, (row) => row.pool)].sort((a, b) => b[1].length - a[1].length)[0]?.[0] as string;
    pools = [busy(facts.events.filter((event) => event.type === 'damm_v2')), busy(facts.hours), busy(facts.swaps)];
  });
  afterAll(() => db.drop());

  const usd = (rows: readonly { usd: bigint | null }[]): bigint => total(rows.map((row) => row.usd));

  it.each([
    ['24h', 24 * HOUR, '1h'],
    ['7d', 168 * HOUR, '4h'],
    ['7d', 168 * HOUR, '12h'],
    ['all', Number.POSITIVE_INFINITY, '1d'],
  ])('volume-history of %s in buckets is what the facts say', async (timeframe, length, bucket_size) => {
    for (const pool of pools) {
      const { data, meta } = await ask<Bucket[]>(db, 'lp/pools/volume-history', NOW, { pool_address: pool, timeframe, bucket_size });
      const size = SIZES[bucket_size] as number;
      const mine = facts.events.filter((event) => event.pool === pool);
      const first = Math.min(
        timeframe === 'all' ? Infinity : (facts.pools.get(pool)?.created ?? Infinity),
        ...[...mine, ...facts.swaps, ...facts.hours].filter((fact) => fact.pool === pool).map((fact) => fact.at),
      );
      const from = Math.max(NOW.getTime() - length, first);
      expect(data.map((row) => Date.parse(row.bucket))).toEqual(
        Array.from({ length: data.length }, (_, i) => Math.floor(from / size) * size + i * size),
      );
      expect(Date.parse(data.at(-1)?.bucket as string) + size).toBeGreaterThanOrEqual(NOW.getTime());
      expect(meta.window?.from.getTime()).toBe(from);
      for (const row of data) {
        const start = Date.parse(row.bucket);
        const span = { from: Math.max(start, from), to: Math.min(start + size, NOW.getTime()) };
        const swaps = swapTotals(facts, span).get(pool);
        const events = eventsIn(facts, span).filter((event) => event.pool === pool);
        const of = (kind: string): typeof events => events.filter((event) => event.kind === kind);
        const until = mine.filter((event) => event.at < span.to);
        const sums = ['deposit', 'withdraw', 'claim'].map((kind) => ({ action: kind, count: of(kind).length, usd: shown(usd(of(kind))) }));
        expect([...row.action_breakdown].filter(({ action }) => action !== 'swap')).toEqual(sums);
        expect(row.action_breakdown.find(({ action }) => action === 'swap')).toEqual({
          action: 'swap',
          count: swaps?.swaps ?? 0,
          usd: row.volume_usd,
        });
        // A stated hour cannot be cut: of a bucket in which none begins nothing is known, unless swaps are seen.
        const stated = facts.hours.filter((hour) => hour.pool === pool && hour.at < NOW.getTime()).map(({ at }) => at);
        const begin = Math.max(Math.ceil(span.from / HOUR) * HOUR, Math.min(...stated));
        const known =
          facts.swaps.some((swap) => swap.pool === pool && swap.at < NOW.getTime()) ||
          begin < Math.min(start + size, Math.max(...stated) + HOUR);
        expect(row.volume_usd).toBe(known ? shown(swaps?.usd ?? 0n) : null);
        expect(row.event_count).toBe(events.length + (swaps?.swaps ?? 0));
        expect(row.unique_lps).toBe(new Set(events.map((event) => event.owner).filter((owner) => owner !== null)).size);
        expect(row.net_liquidity_usd).toBe(
          shown(usd(until.filter(({ kind }) => kind === 'deposit')) - usd(until.filter(({ kind }) => kind === 'withdraw'))),
        );
        if (swaps?.fee != null) expect(row.fees_usd).toBe(shown(swaps.fee));
      }
    }
  });

  it('volume-history knows no unknown pool, and no other type of this one', async () => {
    const [pool_address] = pools;
    await expect(ask(db, 'lp/pools/volume-history', NOW, { pool_address: '11111111111111111111111111111111' })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(ask(db, 'lp/pools/volume-history', NOW, { pool_address, pool_type: 'dlmm' })).rejects.toMatchObject({
      code: 'not_found',
      context: { suggestion: { pool_type: 'damm_v2' } },
    });
  });

  it.each([
    ['24h', 24 * HOUR, '1h'],
    ['7d', 168 * HOUR, '4h'],
    ['30d', 720 * HOUR, '1d'],
    ['all', NOW.getTime() - START.getTime(), '1d'],
  ])('volume-heatmap of %s shares out every bucket', async (timeframe, length, bucket_size) => {
    const size = SIZES[bucket_size] as number;
    const from = NOW.getTime() - length;
    for (const [group_by, pool_type] of [
      ['pool', 'all'],
      ['pool', 'damm_v2'],
      ['action', 'all'],
      ['action', 'dlmm'],
    ] as const) {
      const { data } = await ask<Cell[]>(db, 'lp/platform/volume-heatmap', NOW, { timeframe, group_by, pool_type, limit: 100 });
      const isAsked = (type: string | undefined): boolean => pool_type === 'all' || type === pool_type;
      const swapsIn = (span: Between): ReturnType<typeof swapTotals> =>
        new Map([...swapTotals(facts, span)].filter(([pool]) => isAsked(facts.pools.get(pool)?.type)));
      for (const [bucket, cells] of grouped(data, (cell) => cell.bucket)) {
        const span = { from: Math.max(Date.parse(bucket), from), to: Math.min(Date.parse(bucket) + size, NOW.getTime()) };
        const swaps = swapsIn(span);
        const events = eventsIn(facts, span).filter((event) => isAsked(event.type));
        const typed = (type: string): bigint =>
          total([...swaps].filter(([pool]) => facts.pools.get(pool)?.type === type).map(([, s]) => s.usd));
        const own = (cell: Cell): bigint => {
          if (cell.action === 'all') return swaps.get(cell.pool_address as string)?.usd ?? 0n;
          if (cell.action === 'swap') return typed(cell.pool_type);
          return usd(events.filter((event) => event.kind === cell.action && event.type === cell.pool_type));
        };
        const everything = total([...swaps.values()].map((s) => s.usd)) + (group_by === 'pool' ? 0n : usd(events));
        for (const cell of cells) {
          expect(cell.volume_usd).toBe(shown(own(cell)));
          const share = over(own(cell) * 100n, everything);
          expect(cell.pct_of_bucket).toBe(share === null ? null : shown(share));
        }
        if (everything > 0n) expect(cells.reduce((sum, cell) => sum + cell.pct_of_bucket, 0)).toBeCloseTo(100, 3);
      }
      expect(data.length).toBeGreaterThan(10);
      const volumes = total([...swapsIn({ from, to: NOW.getTime() }).values()].map((s) => s.usd));
      const swapped = data.filter(({ action }) => action === 'all' || action === 'swap').reduce((sum, cell) => sum + cell.volume_usd, 0);
      expect(swapped).toBeCloseTo(shown(volumes), 1);
    }
  });

  it.each(['4h', '24h', '7d', 'all'])('volume-heatmap of %s cuts pools, not shares', async (timeframe) => {
    const all = (await ask<Cell[]>(db, 'lp/platform/volume-heatmap', NOW, { timeframe, limit: 100 })).data;
    const { data, meta } = await ask<Cell[]>(db, 'lp/platform/volume-heatmap', NOW, { timeframe, limit: 2 });
    const sums = [...grouped(all, (cell) => cell.pool_address as string)].map(
      ([pool, cells]) => [pool, cells.reduce((sum, cell) => sum + cell.volume_usd, 0)] as const,
    );
    const top = sums
      .sort((a, b) => b[1] - a[1])
      .slice(0, 2)
      .map(([pool]) => pool);
    expect(data).toEqual(all.filter((cell) => top.includes(cell.pool_address as string)));
    expect(meta.count).toBe(2);
  });

  it('what a series without anything suggests has buckets that are not too many of its window', async () => {
    const later = new Date(NOW.getTime() + 100 * DAY_MS);
    const pool_address = [...facts.pools.keys()][0];
    for (const path of ['lp/pools/volume-history', 'lp/pools/fee-analysis'])
      await expect(ask(db, path, later, { pool_address, timeframe: '30d', bucket_size: '1h' })).rejects.toMatchObject({
        code: 'empty_result',
        context: { suggestion: { timeframe: '90d', bucket_size: '4h' } },
      });
  });

  it('volume-heatmap refuses too many buckets', async () => {
    await expect(ask(db, 'lp/platform/volume-heatmap', NOW, { timeframe: '90d', bucket_size: '1h' })).rejects.toMatchObject({
      code: 'range_too_large',
      context: { suggestion: { bucket_size: '4h' } },
    });
  });

  it('volume-heatmap refuses too many cells of pools, and names a size that fits; actions are few', async () => {
    const month = { timeframe: '30d', bucket_size: '1h' };
    await expect(ask(db, 'lp/platform/volume-heatmap', NOW, { ...month, limit: 100 })).rejects.toMatchObject({
      code: 'range_too_large',
      context: { suggestion: { bucket_size: '4h' } },
    });
    for (const sent of [{ limit: 20 }, { limit: 100, bucket_size: '4h' }, { limit: 100, group_by: 'action' }])
      expect((await ask<Cell[]>(db, 'lp/platform/volume-heatmap', NOW, { ...month, ...sent })).data.length).toBeGreaterThan(10);
    expect((await ask<Cell[]>(db, 'lp/platform/volume-heatmap', NOW, { timeframe: '365d', limit: 100 })).data.length).toBeGreaterThan(10);
  });
});
