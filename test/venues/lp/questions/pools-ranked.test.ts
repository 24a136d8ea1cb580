import { testDatabase } from '../../../support/database';
import { scoresWritten } from '../load';
import { ask } from '../ask';
import { type Between, eventsIn, factsOf, isSmartIn, over, shown, swapTotals, whole, type WorldFacts } from '../oracle';
import { START, storeOf } from '../world';

const HOUR = 3_600_000;
const LENGTHS = { '4h': 4 * HOUR, '24h': 24 * HOUR, '7d': 168 * HOUR } as const;
/** In the middle of an hour: both ends of every window cut hours. */
const NOW = new Date(START.getTime() + 11 * 24 * HOUR + 5 * HOUR + 23 * 60_000 + 41_000);
const windowOf = (timeframe: string): Between => ({
  from: timeframe === 'all' ? 0 : NOW.getTime() - LENGTHS[timeframe as keyof typeof LENGTHS],
  to: NOW.getTime(),
});

interface TrendingRow {
  pool_address: string;
  pool_type: string;
  volume_usd: number;
  volume_change_pct: number | null;
  volume_spike_multiplier: number | null;
  event_count: number;
  unique_lps: number;
  smart_lp_count: number;
  fees_usd: number | null;
  fee_rate_pct: number | null;
  fee_rate_flag: string | null;
}

describe('rankings of pools on a simulated world', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let facts: WorldFacts;

  beforeAll(async () => {
    db = await storeOf(9_000, 12);
    await db.pool.query(`INSERT INTO lp_score (owner, day, score, n, wins, version)
      SELECT owner, d.day, CASE WHEN i % 3 = 0 THEN 75.5 ELSE 40 END, 5, 3, 'test' FROM (SELECT owner, row_number() OVER (ORDER BY owner) AS i FROM lp_position_sum WHERE owner IS NOT NULL GROUP BY owner) o
      CROSS JOIN (VALUES ('2026-01-04'::date), ('2026-01-09'::date)) d(day) WHERE d.day < '2026-01-09' OR i % 2 = 0`);
    await scoresWritten(db.pool);
    facts = await factsOf(db.pool);
  });
  afterAll(() => db.drop());

  /** What a pool did in a window, counted from facts. */
  function counted(
    pool: string,
    window: Between,
  ): Pick<TrendingRow, 'event_count' | 'unique_lps' | 'smart_lp_count' | 'fees_usd' | 'fee_rate_pct' | 'volume_usd'> {
    const swaps = swapTotals(facts, window).get(pool) ?? { usd: 0n, fee: null, swaps: 0 };
    const events = eventsIn(facts, window).filter((event) => event.pool === pool);
    const owners = [...new Set(events.map((event) => event.owner))].filter((owner) => owner !== null);
    const rate = swaps.fee === null ? null : over(swaps.fee * 100n, swaps.usd);
    return {
      volume_usd: shown(swaps.usd),
      event_count: events.length + swaps.swaps,
      unique_lps: owners.length,
      smart_lp_count: owners.filter((owner) => isSmartIn(facts, events, owner)).length,
      fees_usd: swaps.fee === null ? null : shown(swaps.fee),
      fee_rate_pct: rate === null ? null : shown(rate),
    };
  }

  function spiked(pool: string, timeframe: string): Pick<TrendingRow, 'volume_change_pct' | 'volume_spike_multiplier'> {
    if (timeframe === 'all') return { volume_change_pct: null, volume_spike_multiplier: null };
    const length = LENGTHS[timeframe as keyof typeof LENGTHS];
    const volume = (back: number): bigint =>
      swapTotals(facts, { from: NOW.getTime() - (back + 1) * length, to: NOW.getTime() - back * length }).get(pool)?.usd ?? 0n;
    const stamps = [...facts.events, ...facts.swaps, ...facts.hours].filter((fact) => fact.pool === pool).map((fact) => fact.at);
    const born = Math.min(...stamps);
    const backs = [1, 2, 3, 4, 5, 6, 7].filter((back) => NOW.getTime() - back * length > born);
    const [now, previous] = [volume(0), backs.length > 0 ? volume(1) : 0n];
    const first = Math.min(...[...facts.events, ...facts.swaps, ...facts.hours].map((fact) => fact.at));
    const isKnown = first - (first % HOUR) <= NOW.getTime() - 2 * length;
    const change = isKnown ? over((now - previous) * 100n, previous) : null;
    const sum = backs.reduce((all, back) => all + volume(back), 0n);
    const spike = backs.length < 3 ? null : over(now + whole(1000), sum / BigInt(backs.length) + whole(1000));
    return { volume_change_pct: change === null ? null : shown(change), volume_spike_multiplier: spike === null ? null : shown(spike) };
  }

  it.each(['4h', '24h', '7d', 'all'])('pools/trending of %s is what the facts say', async (timeframe) => {
    const { data, meta } = await ask<TrendingRow[]>(db, 'lp/pools/trending', NOW, { timeframe, limit: 100, min_volume_usd: 500 });
    const wanted = [...swapTotals(facts, windowOf(timeframe))].filter(([, { usd }]) => usd >= whole(500)).map(([pool]) => pool);
    expect(data.map((row) => row.pool_address).sort()).toEqual(wanted.sort());
    expect(data.length).toBeGreaterThan(3);
    expect(new Set(data.map((row) => row.pool_address)).size).toBe(data.length);
    for (const row of data)
      expect(row).toMatchObject({ ...counted(row.pool_address, windowOf(timeframe)), ...spiked(row.pool_address, timeframe) });
    const keys = data.map((row) => [row.volume_spike_multiplier ?? -1, row.volume_usd] as const);
    keys.slice(1).forEach((key, i) => {
      const before = keys[i] as (typeof keys)[number];
      expect(before[0] > key[0] || (before[0] === key[0] && before[1] >= key[1])).toBe(true);
    });
    expect(meta).toMatchObject({ timeframe, count: data.length });
  });

  it('pools/trending of everything is what the facts say where nothing newer is kept', async () => {
    const end = new Date(START.getTime() + 13 * 24 * HOUR);
    const { data } = await ask<TrendingRow[]>(db, 'lp/pools/trending', end, { timeframe: 'all', limit: 100, min_volume_usd: 500 });
    expect(data.length).toBeGreaterThan(3);
    for (const row of data) expect(row).toMatchObject(counted(row.pool_address, { from: 0, to: end.getTime() }));
  });

  it('pools/trending keeps to the type, the limit and the least volume', async () => {
    const all = (await ask<TrendingRow[]>(db, 'lp/pools/trending', NOW, { limit: 100, min_volume_usd: 0 })).data;
    const damm = (await ask<TrendingRow[]>(db, 'lp/pools/trending', NOW, { limit: 100, min_volume_usd: 0, pool_type: 'damm_v2' })).data;
    expect(damm).toEqual(all.filter((row) => row.pool_type === 'damm_v2'));
    expect((await ask<TrendingRow[]>(db, 'lp/pools/trending', NOW, { limit: 2, min_volume_usd: 0 })).data).toEqual(all.slice(0, 2));
    await expect(ask(db, 'lp/pools/trending', NOW, { min_volume_usd: 1e12 })).rejects.toMatchObject({ code: 'empty_result' });
  });

  interface TopRow extends Omit<TrendingRow, 'fees_usd' | 'volume_usd'> {
    volume_usd: number | null;
    total_fees_usd: number | null;
    net_liquidity_usd: number;
    liquidity_usd: number | null;
    fee_tvl_ratio_pct: number | null;
    rank: number;
  }
  const METRIC: Record<string, (row: TopRow) => number | null> = {
    volume: (row) => row.volume_usd,
    fees: (row) => row.total_fees_usd,
    liquidity: (row) => row.liquidity_usd,
    lp_count: (row) => row.unique_lps,
    events: (row) => row.event_count,
    fee_rate: (row) => row.fee_rate_pct,
  };

  it.each(Object.keys(METRIC))('pools/top by %s is what the facts say', async (sort_by) => {
    const { data } = await ask<TopRow[]>(db, 'lp/pools/top', NOW, { sort_by, limit: 100 });
    const window = windowOf('7d');
    if (sort_by !== 'liquidity') {
      const swapped = [...swapTotals(facts, window)].filter(([, { usd, swaps }]) => usd > 0n || swaps > 0).map(([pool]) => pool);
      const touched = new Set([...swapped, ...eventsIn(facts, window).map((event) => event.pool)]);
      expect(data.map((row) => row.pool_address).sort()).toEqual([...touched].filter((pool) => facts.pools.has(pool)).sort());
    } else expect(data.every((row) => row.liquidity_usd !== null)).toBe(true);
    for (const row of data) {
      const { fees_usd, volume_usd, ...rest } = counted(row.pool_address, window);
      const life = facts.events.filter((event) => event.pool === row.pool_address && event.at < NOW.getTime() && event.usd !== null);
      const net = life.reduce(
        (sum, { kind, usd }) => sum + (kind === 'deposit' ? (usd as bigint) : kind === 'withdraw' ? -(usd as bigint) : 0n),
        0n,
      );
      const known = swapTotals(facts, windowOf('all')).has(row.pool_address) && !swapTotals(facts, window).has(row.pool_address);
      expect(row).toMatchObject({ ...rest, total_fees_usd: known ? 0 : fees_usd });
      if (row.volume_usd !== null) expect(row.volume_usd).toBe(volume_usd);
      expect(row.net_liquidity_usd).toBe(shown(net));
    }
    const keys = data.map((row) => METRIC[sort_by]?.(row) ?? -1);
    expect([...keys].sort((a, b) => b - a)).toEqual(keys);
    expect(data.map((row) => row.rank)).toEqual(data.map((_, i) => i + 1));
    expect(data.length).toBeGreaterThan(3);
  });

  it.each(Object.keys(METRIC))(
    'pools/top by %s is cut anywhere as the whole list is, also where pools without swaps follow',
    async (sort_by) => {
      const quiet = facts.events.find(({ pool, at }) => {
        const swapped = swapTotals(facts, { from: at + 1 - HOUR, to: at + 1 });
        return facts.pools.has(pool) && !swapped.has(pool) && swapped.size > 1;
      }) as WorldFacts['events'][number];
      const now = new Date(quiet.at + 1);
      const top = async (limit: number): Promise<TopRow[]> =>
        (await ask<TopRow[]>(db, 'lp/pools/top', now, { sort_by, timeframe: '1h', limit })).data;
      const all = await top(100);
      if (sort_by !== 'liquidity') expect(all.map((row) => row.pool_address)).toContain(quiet.pool);
      for (const limit of all.keys()) expect(await top(limit + 1)).toEqual(all.slice(0, limit + 1));
    },
  );

  it('pools/top divides generated fees by mean liquidity and days', async () => {
    const { data } = await ask<TopRow[]>(db, 'lp/pools/top', NOW, { limit: 100 });
    const { rows } = await db.pool.query<{ pool_address: string; usd: string; born: Date }>(
      `SELECT l.pool_address, avg(l.liquidity_usd) AS usd, min(p.created_at) AS born FROM lp_liquidity_hour l JOIN lp_pool p USING (pool_address) WHERE l.as_of >= $1 AND l.as_of < $2 GROUP BY 1`,
      [new Date(windowOf('7d').from), NOW],
    );
    const mean = new Map(rows.map((row) => [row.pool_address, Number(row.usd)]));
    const checked = data.filter((row) => row.fee_tvl_ratio_pct !== null);
    expect(checked.length).toBeGreaterThan(2);
    for (const row of checked) {
      const born = facts.pools.get(row.pool_address)?.created ?? 0;
      const days = (NOW.getTime() - Math.max(windowOf('7d').from, born)) / 86_400_000;
      const ratio = (100 * (row.total_fees_usd as number)) / (mean.get(row.pool_address) as number) / days;
      expect(row.fee_tvl_ratio_pct).toBeCloseTo(ratio, 4);
    }
  });

  it.each(['7d', 'all'])('pools/top and pools/fee-analysis of %s agree on fees per liquidity and day', async (timeframe) => {
    let young = 0;
    for (const { pool_address, fee_tvl_ratio_pct } of (await ask<TopRow[]>(db, 'lp/pools/top', NOW, { timeframe, limit: 100 })).data) {
      const claims = eventsIn(facts, windowOf(timeframe)).filter((event) => event.pool === pool_address && event.kind === 'claim');
      if (claims.length === 0 || fee_tvl_ratio_pct === null) continue;
      const { data } = await ask<{ fees_per_1k_liquidity_day: number }>(db, 'lp/pools/fee-analysis', NOW, { pool_address, timeframe });
      expect(data.fees_per_1k_liquidity_day).toBeCloseTo(10 * fee_tvl_ratio_pct, 4);
      young += Number((facts.pools.get(pool_address)?.created ?? 0) > windowOf('7d').from);
    }
    expect(young).toBeGreaterThan(0);
  });

  it('pools/top leaves out pools of little liquidity, and flagged ones on request', async () => {
    const all = (await ask<TopRow[]>(db, 'lp/pools/top', NOW, { limit: 100, timeframe: 'all' })).data;
    const floor = [...all].map((row) => row.liquidity_usd ?? 0).sort((a, b) => a - b)[Math.floor(all.length / 2)] as number;
    const rich = (await ask<TopRow[]>(db, 'lp/pools/top', NOW, { limit: 100, timeframe: 'all', min_liquidity_usd: floor })).data;
    expect(rich.map((row) => row.pool_address)).toEqual(
      all.filter((row) => (row.liquidity_usd ?? -1) >= floor).map((row) => row.pool_address),
    );
    const plain = (await ask<TopRow[]>(db, 'lp/pools/top', NOW, { limit: 100, timeframe: 'all', exclude_anomalous: true })).data;
    expect(plain.map((row) => row.pool_address)).toEqual(all.filter((row) => row.fee_rate_flag === null).map((row) => row.pool_address));
  });
});
