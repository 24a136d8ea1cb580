import { score } from '../../../../src/venues/prediction/scoring/job';
import { testDatabase } from '../../../support/database';
import { call, callOr } from '../markets/call';
import { groupedBy } from '../../../../src/lib/grouped';
import { type Told, type ToldWorld, PriceBook, countPositions, loadTold } from './told-world';

/** Copiers and callers a second time, in plain TypeScript from what the upstream told. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const start = new Date('2026-02-01T00:00:00Z');
const now = new Date(start.getTime() + 24 * DAY + 1_234_000);
const z = 1.645;

interface Order { wallet: string; market: string; token: string; side: string; tx: string; time: number; usdc: number; size: number; fills: number } // prettier-ignore

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const average = (values: readonly number[]): number => sum(values) / values.length;

describe('copiers and callers, counted again', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let told: ToldWorld;
  let facts: Told[];
  let factsOf: Map<string, Told[]>;

  beforeAll(async () => {
    db = await testDatabase();
    told = await loadTold(db.pool, 3, 9_000, start, new Date(now.getTime() + 2 * DAY));
    await score(db.pool, now, () => undefined);
    facts = told.facts.filter(({ time }) => time < now.getTime());
    factsOf = groupedBy(facts, ({ wallet, market }) => `${wallet}|${market}`);
  });
  afterAll(() => db.drop());

  /** Buys and sells, all fills of one transaction of a wallet on a token and side together, in time order. */
  function ordersOf(from: number): Order[] {
    const orders = new Map<string, Order>();
    for (const { wallet, market, token, side, tx, time, usdc, size } of facts) {
      if (token === null || time < from) continue;
      const key = [wallet, token, side, tx].join();
      const order = orders.get(key) ?? { wallet, market, token, side, tx, time, usdc: 0, size: 0, fills: 0 };
      orders.set(key, { ...order, time: Math.min(time, order.time), usdc: order.usdc + usdc, size: order.size + size, fills: order.fills + 1 }); // prettier-ignore
    }
    return [...orders.values()].sort((a, b) => a.time - b.time || (a.tx < b.tx ? -1 : 1));
  }

  /** Pairs of a leader's order and the follower's that copies it: the newest one not copied yet. */
  function pairs(
    led: readonly Order[],
    following: readonly Order[],
    lag: number,
    allows: (a: Order, b: Order) => boolean,
  ): [Order, Order][] {
    const taken: [Order, Order][] = [];
    for (const order of following) {
      const before = led.filter(({ token, side, time }) => token === order.token && side === order.side && order.time > time && order.time - time <= lag); // prettier-ignore
      const copied = before.filter((one) => !taken.some(([other]) => other === one)).at(-1);
      if (copied !== undefined && allows(copied, order)) taken.push([copied, order]);
    }
    return taken;
  }

  function sharesBefore(wallet: string, order: Order, time: number): number {
    const steps = (factsOf.get(`${wallet}|${order.market}`) ?? []).filter((fact) => fact.time < time && (fact.token ?? order.token) === order.token); // prettier-ignore
    return sum(
      steps.map(({ side, size }) => (side === 'BUY' || side === 'SPLIT' ? size : side === 'SELL' || side === 'MERGE' ? -size : 0)),
    );
  }

  function tail(k: number, n: number, p: number): number {
    const choose = (all: number, some: number): number => (some === 0 ? 1 : (choose(all, some - 1) * (all - some + 1)) / some);
    return Math.min(1, sum(Array.from({ length: n - k + 1 }, (_, i) => choose(n, k + i) * p ** (k + i) * (1 - p) ** (n - k - i))));
  }

  function copiersOf(leader: string, orders: readonly Order[], lag: number, least: number): Record<string, unknown>[] {
    const led = orders.filter(({ wallet }) => wallet === leader);
    const follows = (order: Order): boolean => led.some(({ token, side, time }) => token === order.token && side === order.side && order.time > time && order.time - time <= lag); // prettier-ignore
    const others = orders.filter(({ wallet }) => wallet !== leader);
    const chance = sum(others.filter(follows).map(({ fills }) => fills)) / sum(others.map(({ fills }) => fills));
    const found = [...groupedBy(others, ({ wallet }) => wallet)].flatMap(([wallet, own]) => {
      const holds = ([a, b]: [Order, Order]): boolean => (b.side === 'BUY') === sharesBefore(wallet, b, a.time) <= 1e-6;
      const copies = pairs(led, own, lag, (a, b) => holds([a, b]));
      const ahead = pairs(own, led, lag, () => true).length;
      if (copies.length < least || ahead * 2 >= copies.length) return [];
      const lags = copies.map(([a, b]) => (b.time - a.time) / 1_000);
      const mean = average(lags);
      const deviation = lags.length < 2 ? null : Math.sqrt(sum(lags.map((one) => (one - mean) ** 2)) / (lags.length - 1));
      const regularity = deviation === null ? 0 : Math.max(0, 1 - deviation / mean);
      const [precision, coverage] = [copies.length / own.length, copies.length / led.length];
      const copy_score = 0.4 * precision + 0.2 * coverage + 0.2 * Math.min(1, precision / chance / 10) + 0.2 * regularity;
      const sorted = [...lags].sort((a, b) => a - b);
      const middle = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]] as [number, number];
      return [{ wallet, overlap_trades: copies.length, precision, overlap_pct: 100 * coverage, lift: precision / chance, p_value: tail(copies.length, own.length, chance), copy_score, avg_lag_seconds: mean, median_lag_seconds: average(middle), copied_usdc: sum(copies.flatMap(([, b]) => (b.side === 'BUY' ? [b.usdc] : []))), avg_slippage: average(copies.map(([a, b]) => b.usdc / b.size - a.usdc / a.size)), tokens: new Set(copies.map(([, b]) => b.token)) }]; // prettier-ignore
    });
    return found.filter(({ copy_score }) => copy_score >= 0.5).sort((a, b) => b.copy_score - a.copy_score);
  }

  test.each([
    ['30d', 60, 3],
    ['7d', 1_440, 2],
    ['all', 5, 3],
  ])('wallets/copy-traders of every copied wallet: %s, %d minutes, %d copies', async (timeframe, max_lag_minutes, min_overlap_trades) => {
    const days = Number.parseInt(timeframe, 10);
    const orders = ordersOf(timeframe === 'all' ? 0 : now.getTime() - days * DAY);
    const { rows } = await db.pool.query<{ wallet: string }>("SELECT wallet FROM pm_wallet_score WHERE tags && ARRAY['market_maker', 'hft_bot', 'wash']"); // prettier-ignore
    const machines = new Set(rows.map(({ wallet }) => wallet));
    const [positions, book] = [countPositions(told, now.getTime()), new PriceBook(facts)];
    let seen = 0;
    const leaders = told.world.truth(now).filter(({ role }) => role === 'copier' || role === 'skilled').map(({ of, wallet }) => of ?? wallet); // prettier-ignore
    for (const leader of [...new Set(leaders)].slice(0, 12)) {
      const expected = copiersOf(leader, orders, max_lag_minutes * 60_000, min_overlap_trades).filter(({ wallet }) => !machines.has(wallet as string)); // prettier-ignore
      const data = await callOr<Record<string, unknown>[]>(db, 'wallets/copy-traders', now, { wallet: leader, timeframe, max_lag_minutes, min_overlap_trades, limit: 100 }, []); // prettier-ignore
      expect(data.map(({ wallet }) => wallet)).toEqual(expected.map(({ wallet }) => wallet));
      for (const [index, row] of data.entries()) {
        const { tokens, wallet, ...figures } = expected[index] as Record<string, unknown> & { tokens: Set<string> };
        for (const [name, value] of Object.entries(figures)) expect([name, row[name]]).toEqual([name, expect.closeTo(value as number, 4)]);
        expect(new Set((row.copied_tokens as { token_id: string }[]).map(({ token_id }) => token_id))).toEqual(tokens);
        const own = positions.filter((one) => one.wallet === wallet && tokens.has(one.token));
        const gains = own.map((one) => one.gain + (one.status === 'open' ? one.shares * (book.last(one.token, now.getTime())[0] ?? 0) - one.cost : 0)); // prettier-ignore
        expect(Math.abs((row.follower_pnl_usdc as number) - sum(gains))).toBeLessThan(Math.max(1, 0.02 * Math.abs(sum(gains))));
        seen += 1;
      }
    }
    expect(seen).toBeGreaterThan(0);
  }); // prettier-ignore

  test.each([
    [30, 3, 30, 1, null],
    [90, 1, 20, 1, null],
    [15, 1, 0, 2, null],
    [30, 1, 20, 1, 'Crypto'],
    [90, 1, 0, 1, 'Sports'],
  ])('wallets/alpha-callers: %d days back, %d early, $%d, %d calls, category %s', async (days_back, min_days_early, min_bet_usdc, min_calls, category) => {
    const markets = [...told.markets.values()].filter((market) => category === null || market.category === category);
    const bought = groupedBy(ordersOf(0).filter(({ side }) => side === 'BUY'), ({ market }) => market);
    const bets = markets.flatMap(({ id, resolved, payouts, tokens }) => {
      if (resolved === null || resolved > now.getTime() || resolved < now.getTime() - days_back * DAY || payouts?.[0] === 0.5) return [];
      const firsts = new Map<string, Order>();
      for (const order of bought.get(id) ?? []) {
        if (order.time > resolved - min_days_early * DAY || order.usdc < min_bet_usdc || order.usdc > 0.5 * order.size + 1e-9) continue;
        const key = `${order.wallet}|${order.token}`;
        if (!firsts.has(key)) firsts.set(key, order);
      }
      return [...firsts.values()].map((order) => ({ ...order, resolved, won: payouts?.[tokens.indexOf(order.token)] === 1 }));
    });
    const calls = bets.filter(({ won, market, resolved, time }) => won && (trendOf(market, resolved) ?? 0) > time);
    const expected = calls.flatMap((bet) => {
      const record = bets.filter(({ wallet }) => wallet === bet.wallet);
      const [n, p] = [record.length, record.filter(({ won }) => won).length / record.length];
      const hit_rate_lb = Math.max(0, (p + z ** 2 / (2 * n) - z * Math.sqrt((p * (1 - p)) / n + z ** 2 / (4 * n ** 2))) / (1 + z ** 2 / n));
      const days = (bet.resolved - bet.time) / DAY;
      const price = bet.usdc / bet.size;
      const size = bet.usdc === 0 ? 0 : Math.min(1, Math.max(0, Math.log10(bet.usdc / 100) / 2));
      const alpha_score = 40 * hit_rate_lb + 20 * Math.min(1, -Math.log10(price)) + 20 * Math.min(1, days / 30) + 20 * size;
      const own = calls.filter(({ wallet }) => wallet === bet.wallet).length;
      return own < min_calls ? [] : [{ wallet: bet.wallet, condition_id: bet.market, alpha_score, calls: own, hit_rate: p, hit_rate_lb, days_before_resolution: days, bet_size_usdc: bet.usdc, entry_price: price, price_multiple: 1 / price, profit_usdc: bet.size - bet.usdc, days_before_trend: ((trendOf(bet.market, bet.resolved) as number) - bet.time) / DAY }]; // prettier-ignore
    });
    expected.sort((a, b) => b.alpha_score - a.alpha_score);
    expect(expected.length).toBeGreaterThan(0);
    const { data } = await call<Record<string, unknown>[]>(db, 'wallets/alpha-callers', now, { days_back, min_days_early, min_bet_usdc, min_calls, limit: 100, ...(category === null ? {} : { category }) }); // prettier-ignore
    expect(data.length).toBe(Math.min(100, expected.length));
    for (const row of data) {
      const mine = expected.find((one) => one.wallet === row.wallet && one.condition_id === row.condition_id);
      expect(mine).toBeDefined();
      for (const [name, value] of Object.entries(mine ?? {}))
        expect([name, row[name]]).toEqual([name, typeof value === 'string' ? value : expect.closeTo(value, name === 'alpha_score' ? 0 : 4)]);
    }
    const rounded = expected.map(({ alpha_score }) => Number(alpha_score.toFixed(1)));
    expect(Math.max(...data.map((row, index) => Math.abs((row.alpha_score as number) - (rounded[index] as number))))).toBeLessThan(0.11);
  }); // prettier-ignore

  const trends = new Map<string, number | null>();
  /** End of the first hour after which the last 24 hours had more than three times their usual volume, from the first trade to the resolution. */
  function trendOf(market: string, resolved: number): number | null {
    const known = trends.get(market);
    if (known !== undefined) return known;
    const taken = facts.filter((fact) => fact.market === market && fact.token !== null && fact.taker);
    const first = Math.floor(Math.min(...taken.map(({ time }) => time)) / HOUR) * HOUR;
    const days: number[] = [];
    for (let hour = first; hour < resolved; hour += HOUR) {
      const end = hour + HOUR;
      days.push(sum(taken.filter(({ time }) => time < end && time >= end - DAY).map(({ usdc }) => usdc)));
    }
    const sorted = [...days].sort((a, b) => a - b);
    const usual = average([sorted[Math.floor((sorted.length - 1) / 2)] as number, sorted[Math.ceil((sorted.length - 1) / 2)] as number]);
    const place = days.findIndex((volume) => volume > 3 * usual);
    const trend = place < 0 ? null : first + (place + 1) * HOUR;
    trends.set(market, trend);
    return trend;
  }
});
