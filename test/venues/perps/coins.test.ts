import { DAY, type Fact, ONE, groupBy, priceAt, second, share, sum, usd, volumeOf } from './reckoning';
import { NOW, type SharedWorld, sharedWorld, told, windowAt } from './shared-world';
import { ask } from './support';

let world: SharedWorld;
beforeAll(async () => {
  world = await sharedWorld();
});
afterAll(() => world.db.drop());

const within = ([from, to]: [number, number], facts = world.facts): Fact[] => facts.filter(({ time }) => time >= from && time < to);
const takers = (facts: readonly Fact[]): Fact[] => facts.filter(({ taker }) => taker);
const buys = (facts: readonly Fact[]): bigint => volumeOf(facts.filter((fact) => fact.buys));
const sells = (facts: readonly Fact[]): bigint => volumeOf(facts.filter((fact) => !fact.buys));
const smart = (facts: readonly Fact[]): Fact[] => facts.filter(({ user }) => (world.scores.get(user) ?? 0) >= 85);
const distinct = (facts: readonly Fact[]): number => new Set(facts.map(({ user }) => user)).size;
const byVolume = <T extends { coin: string; volume: bigint }>(rows: T[]): T[] =>
  rows.sort((a, b) => (a.volume === b.volume ? (a.coin < b.coin ? -1 : 1) : a.volume > b.volume ? -1 : 1));
const answer = async (endpoint: string, variables: Record<string, unknown>): Promise<unknown> =>
  told((await ask(world.db, endpoint, variables, NOW)).data);
const price = (coin: string, at: number): number | null => {
  const last = priceAt(world.facts, coin, at);
  return last === null ? null : Number(last) / Number(ONE);
};

describe('coins/list', () => {
  const rows = (): Record<string, unknown>[] => {
    const week = groupBy(within(windowAt('7d')), ({ coin }) => coin);
    return byVolume(
      [...groupBy(world.facts, ({ coin }) => coin)].map(([coin, all]) => {
        const own = week.get(coin) ?? [];
        return { coin, volume: volumeOf(takers(own)), own, all };
      }),
    ).map(({ coin, volume, own, all }) => ({
      coin, volume_usd: usd(volume), trade_count: takers(own).length, unique_traders: distinct(own), price: price(coin, NOW.getTime()),
      first_seen: second((all[0] as Fact).time), last_trade: second((all.at(-1) as Fact).time), is_active: (all.at(-1) as Fact).time >= NOW.getTime() - DAY,
    })); // prettier-ignore
  };

  test('by volume; listed coins without a fill come last', async () => {
    const data = (await answer('perps/coins/list', {})) as Record<string, unknown>[];
    const expected = rows();
    expect(data.slice(0, expected.length)).toEqual(expected);
    for (const rest of data.slice(expected.length))
      expect(rest).toMatchObject({ volume_usd: 0, price: null, first_seen: null, last_trade: null, is_active: false });
  });

  test('by name, by trades, by prefix, cut', async () => {
    const named = (await answer('perps/coins/list', { sort_by: 'coin', query: 'x' })) as { coin: string }[];
    expect(named.map(({ coin }) => coin)).toEqual(rows().map(({ coin }) => coin as string).filter((coin) => /^x/i.test(coin)).sort((a, b) => (a < b ? -1 : 1))); // prettier-ignore
    const busiest = (await answer('perps/coins/list', { sort_by: 'trade_count', limit: 3 })) as { coin: string }[];
    const expected = rows().sort(
      (a, b) => (b.trade_count as number) - (a.trade_count as number) || ((a.coin as string) < (b.coin as string) ? -1 : 1),
    );
    expect(busiest.map(({ coin }) => coin)).toEqual(expected.slice(0, 3).map(({ coin }) => coin));
    await expect(ask(world.db, 'perps/coins/list', { query: 'nothing' }, NOW)).rejects.toMatchObject({ code: 'empty_result' });
    await expect(ask(world.db, 'perps/coins/list', { query: '%' }, NOW)).rejects.toMatchObject({ code: 'empty_result' });
  });
});

describe('coins/trending', () => {
  function rows(timeframe: string, least: number): (Record<string, unknown> & { coin: string })[] {
    const [from, to] = windowAt(timeframe);
    const length = to - from;
    const first = new Map<string, number>();
    for (const { coin, time } of world.facts) if (!first.has(coin)) first.set(coin, time);
    return [...groupBy(within([from, to]), ({ coin }) => coin)].flatMap(([coin, own]) => {
      const volume = volumeOf(takers(own));
      if (volume < BigInt(least) * ONE) return [];
      const all = world.facts.filter((fact) => fact.coin === coin);
      const earlier = timeframe === 'all' ? [] : [1, 2, 3, 4, 5, 6, 7].filter((k) => from - (k - 1) * length > (first.get(coin) as number));
      const volumes = earlier.map((k) => volumeOf(takers(within([from - k * length, from - (k - 1) * length], all))));
      const isOnRecord = (world.facts[0]?.time as number) <= from - length;
      const before = isOnRecord ? volumeOf(takers(within([from - length, from], all))) : 0n;
      const [now, then] = [priceAt(world.facts, coin, to) as bigint, priceAt(world.facts, coin, from)];
      const mine = smart(own);
      const count = BigInt(earlier.length);
      return [{
        coin, volume_usd: usd(volume), trade_count: takers(own).length, unique_traders: distinct(own), long_short_ratio: share(buys(takers(own)), sells(takers(own))),
        smart_wallet_count: distinct(mine), volume_change_pct: share(100n * (volume - before), before),
        volume_spike_multiplier: earlier.length < 3 ? null : share((volume + 1_000n * ONE) * count, sum(volumes) + 1_000n * ONE * count),
        smart_net_volume_usd: usd(buys(mine) - sells(mine)), price: Number(now) / Number(ONE), price_change_pct: then === null ? null : share(100n * (now - then), then),
      }]; // prettier-ignore
    });
  }
  const order =
    (sort_by: string) =>
    (a: Record<string, unknown>, b: Record<string, unknown>): number => {
      const name = {
        volume_spike: 'volume_spike_multiplier',
        volume: 'volume_usd',
        trade_count: 'trade_count',
        smart_wallet_count: 'smart_wallet_count',
      }[sort_by] as string;
      const figure = (row: Record<string, unknown>): number => (row[name] as number | null) ?? -1;
      return (
        figure(b) - figure(a) || (b.volume_usd as number) - (a.volume_usd as number) || ((a.coin as string) < (b.coin as string) ? -1 : 1)
      );
    };

  test.each([
    ['24h', 'volume_spike', 10_000],
    ['4h', 'volume', 0],
    ['today', 'trade_count', 1_000],
    ['7d', 'smart_wallet_count', 10_000],
    ['7d', 'volume_spike', 10_000],
    ['30d', 'volume_spike', 0],
    ['all', 'volume_spike', 0],
  ])('timeframe=%s sort_by=%s min_volume_usd=%d', async (timeframe, sort_by, min_volume_usd) => {
    const data = await answer('perps/coins/trending', { timeframe, sort_by, min_volume_usd, limit: 7 });
    expect(data).toEqual(told(rows(timeframe, min_volume_usd).sort(order(sort_by)).slice(0, 7)));
  });

  test('nothing large enough is an empty result', async () => {
    const ask24 = ask(world.db, 'perps/coins/trending', { min_volume_usd: 1e11 }, NOW);
    await expect(ask24).rejects.toMatchObject({ code: 'empty_result', context: { suggestion: { timeframe: '7d' } } });
  });
});

describe('coins/volume-heatmap', () => {
  const SIZE: Record<string, number> = { '1h': DAY / 24, '4h': DAY / 6, '1d': DAY };
  function rows(timeframe: string, size: number, limit: number, onlySmart: boolean): unknown[] {
    const [from, to] = windowAt(timeframe);
    const own = within([from, to]);
    const counted = onlySmart ? smart(own) : takers(own);
    const coins = byVolume([...groupBy(counted, ({ coin }) => coin)].map(([coin, facts]) => ({ coin, volume: volumeOf(facts) }))).slice(
      0,
      limit,
    );
    const start = timeframe === 'all' ? (world.facts[0] as Fact).time : from;
    const buckets: number[] = [];
    for (let bucket = Math.floor(start / size) * size; bucket < to; bucket += size) buckets.push(bucket);
    return coins.flatMap(({ coin }) =>
      buckets.map((bucket) => {
        const all = within([bucket, bucket + size], counted);
        const cell = all.filter((fact) => fact.coin === coin);
        return {
          coin, bucket: second(bucket), volume_usd: usd(volumeOf(cell)), trade_count: cell.length,
          smart_volume_usd: usd(volumeOf(smart(within([bucket, bucket + size], own)).filter((fact) => fact.coin === coin))),
          pct_of_bucket: share(100n * volumeOf(cell), volumeOf(all)), net_volume_usd: usd(buys(cell) - sells(cell)),
        }; // prettier-ignore
      }),
    );
  }

  test.each([
    ['24h', 'auto', '1h', 20, false],
    ['7d', 'auto', '4h', 2, false],
    ['30d', 'auto', '1d', 3, true],
    ['all', '1d', '1d', 50, false],
    ['6h', '4h', '4h', 5, true],
  ])('timeframe=%s bucket_size=%s', async (timeframe, bucket_size, size, limit, smart_money_only) => {
    const data = await answer('perps/coins/volume-heatmap', { timeframe, bucket_size, limit, smart_money_only });
    expect(data).toEqual(rows(timeframe, SIZE[size] as number, limit, smart_money_only));
  });

  test('of everybody, the cells of all coins are the volume of the platform', async () => {
    const cells = (await answer('perps/coins/volume-heatmap', { timeframe: '7d', limit: 50 })) as { volume_usd: number }[];
    const { data } = await ask<{ total_volume_usd: number }>(world.db, 'perps/platform/stats', { timeframe: '7d' }, NOW);
    expect(cells.reduce((total, { volume_usd }) => total + volume_usd, 0)).toBeCloseTo(data.total_volume_usd, 3);
  });

  test('too many buckets name a size that fits', async () => {
    await expect(ask(world.db, 'perps/coins/volume-heatmap', { timeframe: '365d', bucket_size: '1h' }, NOW)).rejects.toMatchObject({
      code: 'range_too_large',
      context: { suggestion: { bucket_size: '1d' } },
    });
  });

  test('so do too many cells', async () => {
    const month = { timeframe: '30d', bucket_size: '1h' };
    await expect(ask(world.db, 'perps/coins/volume-heatmap', { ...month, limit: 50 }, NOW)).rejects.toMatchObject({
      code: 'range_too_large',
      context: { suggestion: { bucket_size: '4h' } },
    });
    expect(await answer('perps/coins/volume-heatmap', { ...month, limit: 2 })).toHaveLength(2 * 721);
  });
});

describe('trades/long-short-ratio', () => {
  const SIZE: Record<string, number> = { '1h': DAY / 24, '4h': DAY / 6, '12h': DAY / 2, '1d': DAY };
  test.each([
    ['BTC', '7d', '4h'],
    ['ETH', '24h', '1h'],
    ['HYPE', 'all', '1d'],
    ['SOL', '30d', '12h'],
    ['BTC', 'all', '12h'],
    ['ETH', '6h', '12h'],
    ['btc', 'today', '4h'],
  ])('coin=%s timeframe=%s bucket_size=%s', async (coin, timeframe, bucket_size) => {
    const [from, to] = windowAt(timeframe);
    const all = world.facts.filter((fact) => fact.coin === coin.toUpperCase());
    const size = SIZE[bucket_size] as number;
    const start = timeframe === 'all' ? (all[0] as Fact).time : from;
    const expected: unknown[] = [];
    for (let bucket = Math.floor(start / size) * size; bucket < to; bucket += size) {
      const own = within([Math.max(from, bucket), bucket + size], all);
      const took = takers(own);
      const [long, short] = [buys(took), sells(took)];
      const mine = smart(own);
      const opened = (buying: boolean): bigint =>
        sum(took.filter((fact) => fact.buys === buying).map((fact) => (fact.px * fact.opened) / ONE));
      expected.push({
        bucket: second(bucket), long_volume: usd(long), short_volume: usd(short), long_short_ratio: share(long, short), smart_long_volume: usd(buys(mine)),
        smart_short_volume: usd(sells(mine)), smart_long_short_ratio: share(buys(mine), sells(mine)), long_pct: share(100n * long, long + short),
        long_traders: distinct(took.filter((fact) => fact.buys)), short_traders: distinct(took.filter((fact) => !fact.buys)),
        opening_long_short_ratio: share(opened(true), opened(false)), trade_count: took.length,
      }); // prettier-ignore
    }
    expect(await answer('perps/trades/long-short-ratio', { coin, timeframe, bucket_size })).toEqual(expected);
  });

  test('unknown coin, no fill', async () => {
    await expect(ask(world.db, 'perps/trades/long-short-ratio', { coin: 'NOPE' }, NOW)).rejects.toMatchObject({ code: 'not_found' });
    const early = new Date('2026-02-01T00:00:00Z');
    await expect(ask(world.db, 'perps/trades/long-short-ratio', { coin: 'BTC' }, early)).rejects.toMatchObject({ code: 'empty_result' });
  });
});

describe('pressure', () => {
  const label = (ratio: number | null): string | null => {
    if (ratio === null) return null;
    if (Math.abs(ratio) < 0.15) return 'neutral';
    return `${Math.abs(ratio) >= 0.5 ? 'strong_' : ''}${ratio > 0 ? 'buy' : 'sell'}`;
  };
  const opensOf = (facts: readonly Fact[], long: boolean): { usd: bigint; size: bigint } => {
    const rows = facts.filter((fact) => fact.buys === long && fact.opened > 0n);
    return { usd: sum(rows.map((fact) => (fact.px * fact.opened) / ONE)), size: sum(rows.map((fact) => fact.opened)) };
  };
  const pressureOf = (facts: readonly Fact[]) => {
    const [long, short] = [opensOf(takers(facts), true), opensOf(takers(facts), false)];
    const ratio = share(long.usd - short.usd, long.usd + short.usd);
    return {
      long, short, gross: long.usd + short.usd, ratio, long_pressure: usd(long.usd), short_pressure: usd(short.usd),
      long_avg_entry: long.size === 0n ? null : Number(long.usd) / Number(long.size), short_avg_entry: short.size === 0n ? null : Number(short.usd) / Number(short.size),
    }; // prettier-ignore
  };
  const byGross = <T extends { coin: string; gross: bigint }>(rows: T[]): T[] =>
    rows.sort((a, b) => (a.gross === b.gross ? (a.coin < b.coin ? -1 : 1) : a.gross > b.gross ? -1 : 1));

  test.each([
    ['24h', 50],
    ['7d', 4],
    ['1h', 50],
    ['all', 50],
  ])('summary timeframe=%s limit=%d', async (timeframe, limit) => {
    const coins = byGross(
      [...groupBy(within(windowAt(timeframe)), ({ coin }) => coin)].map(([coin, facts]) => ({ coin, ...pressureOf(facts) })),
    );
    const [longs, shorts] = [sum(coins.map(({ long }) => long.usd)), sum(coins.map(({ short }) => short.usd))];
    const ratio = share(longs - shorts, longs + shorts);
    expect(await answer('perps/pressure/summary', { timeframe, limit })).toEqual(told({
      coins: coins.slice(0, limit).map((row) => ({
        coin: row.coin, long_pressure: row.long_pressure, short_pressure: row.short_pressure, long_percent: share(100n * row.long.usd, row.gross),
        short_percent: share(100n * row.short.usd, row.gross), long_avg_entry: row.long_avg_entry, short_avg_entry: row.short_avg_entry,
        pressure_ratio: row.ratio, pressure_label: label(row.ratio),
      })),
      market: {
        long_pressure: usd(longs), short_pressure: usd(shorts), long_percent: share(100n * longs, longs + shorts), short_percent: share(100n * shorts, longs + shorts),
        pressure_ratio: ratio, pressure_label: label(ratio), coins_long: coins.filter(({ long, short }) => long.usd > short.usd).length,
        coins_short: coins.filter(({ long, short }) => long.usd < short.usd).length,
      },
    })); // prettier-ignore
  });

  const pairsOf = (timeframe: string, names: string[], min_score: number, most: number): unknown => ({
    coins: byGross(
      names
        .map((coin) => ({ coin, facts: within(windowAt(timeframe)).filter((fact) => fact.coin === coin) }))
        .map(({ coin, facts }) => ({ coin, facts, ...pressureOf(facts) })),
    ).map((row) => {
      const last = priceAt(world.facts, row.coin, NOW.getTime()) as bigint;
      const held = [...world.trips.values()]
        .flat()
        .filter((trip) => trip.coin === row.coin && trip.closedAt === null && (world.scores.get(trip.user) ?? -1) >= min_score);
      const mine = row.facts.filter(({ user }) => (world.scores.get(user) ?? -1) >= min_score);
      const [long, short] = [opensOf(mine, true).usd, opensOf(mine, false).usd];
      const positions = held.map((trip) => ({
        trader: trip.user, smart_score: world.scores.get(trip.user), direction: trip.long ? 'Long' : 'Short', size: Number(trip.size) / Number(ONE), usd_value: usd((trip.size * last) / ONE),
        entry_price: Number(trip.openedUsd) / Number(trip.openedSize), opened_at: second(trip.openedAt), last_trade: second(trip.lastAt),
      })).sort((a, b) => b.usd_value - a.usd_value || (a.trader < b.trader ? -1 : 1)); // prettier-ignore
      return {
        coin: row.coin, long_pressure: row.long_pressure, short_pressure: row.short_pressure, long_avg_entry: row.long_avg_entry, short_avg_entry: row.short_avg_entry,
        long_smart_count: held.filter((trip) => trip.long).length, short_smart_count: held.filter((trip) => !trip.long).length, smart_positions: positions.slice(0, most),
        buy_volume: usd(buys(takers(row.facts))), sell_volume: usd(sells(takers(row.facts))), pressure_ratio: row.ratio, pressure_label: label(row.ratio),
        smart_pressure_ratio: share(long - short, long + short), price: Number(last) / Number(ONE),
      }; // prettier-ignore
    }),
  });

  test('pairs: the ten with most volume', async () => {
    const names = byVolume([...groupBy(takers(within(windowAt('24h'))), ({ coin }) => coin)].map(([coin, facts]) => ({ coin, volume: volumeOf(facts) }))).slice(0, 10).map(({ coin }) => coin); // prettier-ignore
    expect(await answer('perps/pressure/pairs', {})).toEqual(told(pairsOf('24h', names, 85, 20)));
  });

  test('pairs: chosen coins, everybody scored, few positions', async () => {
    expect(await answer('perps/pressure/pairs', { coins: ['btc', 'ETH', 'HYPE'], timeframe: '7d', min_score: 0, trades_limit: 2 })).toEqual(
      told(pairsOf('7d', ['BTC', 'ETH', 'HYPE'], 0, 2)),
    );
    const positions = (pairsOf('7d', ['BTC', 'ETH', 'HYPE'], 0, 2) as { coins: { smart_positions: unknown[] }[] }).coins.flatMap(
      ({ smart_positions }) => smart_positions,
    );
    expect(positions.length).toBeGreaterThan(3);
  });

  test('pairs: unknown coins become warnings, nothing else an empty result', async () => {
    const { data, meta } = await ask<{ coins: { coin: string }[] }>(world.db, 'perps/pressure/pairs', { coins: ['BTC', 'NOPE'] }, NOW);
    expect(data.coins.map(({ coin }) => coin)).toEqual(['BTC']);
    expect(meta.warnings).toEqual(['unknown coins left out: NOPE']);
    await expect(ask(world.db, 'perps/pressure/pairs', { coins: ['NOPE'] }, NOW)).rejects.toMatchObject({ code: 'empty_result' });
  });
});
