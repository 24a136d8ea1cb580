import { DAY, type Fact, type Figures, type Trip, ONE, figuresOf, groupBy, priceAt, second, six, sum, usd, volumeOf } from './reckoning';
import { NOW, type SharedWorld, daysAt, sharedWorld, told, windowAt } from './shared-world';
import { ask, query, trader as address } from './support';

let world: SharedWorld;
let busy: string;
let skilled: string[];
beforeAll(async () => {
  world = await sharedWorld();
  busy = [...world.byUser].sort(([, a], [, b]) => b.length - a.length)[0]?.[0] as string;
  skilled = world.truth.filter(({ role }) => role === 'skilled').map(({ trader }) => trader);
});
afterAll(() => world.db.drop());

type Row = Record<string, unknown>;
const answer = async (endpoint: string, variables: Row): Promise<unknown> => told((await ask(world.db, endpoint, variables, NOW)).data);
const factsOf = (user: string, coin?: string): Fact[] =>
  (world.byUser.get(user) ?? []).filter((fact) => coin === undefined || fact.coin === coin);
const tripsOf = (user: string, coin?: string): Trip[] =>
  (world.trips.get(user) ?? []).filter((trip) => coin === undefined || trip.coin === coin);
const pick = (row: Row | null, names: readonly string[]): Row => Object.fromEntries(names.map((name) => [name, row?.[name]]));
const within = (facts: readonly Fact[], [from, to]: [number, number]): Fact[] => facts.filter(({ time }) => time >= from && time < to);
const tierOf = (score: number | null): string =>
  score === null ? 'unscored' : score >= 95 ? 'elite' : score >= 85 ? 'smart' : score >= 40 ? 'average' : 'novice';

const STATS = 'total_pnl total_volume total_trades winning_trades win_rate roi_pct net_pnl fees_usd closing_trades losing_trades win_rate_lb profit_factor sharpe max_drawdown_usd best_trade_usd worst_trade_usd active_days coins_traded first_trade last_trade'.split(' '); // prettier-ignore
const statsOf = (user: string, window: [number, number]): Row | null => {
  const figures = figuresOf(factsOf(user), tripsOf(user), ...window);
  const score = world.scores.get(user) ?? null;
  return figures && { ...pick(figures, STATS), smart_score: score, tier: tierOf(score), tags: world.tags.get(user) };
};

function daysOf(user: string, days: number, coin?: string): Row[] {
  const [from] = daysAt(days);
  let [grown, streak] = [0n, 0];
  const changes: bigint[] = [];
  return Array.from({ length: days }, (_, index) => {
    const start = from + index * DAY;
    const own = within(factsOf(user, coin), [start, start + DAY]);
    const closed = tripsOf(user, coin).filter(({ closedAt }) => closedAt !== null && closedAt >= start && closedAt < start + DAY);
    const pnl = sum(own.map((fact) => fact.pnl));
    grown += pnl;
    changes.push(pnl);
    streak = pnl === 0n ? 0 : pnl > 0n ? (streak > 0 ? streak + 1 : 1) : streak < 0 ? streak - 1 : -1;
    const won = closed.filter((trip) => trip.gross > trip.fees).length;
    let peak = 0n;
    changes.reduce((total, change) => {
      if (total + change > peak) peak = total + change;
      return total + change;
    }, 0n);
    return {
      date: new Date(start).toISOString().slice(0, 10), pnl: usd(pnl), volume: usd(volumeOf(own)), trades: own.length, cumulative_pnl: usd(grown), streak,
      fees_usd: usd(sum(own.map((fact) => fact.fee))), winning_trades: won, losing_trades: closed.length - won, drawdown_usd: usd(peak - grown),
    }; // prettier-ignore
  });
}

describe('daily-pnl', () => {
  test.each([1, 7, 30, 365])('%d days, zeros included', async (days) => {
    expect(await answer('perps/traders/daily-pnl', { trader: busy, days })).toEqual(daysOf(busy, days));
  });

  test('of a coin; a day without a change ends a streak', async () => {
    const [user] = skilled as [string];
    const coin = factsOf(user)[0]?.coin as string;
    const expected = daysOf(user, 30, coin);
    expect(expected.map(({ streak }) => streak)).toEqual(expect.arrayContaining([0, 1]));
    expect(await answer('perps/traders/daily-pnl', { trader: user, coin: coin.toLowerCase(), days: 30 })).toEqual(expected);
  });

  test('never traded, nothing traded, unknown coin', async () => {
    const of = (variables: Row, now = NOW): Promise<unknown> => ask(world.db, 'perps/traders/daily-pnl', variables, now);
    await expect(of({ trader: address('e') })).rejects.toMatchObject({ code: 'not_found' });
    await expect(of({ trader: busy, coin: 'NOPE' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(of({ trader: busy }, new Date('2026-07-01T00:00:00Z'))).rejects.toMatchObject({
      code: 'empty_result',
      context: { suggestion: { days: 90 } },
    });
    // It is there, but not yet.
    await expect(of({ trader: busy }, new Date('2026-02-01T00:00:00Z'))).rejects.toMatchObject({ code: 'not_found' });
  });
});

const COIN_FIGURES = [
  'winning_trades',
  'win_rate',
  'closing_trades',
  'fees_usd',
  'net_pnl',
  'roi_pct',
  'best_trade_usd',
  'worst_trade_usd',
  'win_rate_lb',
];
function coinsOf(user: string, window: [number, number]): (Row & { coin: string; pnl: number })[] {
  return [...groupBy(within(factsOf(user), window), ({ coin }) => coin)]
    .map(([coin, own]) => {
      const figures = figuresOf(factsOf(user, coin), tripsOf(user, coin), ...window) as Figures;
      const pnlOf = (long: boolean): bigint =>
        sum(own.filter((fact) => (fact.closed > 0n ? !fact.buys : fact.buys) === long).map((fact) => fact.pnl));
      return {
        coin, pnl: figures.total_pnl as number, volume: figures.total_volume, trades: own.length, ...pick(figures, COIN_FIGURES),
        avg_hold_minutes: figures.avg_hold_minutes, long_pnl: usd(pnlOf(true)), short_pnl: usd(pnlOf(false)),
      }; // prettier-ignore
    })
    .sort((a, b) => Math.abs(b.pnl) - Math.abs(a.pnl) || (a.coin < b.coin ? -1 : 1));
}

describe('pnl-by-coin', () => {
  test.each([1, 14, 90])('largest first, %d days', async (days) => {
    expect(await answer('perps/traders/pnl-by-coin', { trader: busy, days })).toEqual(coinsOf(busy, daysAt(days)));
  });

  test.each([['volume'], ['win_rate'], ['trades']])('sort_by=%s', async (sort_by) => {
    const name = sort_by === 'win_rate' ? 'win_rate_lb' : sort_by;
    const expected = coinsOf(busy, daysAt(30)).sort((a, b) => Number(b[name] ?? -1) - Number(a[name] ?? -1) || (a.coin < b.coin ? -1 : 1));
    expect(await answer('perps/traders/pnl-by-coin', { trader: busy, days: 30, sort_by, limit: 5 })).toEqual(expected.slice(0, 5));
  });

  test('nobody, nothing', async () => {
    await expect(ask(world.db, 'perps/traders/pnl-by-coin', { trader: address('e') }, NOW)).rejects.toMatchObject({ code: 'not_found' });
    const later = new Date('2027-07-01T00:00:00Z');
    await expect(ask(world.db, 'perps/traders/pnl-by-coin', { trader: busy }, later)).rejects.toMatchObject({ code: 'empty_result' });
  });
});

const positionsOf = (user: string): Row[] =>
  tripsOf(user)
    .filter(({ closedAt }) => closedAt === null)
    .map((trip) => ({
      trader: user,
      coin: trip.coin,
      direction: trip.long ? 'Long' : 'Short',
      size: Number(trip.size) / Number(ONE),
      usd_value: usd((trip.size * (priceAt(world.facts, trip.coin, NOW.getTime()) as bigint)) / ONE),
      entry_price: Number(trip.openedUsd) / Number(trip.openedSize),
      opened_at: second(trip.openedAt),
      last_trade: second(trip.lastAt),
      realized_pnl: usd(trip.gross),
    })) // prettier-ignore
    .sort((a, b) => b.usd_value - a.usd_value);

describe('profile', () => {
  interface Dossier extends Row {
    stats: Row;
    coin_breakdown: Row[];
    daily_pnl: Row[];
    recent_trades: Row[];
  }

  test.each([7, 60])('every section, %d days', async (days) => {
    for (const user of [busy, ...skilled.slice(0, 2)]) {
      const data = (await answer('perps/traders/profile', { trader: user, days, trades_limit: 20, explain: true })) as Dossier;
      const window = daysAt(days);
      const figures = figuresOf(factsOf(user), tripsOf(user), ...window) as Figures;
      expect(data.stats).toEqual(statsOf(user, window));
      expect(data.coin_breakdown).toEqual(
        coinsOf(user, window).map((row) => pick(row, ['coin', 'pnl', 'volume', 'trades', 'winning_trades', 'win_rate'])),
      );
      expect(data.daily_pnl).toEqual(
        daysOf(user, days).map((row) => pick(row, ['date', 'pnl', 'volume', 'trades', 'cumulative_pnl', 'streak'])),
      );
      expect(data.open_positions).toEqual(told(positionsOf(user)));
      expect(data.round_trips).toEqual({
        count: figures.closing_trades,
        ...pick(figures, ['avg_hold_minutes', 'avg_win_usd', 'avg_loss_usd']),
      });
      const newest = within(factsOf(user), window).reverse();
      expect(data.recent_trades).toHaveLength(Math.min(20, newest.length));
      expect(data.recent_trades[0]).toMatchObject({
        coin: newest[0]?.coin,
        trade_id: String(newest[0]?.tid),
        smart_score: world.scores.get(user) ?? null,
      });
      const life = figuresOf(factsOf(user), tripsOf(user), 0, NOW.getTime()) as Figures;
      const breakdown = data.score_breakdown as Row;
      expect(breakdown).toMatchObject({
        trades: life.total_trades,
        date: '2026-04-09',
        ...pick(life, ['closing_trades', 'winning_trades', 'win_rate_lb', 'net_pnl']),
      });
      const points = ['activity_points', 'accuracy_points', 'profit_points'].reduce(
        (total, name) => total + (breakdown[name] as number),
        0,
      );
      if ((breakdown.caps as string[]).length === 0) expect(Math.round(points * 10) / 10).toBe(data.stats.smart_score);
    }
  });

  test('figures agree across the answers about one account', async () => {
    const { stats } = (await answer('perps/traders/profile', { trader: busy, days: 30 })) as Dossier;
    const days = (await answer('perps/traders/daily-pnl', { trader: busy, days: 30 })) as { pnl: number; cumulative_pnl: number }[];
    const coins = (await answer('perps/traders/pnl-by-coin', { trader: busy, days: 30 })) as { pnl: number }[];
    expect(days.reduce((total, { pnl }) => total + pnl, 0)).toBeCloseTo(stats.total_pnl as number, 4);
    expect(coins.reduce((total, { pnl }) => total + pnl, 0)).toBeCloseTo(stats.total_pnl as number, 4);
    expect(days.at(-1)?.cumulative_pnl).toBe(stats.total_pnl);
  });

  test('a section that fails is null and named; without explain there is no breakdown', async () => {
    expect(await answer('perps/traders/profile', { trader: busy, days: 1 })).toMatchObject({ score_breakdown: null });
    const client = await world.db.pool.connect();
    await client.query('ALTER TABLE perp_position RENAME TO perp_position_away');
    try {
      const { data, meta, failed } = await ask<Dossier>(world.db, 'perps/traders/profile', { trader: busy, days: 30 }, NOW);
      // The operator is told why.
      expect(failed).toEqual([
        ['open_positions', expect.objectContaining({ message: expect.stringContaining('"perp_position"') as string })],
      ]);
      expect(data).toMatchObject({ open_positions: null, stats: statsOf(busy, daysAt(30)) });
      expect(meta.warnings).toEqual(['open_positions could not be told this time']);
      // It is not kept for who asks next.
      expect(meta.good_for_s).toBe(0);
    } finally {
      await client.query('ALTER TABLE perp_position_away RENAME TO perp_position');
      client.release();
    }
  });

  test('nobody, nothing', async () => {
    await expect(ask(world.db, 'perps/traders/profile', { trader: address('e') }, NOW)).rejects.toMatchObject({ code: 'not_found' });
    const later = new Date('2026-07-01T00:00:00Z');
    await expect(ask(world.db, 'perps/traders/profile', { trader: busy }, later)).rejects.toMatchObject({ code: 'empty_result' });
  });
});

describe('compare', () => {
  test('side by side, as each profile tells it', async () => {
    const [a, b] = skilled as [string, string];
    const traders = [a, busy, address('e'), b];
    const window = daysAt(30);
    const data = (await answer('perps/traders/compare', { traders, days: 30 })) as Record<string, Row[]> & { comparison_winners: Row };
    const breakdown = (user: string): Row[] => coinsOf(user, window).slice(0, 5).map((row) => pick(row, ['coin', 'pnl', 'volume', 'trades', 'winning_trades', 'win_rate'])); // prettier-ignore
    expect(data.traders).toEqual(
      traders.map((user) => ({
        trader: user,
        stats: statsOf(user, window),
        coin_breakdown: breakdown(user),
        found: user !== address('e'),
      })),
    );
    const found = [a, busy, b];
    const figures = found.map((user) => statsOf(user, window) as Row);
    const best = (name: string): string[] => {
      const values = figures.map((row) =>
        name === 'profit_factor' && row[name] === null && row.winning_trades !== 0 ? Infinity : (row[name] as number | null),
      );
      const most = Math.max(...values.map((value) => value ?? -Infinity));
      return found.filter((_, index) => values[index] === most);
    };
    expect(data.comparison_winners).toEqual(
      Object.fromEntries(
        ['total_pnl', 'roi_pct', 'win_rate', 'total_volume', 'smart_score', 'sharpe', 'profit_factor'].map((name) => [name, best(name)]),
      ),
    );
    const all = new Map(found.map((user) => [user, coinsOf(user, window)]));
    const shared = [...new Set(found.flatMap((user) => (all.get(user) ?? []).map(({ coin }) => coin)))]
      .map((coin) => ({
        coin,
        rows: found.flatMap((user) => (all.get(user) ?? []).filter((row) => row.coin === coin).map((row) => ({ user, row }))),
      }))
      .filter(({ rows }) => rows.length > 1)
      .map(({ coin, rows }) => ({ coin, volume: rows.reduce((total, { row }) => total + (row.volume as number), 0), rows }))
      .sort((x, y) => y.volume - x.volume);
    expect(shared.length).toBeGreaterThan(1);
    expect(data.shared_coins).toEqual(
      shared.map(({ coin, rows }) => ({
        coin,
        traders: rows.map(({ user, row }) => ({
          trader: user, pnl: row.pnl, volume: row.volume, direction: positionsOf(user).find((position) => position.coin === coin)?.direction ?? 'Flat',
        })), // prettier-ignore
      })),
    );
    expect(data.pairwise).toEqual([[a, busy], [a, b], [busy, b]].map(([x, y]) => pairOf(x as string, y as string))); // prettier-ignore
  });

  function pairOf(a: string, b: string): Row {
    const window = daysAt(30);
    const coins = (user: string): Map<string, number> =>
      new Map([...groupBy(within(factsOf(user), window), ({ coin }) => coin)].map(([coin, own]) => {
        const net = sum(own.map((fact) => ((fact.buys ? 1n : -1n) * (fact.px * fact.opened)) / ONE));
        return [coin, net > 0n ? 1 : net < 0n ? -1 : 0];
      })); // prettier-ignore
    const [left, right] = [coins(a), coins(b)];
    const both = [...left.keys()].filter((coin) => right.has(coin));
    const directed = both.filter((coin) => left.get(coin) !== 0 && right.get(coin) !== 0);
    const [xs, ys] = [a, b].map((user) => daysOf(user, 30).map((row) => row.pnl as number)) as [number[], number[]];
    const [mx, my] = [xs, ys].map((values) => values.reduce((total, value) => total + value, 0) / 30) as [number, number];
    const cov = xs.reduce((total, x, index) => total + (x - mx) * ((ys[index] as number) - my), 0);
    const spread = (values: number[], mean: number): number => Math.sqrt(values.reduce((total, value) => total + (value - mean) ** 2, 0));
    return {
      a, b, jaccard_coins: six(both.length / (left.size + right.size - both.length)), daily_pnl_correlation: six(cov / spread(xs, mx) / spread(ys, my)),
      same_direction_pct: directed.length === 0 ? null : six((100 * directed.filter((coin) => left.get(coin) === right.get(coin)).length) / directed.length),
    }; // prettier-ignore
  }

  test('nobody known; nobody active', async () => {
    const strangers = [address('e'), address('f')];
    await expect(ask(world.db, 'perps/traders/compare', { traders: strangers }, NOW)).rejects.toMatchObject({ code: 'not_found' });
    const later = new Date('2026-07-01T00:00:00Z');
    await expect(ask(world.db, 'perps/traders/compare', { traders: [busy, address('e')] }, later)).rejects.toMatchObject({
      code: 'empty_result',
    });
  });
});

const BOARD = 'trader total_pnl total_volume total_trades winning_trades win_rate roi_pct net_pnl fees_usd closing_trades win_rate_lb profit_factor sharpe max_drawdown_usd active_days top_coin'.split(' '); // prettier-ignore

describe('leaderboard', () => {
  function rows(timeframe: string, sort_by: string, desc: boolean, min_trades: number, bots: boolean, coin?: string): Row[] {
    const name = {
      pnl: 'total_pnl',
      roi: 'roi_pct',
      win_rate: 'win_rate_lb',
      volume: 'total_volume',
      score: 'smart_score',
      sharpe: 'sharpe',
    }[sort_by] as string;
    const machines = ['vault', 'market_maker', 'wash'];
    return [...world.byUser.keys()]
      .flatMap((user): Row[] => {
        const figures = figuresOf(factsOf(user, coin), tripsOf(user, coin), ...windowAt(timeframe));
        if (figures === null || (figures.total_trades as number) < min_trades) return [];
        if (!bots && (world.tags.get(user) ?? []).some((tag) => machines.includes(tag))) return [];
        return [
          { ...pick({ ...figures, trader: user }, BOARD), smart_score: world.scores.get(user) ?? null, tags: world.tags.get(user) ?? [] },
        ];
      })
      .sort((a, b) => {
        const [x, y] = [a[name], b[name]] as (number | null)[];
        const key = (a.trader as string) < (b.trader as string) ? -1 : 1;
        if (x == null || y == null) return x == null && y == null ? key : x == null ? 1 : -1;
        return (desc ? y - x : x - y) || key;
      })
      .map((row, index) => ({ ...row, rank: index + 1 }));
  }

  test.each([
    ['7d', 'pnl', 'desc', 10, false, undefined],
    ['30d', 'roi', 'desc', 10, false, undefined],
    ['all', 'win_rate', 'desc', 40, false, undefined],
    ['7d', 'win_rate', 'desc', 5, true, undefined],
    ['30d', 'win_rate', 'asc', 3, true, 'BTC'],
    ['24h', 'volume', 'desc', 1, true, undefined],
    ['7d', 'score', 'asc', 5, false, undefined],
    ['all', 'sharpe', 'desc', 1, true, undefined],
    ['30d', 'sharpe', 'desc', 1, true, undefined],
    ['30d', 'sharpe', 'asc', 2, false, 'BTC'],
    ['7d', 'volume', 'asc', 1, true, undefined],
    ['30d', 'pnl', 'asc', 3, true, 'BTC'],
    ['all', 'sharpe', 'asc', 10, false, 'ETH'],
  ])('timeframe=%s sort_by=%s %s min_trades=%d bots=%s coin=%s', async (timeframe, sort_by, sort_order, min_trades, include_bots, coin) => {
    const data = await answer('perps/traders/leaderboard', { timeframe, sort_by, sort_order, min_trades, include_bots, coin, limit: 12 });
    const expected = rows(timeframe, sort_by, sort_order === 'desc', min_trades, include_bots, coin).slice(0, 12);
    expect(expected.length).toBeGreaterThan(2);
    expect(data).toEqual(expected);
  });

  test('machines are there only when asked for', async () => {
    const board = async (include_bots: boolean): Promise<string[]> =>
      (
        (await answer('perps/traders/leaderboard', { timeframe: 'all', sort_by: 'volume', include_bots, limit: 100 })) as {
          trader: string;
        }[]
      ).map(({ trader }) => trader);
    const machines = world.truth.filter(({ role }) => /maker|vault|wash/.test(role)).map(({ trader }) => trader);
    expect(machines.length).toBeGreaterThan(4);
    const [without, all] = [await board(false), await board(true)];
    expect(machines.filter((trader) => without.includes(trader))).toEqual([]);
    expect(machines.filter((trader) => all.includes(trader)).length).toBe(machines.length);
  });

  test('nobody qualifies', async () => {
    const few = ask(world.db, 'perps/traders/leaderboard', { timeframe: '1h', min_trades: 10_000 }, NOW);
    await expect(few).rejects.toMatchObject({ code: 'empty_result', context: { suggestion: { min_trades: 1 } } });
  });
});

describe('fresh-whales', () => {
  function rows(days: number, least: number, leastPnl: number, coin?: string): Row[] {
    return [...world.byUser].flatMap(([user, facts]): Row[] => {
      const first = (facts[0] as Fact).time;
      const age = (NOW.getTime() - first) / DAY;
      if (age > days) return [];
      const figures = figuresOf(factsOf(user, coin), tripsOf(user, coin), 0, NOW.getTime());
      const whole = figuresOf(facts, tripsOf(user), 0, NOW.getTime()) as Figures;
      if (figures === null || (figures.total_volume as number) < least || (figures.total_pnl as number) < leastPnl) return [];
      const clip = (x: number): number => Math.max(0, Math.min(1, x));
      const volume = figures.total_volume as number;
      const signals = {
        age: six(clip((days - age) / days)), size: six(least === 0 ? 1 : clip(Math.log10(volume / least) / 2)), concentration: whole.top_coin_share,
        win_rate: figures.win_rate_lb, timing: timingOf(user, coin),
      } as Record<string, number | null>; // prettier-ignore
      const suspicion =
        25 * (signals.age ?? 0) +
        25 * (signals.size ?? 0) +
        15 * (signals.concentration ?? 0) +
        20 * (signals.win_rate ?? 0) +
        15 * (signals.timing ?? 0);
      return [{
        trader: user, first_trade: second(first), wallet_age_days: six(age), ...pick(figures, ['total_pnl', 'total_volume', 'total_trades', 'winning_trades', 'win_rate', 'win_rate_lb', 'roi_pct']),
        top_coin: whole.top_coin, coin_concentration: whole.top_coin_share, largest_trade_usd: figures.largest_trade_usd, smart_score: world.scores.get(user) ?? null,
        suspicion_score: Math.round(suspicion * 10) / 10, signals,
      }]; // prettier-ignore
    });
  }

  const HOUR = DAY / 24;
  const known = new Map<string, number | null>();
  let byCoin: Map<string, Fact[]> | undefined;

  /** Deviation of a coin's hourly returns over the seven days before an hour. */
  function deviationOf(coin: string, hour: number): number | null {
    const key = `${coin}|${hour}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const hours = groupBy(within(byCoin?.get(coin) ?? [], [0, hour]), ({ time }) => String(Math.floor(time / HOUR)));
    const closes = [...hours].map(([at, own]) => ({ at: Number(at) * HOUR, close: Number(own.at(-1)?.px) }));
    const all = closes.slice(1).map(({ at, close }, index) => ({ at, change: close / (closes[index] as { close: number }).close - 1 }));
    const changes = all.filter(({ at }) => at >= hour - 7 * DAY).map(({ change }) => change);
    const mean = changes.reduce((total, change) => total + change, 0) / changes.length;
    const squares = changes.reduce((total, change) => total + (change - mean) ** 2, 0);
    const deviation = changes.length < 2 || squares === 0 ? null : Math.sqrt(squares / (changes.length - 1));
    known.set(key, deviation);
    return deviation;
  }

  /** Every open against every later fill of the coin, the slow way. */
  function timingOf(user: string, coin?: string): number | null {
    byCoin ??= groupBy(world.facts, (fact) => fact.coin);
    const judged = factsOf(user, coin).flatMap((fact): boolean[] => {
      if (fact.opened === 0n) return [];
      const deviation = deviationOf(fact.coin, Math.floor(fact.time / HOUR) * HOUR);
      if (deviation === null) return [];
      const goal = Number(fact.px) * (1 + (fact.buys ? 2 : -2) * deviation);
      const reached = (other: Fact): boolean => (fact.buys ? Number(other.px) >= goal : Number(other.px) <= goal);
      return [byCoin?.get(fact.coin)?.some((other) => other.time > fact.time && other.time < fact.time + DAY && reached(other)) ?? false];
    });
    return judged.length === 0 ? null : six(judged.filter((followed) => followed).length / judged.length);
  }

  test.each([
    ['total_volume', 14, 1_000, 0, undefined],
    ['suspicion_score', 45, 10_000, -1e12, undefined],
    ['total_pnl', 90, 50_000, -1e12, undefined],
    ['win_rate', 45, 0, 100, undefined],
    ['wallet_age_days', 30, 5_000, -1e12, undefined],
    ['total_volume', 45, 2_000, -1e12, 'ETH'],
  ])(
    'sort_by=%s age %d volume %d pnl %d coin %s',
    async (sort_by, max_wallet_age_days, min_volume, min_pnl, coin) => {
      const data = await answer('perps/traders/fresh-whales', { sort_by, max_wallet_age_days, min_volume, min_pnl, coin, limit: 8 });
      const name = sort_by === 'win_rate' ? 'win_rate_lb' : sort_by;
      const sign = sort_by === 'wallet_age_days' ? 1 : -1;
      const expected = rows(max_wallet_age_days, min_volume, min_pnl, coin).sort(
        (a, b) => sign * (Number(a[name] ?? -1) - Number(b[name] ?? -1)) || ((a.trader as string) < (b.trader as string) ? -1 : 1),
      );
      expect(expected.length).toBeGreaterThan(1);
      expect(data).toEqual(expected.slice(0, 8));
    },
    300_000,
  );

  test('nobody so young trades so much', async () => {
    const none = ask(world.db, 'perps/traders/fresh-whales', { max_wallet_age_days: 1, min_volume: 1e11 }, NOW);
    await expect(none).rejects.toMatchObject({ code: 'empty_result', context: { suggestion: { max_wallet_age_days: 90 } } });
  });
});

test('an account links to what it holds, and that to the account and the coin', async () => {
  const data = await query<{ trader: string; trader_profile: { positions: Row[] } }[]>(
    world.db,
    '{ data: perpsTradesWhales(min_usd: 1, timeframe: "all", limit: 200) { trader trader_profile { positions { coin usd_value trader_profile { trader } coin_info { coin } } } } }',
    NOW,
  );
  expect(data.length).toBe(200);
  expect(data.filter(({ trader_profile }) => trader_profile.positions.length > 0).length).toBeGreaterThan(10);
  for (const { trader, trader_profile } of data)
    expect(trader_profile.positions).toEqual(
      positionsOf(trader).map(({ coin, usd_value }) => ({ coin, usd_value, trader_profile: { trader }, coin_info: { coin } })),
    );
});
