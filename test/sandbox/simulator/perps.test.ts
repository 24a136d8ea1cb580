import { rowCounts } from '../../../src/db/row-counts';
import { perpsWorld, type PlantedTrader } from '../../../src/sandbox/simulator/perps';
import type { WorldPage } from '../../../src/sandbox/simulator/world';
import { perps } from '../../../src/venues/perps/index';
import { testDatabase } from '../../support/database';
import { fillsOf, type RawFill } from '../../venues/perps/recount';
import { load } from '../../venues/perps/support';

const DAY = 86_400_000;
const start = new Date('2026-05-01T00:00:00Z');
const after = (days: number): Date => new Date(start.getTime() + days * DAY);
const options = { seed: 42, size: 30_000, start };
const month = [...perpsWorld(options).pages(start, after(30))];
const fills = fillsOf(month);
const facts = (pages: Iterable<WorldPage>): unknown[] =>
  [...pages].flatMap(({ format, records }) =>
    format === 'json' ? records : (records as { events: unknown[] }[]).flatMap(({ events }) => events),
  );

test('the same options tell the same world, other seeds another', () => {
  expect([...perpsWorld(options).pages(start, after(3))]).toEqual([...perpsWorld(options).pages(start, after(3))]);
  expect(fillsOf(perpsWorld({ ...options, seed: 43 }).pages(start, after(1)))[0]).not.toEqual(fills[0]);
});

test('a large venue has many coins, most of which hardly trade; large positions on moves to come are in the major ones alone', () => {
  const coinsOf = (size: number): string[] =>
    perpsWorld({ ...options, size })
      .meta(after(60))
      .universe.map(({ name }) => name);
  const [few, many] = [coinsOf(30_000), coinsOf(120_000)];
  expect([few.length, many.length, new Set(many).size]).toEqual([17, 161, 161]);
  expect(many.slice(0, 17)).toEqual(few);
  const large = perpsWorld({ ...options, size: 120_000 });
  const usd = new Map<string, number>();
  for (const { coin, px, sz } of fillsOf(large.pages(after(3), after(5)))) usd.set(coin, (usd.get(coin) ?? 0) + Number(px) * Number(sz));
  const total = [...usd.values()].reduce((sum, value) => sum + value, 0);
  const major = few.reduce((sum, coin) => sum + (usd.get(coin) ?? 0), 0);
  expect(usd.size).toBeGreaterThan(30);
  expect(major / total).toBeGreaterThan(0.7);
  const planned = large.truth(after(30)).filter(({ role }) => role === 'insider' || role === 'lucky');
  expect(planned.length).toBeGreaterThan(5);
  expect(planned.flatMap(({ coins }) => coins).filter((coin) => !few.includes(coin))).toEqual([]);
});

test('however time is cut, the facts are the same, whoever asks first', () => {
  const small = { ...options, size: 6_000 };
  const cuts = [8.2, 8.2 + 1 / 24, 8.9, 10.3, 10.3 + 5 / 86_400, 12, 16.1];
  const whole = facts(perpsWorld(small).pages(after(8.2), after(16.1)));
  const going = perpsWorld(small);
  const pieces = cuts.slice(1).flatMap((to, index) => facts(going.pages(after(cuts[index] as number), after(to))));
  expect(pieces.map((fact) => JSON.stringify(fact)).sort()).toEqual(whole.map((fact) => JSON.stringify(fact)).sort());
  // A world that is asked backwards, each stretch anew.
  const backwards = perpsWorld(small);
  const reversed = cuts.slice(1).map((to, index) => [cuts[index] as number, to] as const).reverse().flatMap(([from, to]) => facts(backwards.pages(after(from), after(to)))); // prettier-ignore
  expect(whole.length).toBeGreaterThan(1_000);
  expect(reversed).toHaveLength(whole.length);
  expect(new Set(reversed.map((fact) => JSON.stringify(fact)))).toEqual(new Set(whole.map((fact) => JSON.stringify(fact))));
});

test('about the size asked for, oldest first, inside the time asked for', () => {
  expect(fills.length).toBeGreaterThan(options.size * 0.8);
  expect(fills.length).toBeLessThan(options.size * 1.25);
  const times = fills.map(({ time }) => time);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(Math.min(...times)).toBeGreaterThanOrEqual(start.getTime());
  expect(Math.max(...times)).toBeLessThan(after(30).getTime());
});

test('the catalogue is told when it changes: coins appear, one is taken off', () => {
  const metas = month
    .filter(({ name }) => name.startsWith('meta'))
    .map(({ records }) => (records[0] as { universe: { name: string; isDelisted?: boolean }[] }).universe);
  expect(metas.map((universe) => universe.length)).toEqual([15, 16, 17, 17]);
  expect(metas.map((universe) => universe.filter(({ isDelisted }) => isDelisted).map(({ name }) => name))).toEqual([[], [], [], ['TIA']]);
  expect(fills.some(({ coin, time }) => coin === 'TIA' && time >= after(24).getTime())).toBe(false);
  expect(fills.some(({ coin, time }) => coin === 'JUP' && time < after(6).getTime())).toBe(false);
});

/** One account's way through one coin. */
const byPosition = (chosen: readonly RawFill[]): Map<string, RawFill[]> => {
  const groups = new Map<string, RawFill[]>();
  for (const fill of chosen) groups.set(`${fill.user} ${fill.coin}`, [...(groups.get(`${fill.user} ${fill.coin}`) ?? []), fill]);
  return groups;
};

test('every fill starts where the one before ended, and its PnL is what average cost says', () => {
  const wrong: RawFill[] = [];
  for (const own of byPosition(fills).values()) {
    let [position, cost] = [0, 0];
    for (const fill of own) {
      const change = (fill.side === 'B' ? 1 : -1) * Number(fill.sz);
      const closing = Math.sign(position) === -Math.sign(change) ? Math.min(Math.abs(position), Math.abs(change)) : 0;
      const entry = position === 0 ? 0 : cost / Math.abs(position);
      const pnl = closing === 0 ? 0 : Math.sign(position) * (Number(fill.px) - entry) * closing;
      const paid = Math.abs(Number(fill.closedPnl) - pnl) < 1e-6 + 1e-9 * Number(fill.px) * Math.abs(change);
      if (!paid || Math.abs(Number(fill.startPosition) - position) > 1e-6) wrong.push(fill);
      cost += -entry * closing + (Math.abs(change) - closing) * Number(fill.px);
      position = Math.abs(position + change) < 1e-9 ? 0 : position + change;
    }
  }
  expect(wrong).toEqual([]);
});

test('both sides of every match are there, one of them taking', () => {
  const matches = new Map<string, RawFill[]>();
  for (const fill of fills) matches.set(`${fill.coin} ${fill.tid}`, [...(matches.get(`${fill.coin} ${fill.tid}`) ?? []), fill]);
  const wrong = [...matches.values()].filter(([a, b, more]) => {
    if (a === undefined || b === undefined || more !== undefined) return true;
    const same = a.px === b.px && a.sz === b.sz && a.time === b.time && a.hash === b.hash;
    return !same || a.side === b.side || a.crossed === b.crossed || a.user === b.user;
  });
  expect(wrong).toEqual([]);
});

test('sizes have a heavy tail, days a rhythm, coins a ranking, and accounts get liquidated', () => {
  const takers = fills.filter(({ crossed }) => crossed);
  const usd = takers.map(({ px, sz }) => Number(px) * Number(sz)).sort((a, b) => b - a);
  const share = (count: number): number => usd.slice(0, count).reduce((a, b) => a + b, 0) / usd.reduce((a, b) => a + b, 0);
  expect(share(Math.floor(usd.length / 10))).toBeGreaterThan(0.4);
  const hours = (from: number): number => takers.filter(({ time }) => Math.floor((time % DAY) / 3_600_000 / 6) === from).length;
  expect(hours(2)).toBeGreaterThan(hours(0) * 1.2);
  expect(new Set(takers.map(({ coin }) => coin)).size).toBe(17);
  expect(takers.filter(({ liquidation }) => liquidation !== undefined).length).toBeGreaterThan(10);
  expect(fills.filter(({ dir }) => dir.includes('>')).length).toBeGreaterThan(100);
  expect(takers.filter(({ hash }) => /^0x0+$/.test(hash)).length).toBeGreaterThan(10);
});

test('who is auto-deleveraged holds less afterwards', () => {
  const forced = fills.filter(({ dir }) => dir === 'Auto-Deleveraging');
  const left = forced.map(({ side, sz, startPosition }) => Math.abs(Number(startPosition) + (side === 'B' ? 1 : -1) * Number(sz)));
  expect(forced.length).toBeGreaterThan(0);
  for (const [index, { startPosition }] of forced.entries()) expect(left[index]).toBeLessThan(Math.abs(Number(startPosition)));
});

test('who everybody is costs little when it is asked for again: a venue is asked for one account after the other', () => {
  const world = perpsWorld(options);
  const first = world.truth(after(30));
  const before = process.cpuUsage();
  for (let times = 0; times < 500; times += 1) expect(world.truth(after(30))).toHaveLength(first.length);
  const { user } = process.cpuUsage(before);
  expect(user / 1e6).toBeLessThan(2);
});

describe('planted truth', () => {
  const truth = perpsWorld(options).truth(after(30));
  const own = new Map<string, RawFill[]>();
  for (const fill of fills) own.set(fill.user, [...(own.get(fill.user) ?? []), fill]);
  const of = (role: PlantedTrader['role']): RawFill[][] => truth.filter((planted) => planted.role === role).map((planted) => own.get(planted.trader) ?? []); // prettier-ignore
  const pnl = (trades: readonly RawFill[]): number => trades.reduce((sum, { closedPnl, fee }) => sum + Number(closedPnl) - Number(fee), 0);
  /** Round trips won, and all of them. */
  const trips = (trades: readonly RawFill[]): [number, number] => {
    let [won, all] = [0, 0];
    for (const way of byPosition(trades).values()) {
      let result = 0;
      for (const fill of way) {
        result += Number(fill.closedPnl) - Number(fill.fee);
        if (Math.abs(Number(fill.startPosition) + (fill.side === 'B' ? 1 : -1) * Number(fill.sz)) > 1e-9) continue;
        all += 1;
        won += Number(result > 0);
        result = 0;
      }
    }
    return [won, all];
  };

  test('everybody who trades is told', () => {
    const known = new Set(truth.map(({ trader }) => trader));
    expect(fills.every(({ user }) => known.has(user))).toBe(true);
    expect(known.size).toBe(truth.length);
  });

  /** The published perpetuals formula: activity, 90 % lower bound of round trips won, profit after fees; unproven accounts stay below 60. */
  const score = (trades: readonly RawFill[]): number => {
    const [won, all] = trips(trades);
    if (all === 0) return 0;
    const [z, rate, profit] = [1.645, won / all, pnl(trades)];
    const bound = (rate + (z * z) / (2 * all) - z * Math.sqrt((rate * (1 - rate) + (z * z) / (4 * all)) / all)) / (1 + (z * z) / all);
    const points =
      Math.min(4 * Math.log2(trades.length + 1), 40) + 40 * bound + (profit > 0 ? Math.min(4 * Math.log10(profit + 1), 20) : 0);
    return all < 20 ? Math.min(points, 59) : points;
  };

  test('the skilled win again and again, enough to be scored smart; the others do not', () => {
    const skilled = of('skilled').map(score);
    expect(skilled.filter((points) => points >= 85).length).toBeGreaterThanOrEqual(6);
    expect(Math.min(...skilled)).toBeGreaterThan(78);
    const others = truth.filter(({ role }) => role !== 'skilled').map(({ trader }) => score(own.get(trader) ?? []));
    expect(others.filter((points) => points >= 85)).toEqual([]);
  });

  test('the lucky won every time, but hardly ever traded; losers lose; the unskilled do not win on the whole', () => {
    const lucky = of('lucky').filter((trades) => trades.length > 0);
    expect(lucky.length).toBeGreaterThan(3);
    for (const trades of lucky) expect([trips(trades)[1] <= 4, pnl(trades) > 0]).toEqual([true, true]);
    expect(of('loser').filter((trades) => pnl(trades) < 0).length).toBeGreaterThan(of('loser').length * 0.7);
    expect(pnl(of('retail').flat())).toBeLessThan(0);
  });

  test('market makers make, and end up with nothing', () => {
    expect(of('market_maker').length).toBeGreaterThan(0);
    for (const trades of of('market_maker')) {
      expect(trades.length).toBeGreaterThan(500);
      expect(trades.filter(({ crossed }) => !crossed).length / trades.length).toBeGreaterThan(0.8);
      const usd = (side: string): number =>
        trades.reduce((sum, fill) => sum + (side === fill.side ? Number(fill.px) * Number(fill.sz) : 0), 0);
      expect(Math.abs(usd('B') - usd('A')) / (usd('B') + usd('A'))).toBeLessThan(0.1);
    }
  });

  test('a copier follows its leader within minutes; a wash pair trades with itself; insiders are new and right', () => {
    const copiers = truth.filter(({ role }) => role === 'copier');
    for (const { trader, of: leader } of copiers) {
      const led = own.get(leader as string) as RawFill[];
      const entries = (own.get(trader) as RawFill[]).filter(({ startPosition }) => Number(startPosition) === 0);
      const followed = entries.filter((fill) =>
        led.some(
          (other) => other.coin === fill.coin && other.side === fill.side && fill.time > other.time && fill.time - other.time < 120_000,
        ),
      );
      expect(followed.length / entries.length).toBeGreaterThan(0.95);
    }
    const wash = of('wash_b').flat();
    const partner = new Set(of('wash_a').flat().map(({ tid }) => tid)); // prettier-ignore
    expect(wash.filter(({ tid }) => partner.has(tid)).length / wash.length).toBeGreaterThan(0.9);
    const insiders = of('insider').filter((trades) => trades.length > 0);
    expect(insiders.length).toBeGreaterThan(0);
    for (const trades of insiders)
      expect([pnl(trades) > 0, (trades.at(-1) as RawFill).time - (trades[0] as RawFill).time < DAY]).toEqual([true, true]);
  });
});

test('the wing loads every page without skipping anything, once', async () => {
  const db = await testDatabase();
  try {
    const totals = { inserted: 0, duplicates: 0 };
    for (const page of month) {
      const report = await load(db.pool, page.records, { format: page.format, name: page.name });
      expect([report.skipped, report.read]).toEqual([{}, page.facts]);
      totals.inserted += report.inserted;
      totals.duplicates += report.duplicates;
    }
    // 18 entries of coins and one vault; coins told again unchanged: 15 at the second catalogue, 16 at the third and the fourth.
    expect(totals).toEqual({ inserted: fills.length + 18 + 1, duplicates: 15 + 16 + 16 });
    expect(await rowCounts(db.pool, perps.factTables, 60_000)).toEqual({
      perp_fill: fills.length,
      perp_match: fills.length / 2,
      perp_coin: 17,
    });
  } finally {
    await db.drop();
  }
});
