import fc from 'fast-check';
import {
  type CopyTrade,
  binomialTail,
  copyFigures,
  courseOf,
  matchCopies,
  mostTrades,
  tradesAfter,
} from '../../../../src/venues/prediction/scoring/copying';

const T0 = Date.UTC(2026, 2, 1);
const trade = (second: number, token_id = 'a', side: CopyTrade['side'] = 'BUY'): CopyTrade => ({ wallet: 'w', condition_id: 'm', token_id, side, tx: String(second), at: T0 + second * 1_000, usdc: 10, size: 20, fills: 1 }); // prettier-ignore
const lags = (leader: CopyTrade[], follower: CopyTrade[], max = 60): number[] => matchCopies(courseOf(leader), courseOf(follower), max * 1_000, () => true).map(({ lag_seconds }) => lag_seconds); // prettier-ignore

describe('copies', () => {
  test('after, within the lag, same token and side; each trade once', () => {
    expect(lags([trade(0)], [trade(0), trade(30), trade(40)])).toEqual([30]);
    expect(lags([trade(0), trade(10)], [trade(20), trade(25), trade(26)])).toEqual([10, 25]);
    expect(lags([trade(0)], [trade(61), trade(5, 'b'), trade(6, 'a', 'SELL')])).toEqual([]);
    expect(lags([trade(0)], [trade(60)])).toEqual([60]);
    expect(matchCopies(courseOf([trade(0)]), courseOf([trade(5)]), 60_000, () => false)).toEqual([]);
    // Who holds since the copy of the second purchase can copy the first one still, not the third.
    const early = matchCopies(courseOf([trade(0), trade(10), trade(20)]), courseOf([trade(15), trade(25)]), 60_000, ({ leader }) => leader.at <= T0 + 15_000); // prettier-ignore
    expect(early.map(({ leader, lag_seconds }) => [(leader.at - T0) / 1_000, lag_seconds])).toEqual([[10, 5], [0, 25]]); // prettier-ignore
  });

  test('what is no trade after the leader’s makes no match; who trades too much is no copier', () => {
    const trades = fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.constantFrom('a', 'b'), fc.constantFrom('BUY' as const, 'SELL' as const)), { maxLength: 20 }); // prettier-ignore
    fc.assert(
      fc.property(trades, trades, fc.integer({ min: 1, max: 100 }), (first, second, max) => {
        const [leader, follower] = [first, second].map((list) => list.map(([at, token, side]) => trade(at, token, side))) as [CopyTrade[], CopyTrade[]]; // prettier-ignore
        const after = tradesAfter(courseOf(leader), follower, max * 1_000);
        expect(after.length).toBe(follower.filter((one) => lags(leader, [one], max).length > 0).length);
        expect(lags(leader, after, max)).toEqual(lags(leader, follower, max));
      }),
    );
    const count = fc.integer({ min: 1, max: 500 });
    const best = (matches: number, trades: number, led: number, chance: number): number => 0.4 * Math.min(1, matches / trades) + 0.2 * Math.min(1, matches / led) + 0.2 * (chance > 0 ? Math.min(1, matches / trades / chance / 10) : 1) + 0.2; // prettier-ignore
    const share = fc.constantFrom(0, 0.001, 0.02, 0.07, 0.1, 0.3, 1);
    fc.assert(
      fc.property(count, count, count, share, (matches, more, led, chance) => {
        const trades = matches + more;
        expect(trades <= mostTrades(matches, led, chance)).toBe(best(matches, trades, led, chance) >= 0.5 - 1e-9);
      }),
      { numRuns: 500 },
    );
  });

  test('figures by hand', () => {
    const leader = [0, 100, 200, 300].map((second) => trade(second));
    const matches = matchCopies(courseOf(leader), courseOf([10, 110, 210].map((second) => trade(second))), 60_000, () => true); // prettier-ignore
    // precision 3/6, coverage 3/4, lift 0.5/0.1, regular to the second: 0.2 + 0.15 + 0.1 + 0.2.
    const figures = copyFigures(matches, 6, 4, 0.1);
    expect(figures).toMatchObject({ overlap_trades: 3, precision: 0.5, coverage: 0.75, avg_lag_seconds: 10, median_lag_seconds: 10 });
    expect(figures.lift).toBeCloseTo(5, 9);
    expect(figures.copy_score).toBeCloseTo(0.65, 9);
    // Six tries at 0.1, three hits or more: 1 − (0.9⁶ + 6·0.1·0.9⁵ + 15·0.01·0.9⁴).
    expect(figures.p_value).toBeCloseTo(0.01585, 9);
  });

  test('a score of one half is one half: 0.28 + 0.14 + 0.08', () => {
    const leader = Array.from({ length: 10 }, (_, n) => trade(n * 1_000));
    // Lags so uneven that they say nothing.
    const follower = [1, 1_001, 2_001, 3_001, 4_001, 5_001, 6_900].map((second) => trade(second));
    const matches = matchCopies(courseOf(leader), courseOf(follower), 900_000, () => true);
    expect(copyFigures(matches, 10, 10, 0.175)).toMatchObject({
      overlap_trades: 7,
      precision: 0.7,
      coverage: 0.7,
      lift: 4,
      copy_score: 0.5,
    });
  });

  test('one lag says nothing of regularity; lags that differ say less than equal ones', () => {
    const figures = (leader: number[], follower: number[], chance: number) => {
      const [led, followed] = [leader, follower].map((seconds) => courseOf(seconds.map((second) => trade(second)))) as [
        ReturnType<typeof courseOf>,
        ReturnType<typeof courseOf>,
      ];
      return copyFigures(
        matchCopies(led, followed, 60_000, () => true),
        follower.length,
        leader.length,
        chance,
      );
    };
    expect(figures([0], [10], 0)).toMatchObject({ precision: 1, coverage: 1, lift: null, copy_score: expect.closeTo(0.8, 9) });
    // Lags of 10, 20 and 30 s deviate by 10 of 20: 0.4 + 0.2 + 0.2 / 10 + 0.2 / 2.
    expect(figures([0, 100, 200], [10, 120, 230], 1)).toMatchObject({ lift: 1, copy_score: expect.closeTo(0.72, 9) });
  });

  test('the binomial tail is what summing all terms gives', () => {
    const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n, k - 1) * (n - k + 1)) / k);
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 0, max: 40 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (k, n, p) => {
          fc.pre(k <= n);
          let sum = 0;
          for (let i = k; i <= n; i += 1) sum += choose(n, i) * p ** i * (1 - p) ** (n - i);
          expect(binomialTail(k, n, p)).toBeCloseTo(Math.min(1, sum), 8);
        },
      ),
    );
  });
});
