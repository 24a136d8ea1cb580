import { score } from '../../../../src/venues/lp/scoring/job';
import { testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { eventsIn, factsOf, grouped, over, scoreBefore, shown, swapTotals, total, type WorldFacts } from '../oracle';
import { livesOf, positionsAt } from '../positions-oracle';
import { START, storeOf } from '../world';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = new Date(START.getTime() + 11 * DAY + 5 * HOUR + 23 * 60_000 + 41_000);

type Row = Record<string, unknown>;

describe('one pool of a simulated world', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let facts: WorldFacts;
  let pools: string[];

  beforeAll(async () => {
    db = await storeOf(9_000, 12);
    await score(db.pool, NOW, () => undefined);
    facts = await factsOf(db.pool);
    const busy = (rows: { pool: string }[]): string =>
      [...grouped(rows, (row) => row.pool)].sort((a, b) => b[1].length - a[1].length)[0]?.[0] as string;
    const claims = facts.events.filter((event) => event.kind === 'claim' && event.at < NOW.getTime() && event.at > NOW.getTime() - 7 * DAY);
    pools = [
      busy(claims.filter((event) => event.type === 'damm_v2')),
      busy(claims.filter((event) => event.type === 'dlmm')),
      busy(facts.hours),
    ];
  });
  afterAll(() => db.drop());

  const usd = (rows: readonly { usd: bigint | null }[]): bigint => total(rows.map((row) => row.usd));
  const rate = (fees: bigint | null | undefined, volume: bigint | undefined): number | null => {
    const value = fees == null || volume === undefined ? null : over(100n * fees, volume);
    return value === null ? null : shown(value);
  };

  it('pools/detail is what the facts say', async () => {
    const positions = positionsAt(facts, await livesOf(db.pool), NOW.getTime());
    let open = 0;
    for (const pool_address of pools) {
      const { data } = await ask<Row>(db, 'lp/pools/detail', NOW, { pool_address });
      const life = { from: 0, to: NOW.getTime() };
      const day = { from: NOW.getTime() - DAY, to: NOW.getTime() };
      const events = eventsIn(facts, life).filter((event) => event.pool === pool_address);
      const of = (kind: string): typeof events => events.filter((event) => event.kind === kind);
      const swaps = swapTotals(facts, life).get(pool_address);
      const latest = swapTotals(facts, day).get(pool_address);
      const volume = shown(swaps?.usd ?? 0n);
      const open_here = positions.filter(
        (row) =>
          row.pool === pool_address && row.closed === null && row.owner !== null && row.events.some(({ kind }) => kind === 'deposit'),
      );
      const held = [...grouped(open_here, (row) => row.owner as string)]
        .map(([owner, own]) => {
          const moved = own.flatMap((row) => row.events);
          return {
            owner,
            net: usd(moved.filter(({ kind }) => kind === 'deposit')) - usd(moved.filter(({ kind }) => kind === 'withdraw')),
          };
        })
        .filter(({ net }) => net > 0n)
        .sort((a, b) => (a.net === b.net ? (a.owner < b.owner ? -1 : 1) : a.net > b.net ? -1 : 1));
      const all = total(held.map(({ net }) => net));
      const active = new Set(open_here.map((row) => row.owner));
      const nowScore = (owner: string): number | null => scoreBefore(facts, owner, NOW.getTime() + DAY);
      expect(data).toMatchObject({
        pool_address,
        total_volume_usd: volume,
        total_events: events.length + (swaps?.swaps ?? 0),
        unique_lps: new Set(events.map((event) => event.owner).filter((owner) => owner !== null)).size,
        volume_by_action: [
          { action: 'deposit', usd: shown(usd(of('deposit'))) },
          { action: 'withdraw', usd: shown(usd(of('withdraw'))) },
          { action: 'swap', usd: volume },
          { action: 'claim', usd: shown(usd(of('claim'))) },
        ],
        net_liquidity_usd: shown(usd(of('deposit')) - usd(of('withdraw'))),
        volume_usd_24h: shown(latest?.usd ?? 0n),
        fees_usd_24h: latest === undefined ? 0 : latest.fee === null ? null : shown(latest.fee),
        fee_rate_pct: rate(latest?.fee, latest?.usd),
        active_lps: active.size,
        smart_lp_count: [...active].filter((owner) => (nowScore(owner as string) ?? 0) >= 60).length,
        top_lps: held.slice(0, 10).map(({ owner, net }) => ({
          owner,
          net_deposit_usd: shown(net),
          share_pct: shown(over(100n * net, all) as bigint),
          lp_score: nowScore(owner),
        })),
      });
      const hhi = held.reduce((sum, { net }) => sum + shown(over(net, all) as bigint, 12) ** 2, 0);
      expect(data.hhi).toEqual(held.length === 0 ? null : expect.closeTo(hhi, 5));
      expect(data.liquidity_usd).toEqual(expect.any(Number));
      open += active.size;
    }
    expect(open).toBeGreaterThan(0);
  });

  it('pools/detail tells the price of the newest swap', async () => {
    const { rows } = await db.pool.query<{ pool_address: string; price: number }>(
      `SELECT DISTINCT ON (s.pool_address) s.pool_address, (CASE WHEN x_to_y THEN amount_out / amount_in ELSE amount_in / amount_out END)::float8 AS price
       FROM lp_swap s WHERE s."timestamp" < $1 AND amount_in > 0 AND amount_out > 0 ORDER BY s.pool_address, "timestamp" DESC`,
      [NOW],
    );
    expect(rows.length).toBeGreaterThan(3);
    for (const { pool_address, price } of rows.slice(0, 8)) {
      const { data } = await ask<{ price: number }>(db, 'lp/pools/detail', NOW, { pool_address });
      // What was swapped differs from the price by fee and by the way through bins.
      expect(Math.abs(Math.log(data.price / price))).toBeLessThan(0.25);
    }
  });

  it('pools/detail knows no pool that is not there', async () => {
    await expect(ask(db, 'lp/pools/detail', NOW, { pool_address: '11111111111111111111111111111111' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it.each([
    ['7d', 7 * DAY, '1d', 24 * HOUR],
    ['7d', 7 * DAY, '4h', 4 * HOUR],
    ['all', Infinity, '1d', 24 * HOUR],
  ])('pools/fee-analysis of %s is what the facts say', async (timeframe, length, bucket_size, size) => {
    for (const pool_address of pools.slice(0, 2)) {
      const { data, meta } = await ask<Row & { time_series: Row[]; top_claimers: Row[] }>(db, 'lp/pools/fee-analysis', NOW, {
        pool_address,
        timeframe,
        bucket_size,
        limit: 100,
      });
      const from = Math.max(NOW.getTime() - length, meta.window?.from.getTime() as number);
      const window = { from, to: NOW.getTime() };
      const claims = eventsIn(facts, window).filter((event) => event.pool === pool_address && event.kind === 'claim');
      const swaps = swapTotals(facts, window).get(pool_address);
      const created = facts.pools.get(pool_address)?.created ?? null;
      const settled =
        created === null ? null : swapTotals(facts, { from: Math.max(from, created + DAY), to: NOW.getTime() }).get(pool_address);
      const owners = [
        ...grouped(
          claims.filter((event) => event.owner !== null),
          (event) => event.owner as string,
        ),
      ].map(([owner, own]) => ({ owner, own, usd: usd(own) }));
      owners.sort((a, b) => (a.usd !== b.usd ? (a.usd > b.usd ? -1 : 1) : b.own.length - a.own.length || (a.owner < b.owner ? -1 : 1)));
      expect(claims.length).toBeGreaterThan(2);
      expect(data).toMatchObject({
        total_fees_claimed: shown(usd(claims)),
        unique_claimers: owners.length,
        volume_usd: shown(swaps?.usd ?? 0n),
        fee_rate_pct: rate(swaps?.fee, swaps?.usd),
        fee_rate_adjusted_pct: settled == null ? null : rate(settled.fee, settled.usd),
        avg_claim_usd: shown(usd(claims) / BigInt(claims.filter((event) => event.usd !== null).length)),
      });
      expect(data.claim_concentration_hhi).toBeCloseTo(
        owners.reduce((sum, owner) => sum + (shown(owner.usd, 12) / shown(usd(claims), 12)) ** 2, 0),
        5,
      );
      expect(data.top_claimers).toEqual(
        owners.map(({ owner, own, usd: sum }) => {
          const times = own.map((event) => event.at);
          const gap = own.length < 2 ? null : (Math.max(...times) - Math.min(...times)) / HOUR / (own.length - 1);
          return {
            owner,
            fees_claimed: shown(sum),
            claims: own.length,
            share_pct: shown(over(100n * sum, usd(claims)) as bigint),
            lp_score: scoreBefore(facts, owner, NOW.getTime() + DAY),
            avg_hours_between_claims: gap === null ? null : expect.closeTo(gap, 6),
          };
        }),
      );
      for (const row of data.time_series) {
        const start = Date.parse(row.bucket as string);
        const span = { from: Math.max(start, from), to: Math.min(start + size, NOW.getTime()) };
        const own = claims.filter((event) => event.at >= span.from && event.at < span.to);
        const swapped = swapTotals(facts, span).get(pool_address);
        expect(row).toMatchObject({
          fees_claimed: shown(usd(own)),
          claims: own.length,
          volume_usd: shown(swapped?.usd ?? 0n),
          fee_rate_pct: rate(swapped?.fee, swapped?.usd),
        });
      }
    }
  });

  it('pools/fee-analysis of a window without claims is empty', async () => {
    const quiet = [...facts.pools.keys()].find((pool) => !facts.events.some((event) => event.pool === pool && event.kind === 'claim'));
    await expect(ask(db, 'lp/pools/fee-analysis', NOW, { pool_address: quiet })).rejects.toMatchObject({
      code: 'empty_result',
      context: { suggestion: { timeframe: '30d' } },
    });
  });
});
