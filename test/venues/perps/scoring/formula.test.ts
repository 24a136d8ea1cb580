import fc from 'fast-check';
import { wilsonLowerBound } from '../../../../src/lib/statistics';
import { S_PERP, type TraderRecord, isOneCoinDay, scoreTrader } from '../../../../src/venues/perps/scoring/formula';

/** Activity and profit at their maxima. */
const best: TraderRecord = { trades: 1023, closing_trades: 400, winning_trades: 300, net_pnl: 1e6, largest_coin_day_pnl: 1000 };
/** Trips won of n so that the Wilson bound is just so high. */
const wonFor = (bound: number, n: number): number => {
  for (let won = 0; won <= n; won += 1) if ((wilsonLowerBound(won, n) as number) >= bound) return won;
  throw new Error(`${n} trips cannot reach ${bound}`);
};

describe('by hand', () => {
  // wilson(7, 10) = 0.44167813, wilson(10, 10) = 0.78702820, wilson(20, 20) = 0.88083448 (20/(20 + 1.645²)).
  test.each<[string, TraderRecord, number | null, string, string[]]>([
    // 4·log2(16) = 16; 40·20/22.706025 = 35.2330; 4·log10(1000) = 12.
    ['plain', { trades: 15, closing_trades: 20, winning_trades: 20, net_pnl: 999, largest_coin_day_pnl: 99 }, 63.2, 'average', []],
    // The same with 10 trips: 16 + 31.4811 + 12 = 59.48 -> 59.
    [
      'ten trips',
      { trades: 15, closing_trades: 10, winning_trades: 10, net_pnl: 999, largest_coin_day_pnl: 99 },
      59,
      'average',
      ['few_round_trips'],
    ],
    // 16 + 17.6671 + 12.
    [
      'few, but lower anyway',
      { trades: 15, closing_trades: 10, winning_trades: 7, net_pnl: 999, largest_coin_day_pnl: 99 },
      45.7,
      'average',
      [],
    ],
    ['19 trips', { ...best, closing_trades: 19, winning_trades: 19 }, 59, 'average', ['few_round_trips']],
    ['20 trips', { ...best, closing_trades: 20, winning_trades: 20 }, 95.2, 'elite', []],
    // Activity and profit do not go on for ever; a loss has no profit points.
    ['more of everything', { ...best, trades: 1e6, net_pnl: 1e12, closing_trades: 20, winning_trades: 20 }, 95.2, 'elite', []],
    ['a loss', { ...best, closing_trades: 20, winning_trades: 20, net_pnl: -1 }, 75.2, 'average', []],
    ['nothing gained', { ...best, closing_trades: 20, winning_trades: 20, net_pnl: 0 }, 75.2, 'average', []],
    ['never won', { ...best, winning_trades: 0 }, 60, 'average', []],
    ['novice', { trades: 15, closing_trades: 20, winning_trades: 0, net_pnl: -5, largest_coin_day_pnl: 0 }, 16, 'novice', []],
    ['one coin-day', { ...best, closing_trades: 400, winning_trades: 400, largest_coin_day_pnl: 600_000 }, 84, 'average', ['one_coin_day']],
    ['less than 60 %', { ...best, closing_trades: 400, winning_trades: 400, largest_coin_day_pnl: 599_999 }, 99.7, 'elite', []],
    ['one coin-day that was not needed', { ...best, winning_trades: 0, largest_coin_day_pnl: 1e6 }, 60, 'average', []],
    [
      'both caps',
      { ...best, closing_trades: 19, winning_trades: 19, largest_coin_day_pnl: 1e6 },
      59,
      'average',
      ['one_coin_day', 'few_round_trips'],
    ],
    [
      'no round trip yet',
      { trades: 50, closing_trades: 0, winning_trades: 0, net_pnl: 400, largest_coin_day_pnl: 300 },
      null,
      'unscored',
      [],
    ],
    ['nothing', { trades: 0, closing_trades: 0, winning_trades: 0, net_pnl: 0, largest_coin_day_pnl: 0 }, null, 'unscored', []],
  ])('%s', (_name, record, score, tier, caps) => expect(scoreTrader(record)).toMatchObject({ score, tier, caps }));

  test('points and version', () => {
    expect(scoreTrader({ trades: 15, closing_trades: 10, winning_trades: 7, net_pnl: 999, largest_coin_day_pnl: 99 })).toEqual({
      score: 45.7,
      tier: 'average',
      win_rate_lb: expect.closeTo(0.4416781333357615, 12),
      activity_points: 16,
      accuracy_points: expect.closeTo(40 * 0.4416781333357615, 10),
      profit_points: expect.closeTo(12, 10),
      caps: [],
      version: 'perp-2026.1',
    });
  });

  test('at the maxima of activity and profit, smart needs a bound of 0.625 and elite one of 0.875', () => {
    const n = 100_000;
    const at = (bound: number) => scoreTrader({ ...best, closing_trades: n, winning_trades: wonFor(bound, n) });
    expect(at(0.6251)).toMatchObject({ score: 85, tier: 'smart' });
    expect(at(0.6225)).toMatchObject({ score: 84.9, tier: 'average' });
    expect(at(0.8751)).toMatchObject({ score: 95, tier: 'elite' });
    expect(at(0.8725)).toMatchObject({ score: 94.9, tier: 'smart' });
  });

  test('more won than closed is a mistake', () => expect(() => scoreTrader({ ...best, winning_trades: 401 })).toThrow(RangeError));

  test('a coin-day is a share of a gain only', () => {
    expect(isOneCoinDay({ net_pnl: 10, largest_coin_day_pnl: 6 })).toBe(true);
    expect(isOneCoinDay({ net_pnl: 10, largest_coin_day_pnl: 5.99 })).toBe(false);
    // 60 % to the cent, of which 0.6 · 10.3 is a little more.
    expect(isOneCoinDay({ net_pnl: 10.3, largest_coin_day_pnl: 6.18 })).toBe(true);
    expect(isOneCoinDay({ net_pnl: 10.3, largest_coin_day_pnl: 6.179_999 })).toBe(false);
    expect(isOneCoinDay({ net_pnl: -10, largest_coin_day_pnl: 50 })).toBe(false);
    expect(isOneCoinDay({ net_pnl: 0, largest_coin_day_pnl: 0 })).toBe(false);
  });
});

describe('laws', () => {
  const traders = fc
    .record({
      trades: fc.integer({ min: 0, max: 100_000 }),
      closing_trades: fc.integer({ min: 0, max: 5000 }),
      won: fc.double({ min: 0, max: 1, noNaN: true }),
      net_pnl: fc.double({ min: -1e7, max: 1e7, noNaN: true }),
      largest_coin_day_pnl: fc.double({ min: 0, max: 1e7, noNaN: true }),
    })
    .map(({ won, ...rest }) => ({ ...rest, winning_trades: Math.round(won * rest.closing_trades) }));

  test('0 to 100 in tenths, null only without a closed trip, caps hold', () => {
    fc.assert(
      fc.property(traders, (trader) => {
        const { score, caps } = scoreTrader(trader);
        expect(score === null).toBe(trader.closing_trades === 0);
        if (score === null) return;
        expect(score >= 0 && score <= 100).toBe(true);
        expect(Math.round(score * 10) / 10).toBe(score);
        if (trader.closing_trades < 20) expect(score).toBeLessThanOrEqual(S_PERP.few_round_trips.at_most);
        if (isOneCoinDay(trader)) expect(score).toBeLessThanOrEqual(S_PERP.one_coin_day.at_most);
        if (caps.length === 0) expect(score).not.toBeNaN();
      }),
      { numRuns: 2000 },
    );
  });

  test.each(['trades', 'winning_trades', 'net_pnl'] as const)('more %s never lowers a score', (key) => {
    fc.assert(
      fc.property(traders, fc.integer({ min: 0, max: 10_000 }), (trader, more) => {
        const step = key === 'winning_trades' ? Math.min(more, trader.closing_trades - trader.winning_trades) : more;
        // Profit spread over more than one coin-day: the share of the largest does not change sides.
        const low = { ...trader, largest_coin_day_pnl: 0 };
        const scores = [low, { ...low, [key]: low[key] + step }].map((each) => scoreTrader(each).score ?? -1);
        expect(scores[1]).toBeGreaterThanOrEqual(scores[0] as number);
      }),
      { numRuns: 1000 },
    );
  });

  test('a larger largest coin-day never raises a score', () => {
    fc.assert(
      fc.property(traders, fc.double({ min: 0, max: 1e7, noNaN: true }), (trader, more) => {
        const larger = { ...trader, largest_coin_day_pnl: trader.largest_coin_day_pnl + more };
        expect(scoreTrader(larger).score ?? -1).toBeLessThanOrEqual(scoreTrader(trader).score ?? -1);
      }),
      { numRuns: 1000 },
    );
  });
});
