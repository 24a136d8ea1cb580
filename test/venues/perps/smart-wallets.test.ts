import { perps } from '../../../src/venues/perps/index';
import { type Fact, type Figures, ONE, figuresOf, groupBy, lowerBound, priceAt, second, share, six, sum, usd, volumeOf } from './reckoning';
import { NOW, type SharedWorld, sharedWorld, told, windowAt } from './shared-world';
import { ask, load, match, trader as address } from './support';

let world: SharedWorld;
beforeAll(async () => {
  world = await sharedWorld();
});
afterAll(() => world.db.drop());

type Row = Record<string, unknown>;
const life = (user: string): Figures => figuresOf(world.byUser.get(user) ?? [], world.trips.get(user) ?? [], 0, NOW.getTime()) as Figures;
const scoredFrom = (least: number): string[] => [...world.scores].filter(([, score]) => score >= least).map(([user]) => user);
const within = (timeframe: string): Fact[] => {
  const [from, to] = windowAt(timeframe);
  return world.facts.filter(({ time }) => time >= from && time < to);
};
const byKey = (a: string, b: string): number => (a < b ? -1 : 1);

describe('the scores', () => {
  test('are of everybody, and of what everybody did before the clock', async () => {
    const { rows } = await world.db.pool.query<Row & { trader: string; day: string }>(
      'SELECT trader, day::text, trades, closing_trades, winning_trades, win_rate_lb::float8, net_pnl::float8 FROM perp_score ORDER BY trader',
    );
    expect(rows.map(({ trader }) => trader)).toEqual([...world.byUser.keys()].sort(byKey));
    for (const { trader, day, win_rate_lb, net_pnl, ...counts } of rows) {
      const figures = life(trader);
      expect(day).toBe('2026-04-09');
      expect(counts).toEqual({
        trades: figures.total_trades,
        closing_trades: figures.closing_trades,
        winning_trades: figures.winning_trades,
      });
      expect(six(net_pnl as number)).toBe(figures.net_pnl);
      expect(win_rate_lb === null ? null : six(win_rate_lb as number)).toBe(
        lowerBound(figures.winning_trades as number, figures.closing_trades as number),
      );
    }
  });

  test('find those who were planted', () => {
    const of = (pattern: RegExp): string[] => world.truth.filter(({ role }) => pattern.test(role)).map(({ trader }) => trader).filter((user) => world.byUser.has(user)); // prettier-ignore
    const smart = new Set(scoredFrom(85));
    const skilled = of(/^skilled$/);
    expect(smart.size).toBeGreaterThan(1);
    expect([...smart].filter((user) => !skilled.includes(user))).toEqual([]);
    const best = [...world.scores]
      .sort(([, a], [, b]) => b - a)
      .slice(0, skilled.length)
      .map(([user]) => user);
    expect(best.sort(byKey)).toEqual(skilled.sort(byKey));
    const tagged = (tag: string): string[] => [...world.tags].filter(([, tags]) => tags.includes(tag)).map(([user]) => user);
    expect(tagged('market_maker')).toEqual(expect.arrayContaining(of(/^market_maker$/)));
    expect(tagged('wash').sort(byKey)).toEqual(of(/^wash/).sort(byKey));
    expect(tagged('copy_trader').filter((user) => !of(/^copier$/).includes(user))).toEqual([]);
    expect(of(/^lucky$/).filter((user) => (world.scores.get(user) ?? 0) > 84)).toEqual([]);
  });

  test('again on the same day: the same rows; the day before stays', async () => {
    const rows = async (): Promise<unknown> => (await world.db.pool.query('SELECT * FROM perp_score ORDER BY day, trader')).rows;
    const before = await rows();
    await perps.score?.(world.db.pool, NOW, () => undefined);
    expect(await rows()).toEqual(before);
    const yesterday = new Date(NOW.getTime() - 86_400_000);
    const run = await perps.score?.(world.db.pool, yesterday, () => undefined);
    const { rows: days } = await world.db.pool.query<{ day: string; n: number }>(
      'SELECT day::text, count(*)::int AS n FROM perp_score GROUP BY 1 ORDER BY 1',
    );
    expect(days).toEqual([{ day: '2026-04-08', n: run?.wallets }, { day: '2026-04-09', n: (before as unknown[]).length }]); // prettier-ignore
  });
});

describe('smart-wallets/list', () => {
  const NAMES = [
    'total_pnl',
    'total_volume',
    'total_trades',
    'win_rate',
    'win_rate_lb',
    'roi_pct',
    'top_coin',
    'last_trade',
    'active_days',
  ];
  const metric: Record<string, (user: string) => number> = {
    score: (user) => world.scores.get(user) as number,
    pnl: (user) => life(user).total_pnl as number,
    volume: (user) => life(user).total_volume as number,
    win_rate: (user) => (life(user).win_rate_lb as number | null) ?? 0,
    last_trade: (user) => (world.byUser.get(user)?.at(-1) as Fact).time,
  };
  const rows = (sort_by: string, least: number): Row[] =>
    scoredFrom(least)
      .map((user) => ({ user, by: (metric[sort_by] as (user: string) => number)(user) }))
      .sort((a, b) => b.by - a.by || byKey(a.user, b.user))
      .map(({ user }) => ({
        trader: user,
        score: world.scores.get(user),
        ...Object.fromEntries(NAMES.map((name) => [name, life(user)[name]])),
        tags: world.tags.get(user),
      }));

  test.each([
    ['score', 85],
    ['pnl', 30],
    ['volume', 50],
    ['win_rate', 0],
    ['last_trade', 40],
  ])('sort_by=%s min_score=%d, page by page', async (sort_by, min_score) => {
    const expected = rows(sort_by, min_score);
    const seen: Row[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      // The clock goes on between pages; the list stays what it was.
      const later = new Date(NOW.getTime() + seen.length * 60_000);
      const limit = Math.max(3, Math.ceil(expected.length / 4));
      const { data, meta } = await ask<Row[]>(world.db, 'perps/smart-wallets/list', { sort_by, min_score, limit, cursor }, later);
      expect(meta).toMatchObject({ count: data.length, score_version: 'perp-2026.1' });
      seen.push(...data);
      cursor = meta.next_cursor;
    }
    expect(seen).toEqual(expected);
  });

  test("nobody, and somebody else's cursor", async () => {
    const ask100 = ask(world.db, 'perps/smart-wallets/list', { min_score: 100 }, NOW);
    await expect(ask100).rejects.toMatchObject({ code: 'empty_result', context: { suggestion: { min_score: 75 } } });
    const { meta } = await ask(world.db, 'perps/smart-wallets/list', { min_score: 0, limit: 2 }, NOW);
    const other = ask(world.db, 'perps/smart-wallets/list', { min_score: 1, limit: 2, cursor: meta.next_cursor }, NOW);
    await expect(other).rejects.toMatchObject({ code: 'invalid_parameter' });
  });
});

/** What a fact gives to a side: rows of it, bought, sold, PnL. */
function partOf(fact: Fact, side: string | undefined): { rows: number; bought: bigint; sold: bigint; pnl: bigint } {
  const [opened, closed] = [(fact.px * fact.opened) / ONE, (fact.px * fact.closed) / ONE];
  const named = { opens: `Open ${fact.buys ? 'Long' : 'Short'}`, closes: `Close ${fact.buys ? 'Short' : 'Long'}` };
  const whole = side === undefined || side === (fact.buys ? 'BUY' : 'SELL');
  const value = (whole || side === named.opens ? opened : 0n) + (whole || side === named.closes ? closed : 0n);
  const pnl = whole || (fact.closed > 0n ? side === named.closes : side === named.opens) ? fact.pnl : 0n;
  return { rows: value > 0n ? 1 : 0, bought: fact.buys ? value : 0n, sold: fact.buys ? 0n : value, pnl };
}

describe('smart-wallets/activity', () => {
  test.each([
    ['24h', 85, undefined, undefined],
    ['7d', 30, undefined, 'BTC'],
    ['7d', 0, 'BUY', undefined],
    ['30d', 40, 'Close Short', undefined],
    ['all', 0, 'Open Long', 'ETH'],
    ['all', 0, 'SELL', undefined],
  ])('timeframe=%s min_score=%d side=%s coin=%s', async (timeframe, min_score, side, coin) => {
    const users = new Set(scoredFrom(min_score));
    const facts = within(timeframe).filter((fact) => users.has(fact.user) && (coin === undefined || fact.coin === coin));
    const parts = facts.map((fact) => ({ fact, ...partOf(fact, side) })).filter(({ rows }) => rows > 0);
    const [bought, sold] = [sum(parts.map((part) => part.bought)), sum(parts.map((part) => part.sold))];
    const coins = [...groupBy(parts, ({ fact }) => fact.coin)].map(([name, own]) => ({
      coin: name, volume: usd(sum(own.map((part) => part.bought + part.sold))), net_volume: usd(sum(own.map((part) => part.bought - part.sold))),
    })).sort((a, b) => b.volume - a.volume || byKey(a.coin, b.coin)); // prettier-ignore
    const { data, meta } = await ask<{ period_summary: Row; trades: Row[] }>(
      world.db,
      'perps/smart-wallets/activity',
      { timeframe, min_score, side, coin, limit: 50 },
      NOW,
    );
    expect(parts.length).toBeGreaterThan(5);
    expect(data.period_summary).toEqual({
      trade_count: parts.length, total_volume: usd(bought + sold), unique_traders: new Set(parts.map(({ fact }) => fact.user)).size, long_volume: usd(bought),
      short_volume: usd(sold), long_short_ratio: share(bought, sold), realized_pnl: usd(sum(parts.map((part) => part.pnl))), top_coins: coins.slice(0, 5),
    }); // prettier-ignore
    expect(meta.count).toBe(data.trades.length);
    expect(data.trades.length).toBe(Math.min(50, parts.length + data.trades.filter((row) => row.side === 'flip').length) || 50);
    for (const row of data.trades) {
      expect(users.has(row.trader as string)).toBe(true);
      expect(row.smart_score).toBe(world.scores.get(row.trader as string));
      if (side !== undefined) expect([row.side, row.trade_side]).toContain(side);
    }
  });

  test('without such wallets, without such a coin', async () => {
    await expect(ask(world.db, 'perps/smart-wallets/activity', { min_score: 100 }, NOW)).rejects.toMatchObject({ code: 'empty_result' });
    await expect(ask(world.db, 'perps/smart-wallets/activity', { coin: 'NOPE' }, NOW)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('smart-wallets/signals', () => {
  function rows(timeframe: string, least: number, wallets: number, only?: string): Row[] {
    const users = new Set(scoredFrom(least));
    const facts = within(timeframe).filter((fact) => users.has(fact.user) && (only === undefined || fact.coin === only));
    return [...groupBy(facts, ({ coin }) => coin)]
      .flatMap(([coin, all]): (Row & { signal_score: number; coin: string })[] => {
        const own = [...groupBy(all, ({ user }) => user)].map(([user, mine]) => {
          const [buys, sells] = [mine.filter((fact) => fact.buys), mine.filter((fact) => !fact.buys)];
          const score = world.scores.get(user) as number;
          // A score has one decimal: its weight is exact in thousandths.
          return { user, score, weight: BigInt(Math.round(score * 10)), bought: volumeOf(buys), sold: volumeOf(sells), boughtSize: sum(buys.map(({ sz }) => sz)), soldSize: sum(sells.map(({ sz }) => sz)), last: (mine.at(-1) as Fact).time }; // prettier-ignore
        });
        if (own.length < wallets) return [];
        const total = (of: (row: (typeof own)[number]) => bigint): bigint => sum(own.map(of));
        const net = total((row) => row.weight * (row.bought - row.sold));
        const gross = total((row) => row.weight * (row.bought + row.sold));
        const squares = own.reduce((all2, row) => all2 + Number(row.weight * (row.bought + row.sold)) ** 2, 0);
        const effective = Math.min(Number(gross) ** 2 / squares, 10);
        const score = Math.round(1_000 * (Math.abs(Number(net)) / Number(gross)) * Math.sqrt(effective / 10)) / 10;
        const direction = net * 10n > gross ? 'Long' : net * 10n < -gross ? 'Short' : 'Neutral';
        const top = own.map((row) => ({ ...row, net: row.bought - row.sold })).sort((a, b) => Math.abs(Number(b.net)) - Math.abs(Number(a.net)) || byKey(a.user, b.user)).slice(0, 5); // prettier-ignore
        const price = (usdOf: bigint, size: bigint): number | null => (size === 0n ? null : Number(usdOf) / Number(size));
        return [{
        coin, direction, smart_wallet_count: own.length, total_volume: usd(total((row) => row.bought + row.sold)),
        avg_score: Math.round(own.reduce((all2, row) => all2 + Math.round(row.score * 10), 0) / own.length) / 10,
        top_traders: top.map((row) => ({
          trader: row.user, score: row.score, direction: row.net > 0n ? 'Long' : row.net < 0n ? 'Short' : 'Neutral', usd_value: usd(row.net < 0n ? -row.net : row.net),
          avg_price: row.net > 0n ? price(row.bought, row.boughtSize) : row.net < 0n ? price(row.sold, row.soldSize) : null, timestamp: second(row.last),
        })),
        net_volume: usd(total((row) => row.bought - row.sold)), long_wallets: own.filter((row) => row.bought > row.sold).length,
        short_wallets: own.filter((row) => row.bought < row.sold).length, signal_score: score,
        signal_strength: score >= 65 ? 'strong' : score >= 40 ? 'moderate' : score >= 10 ? 'weak' : null,
        avg_entry: direction === 'Long' ? price(total((row) => row.bought), total((row) => row.boughtSize)) : direction === 'Short' ? price(total((row) => row.sold), total((row) => row.soldSize)) : null,
        price: Number(priceAt(world.facts, coin, NOW.getTime())) / Number(ONE),
      }]; // prettier-ignore
      })
      .sort((a, b) => b.signal_score - a.signal_score || byKey(a.coin, b.coin));
  }

  test.each([
    ['24h', 85, 1, 20, undefined],
    ['7d', 75, 2, 20, undefined],
    ['7d', 30, 3, 4, undefined],
    ['all', 0, 1, 50, undefined],
    ['30d', 40, 1, 20, 'BTC'],
  ])('timeframe=%s min_score=%d min_wallets=%d limit=%d coin=%s', async (timeframe, min_score, min_wallets, limit, coin) => {
    const { data } = await ask<Row[]>(world.db, 'perps/smart-wallets/signals', { timeframe, min_score, min_wallets, limit, coin }, NOW);
    const expected = rows(timeframe, min_score, min_wallets, coin).slice(0, limit);
    expect(expected.length).toBeGreaterThan(0);
    expect(told(data)).toEqual(told(expected));
  });

  test('one fill of one smart wallet is a signal', async () => {
    const later = new Date(NOW.getTime() + 30 * 86_400_000);
    const [user] = scoredFrom(85) as [string];
    const at = new Date(later.getTime() - 60_000);
    await load(world.db.pool, [
      match(at, { coin: 'ONE', px: '10', sz: '7', side: 'B', taker: [user, '0.0'], maker: [address('d'), '0.0'] }),
    ]);
    const { data } = await ask<Row[]>(world.db, 'perps/smart-wallets/signals', { min_wallets: 1 }, later);
    expect(data).toMatchObject([
      {
        coin: 'ONE',
        direction: 'Long',
        smart_wallet_count: 1,
        total_volume: 70,
        net_volume: 70,
        avg_entry: 10,
        signal_score: 31.6,
        signal_strength: 'weak',
      },
    ]);
    const none = ask(world.db, 'perps/smart-wallets/signals', {}, later);
    await expect(none).rejects.toMatchObject({ code: 'empty_result', context: { suggestion: { timeframe: '7d' } } });
  });
});
