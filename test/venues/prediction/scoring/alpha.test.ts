import { alphaScore, trendStart } from '../../../../src/venues/prediction/scoring/alpha';

const T0 = Date.UTC(2026, 2, 1);
const hour = (n: number): Date => new Date(T0 + n * 3_600_000);
const flat = Array.from({ length: 200 }, (_, n) => ({ hour: hour(n), usdc: 10 }));

describe('when a market began to trend', () => {
  test('never, while every day is like the others', () => {
    expect(trendStart(flat, hour(200))).toBeNull();
    expect(trendStart([], hour(1))).toBeNull();
  });

  test('at the end of the hour that brought a day of three times the usual', () => {
    // Days of 240: the hour that adds 480 makes a day of 720, which is not yet more than three times.
    const usual = (n: number, usdc: number): { hour: Date; usdc: number }[] =>
      flat.map((one, index) => (index === n ? { ...one, usdc } : one));
    expect(trendStart(usual(150, 490), hour(200))).toBeNull();
    expect(trendStart(usual(150, 491), hour(200))).toEqual(hour(151));
    // Hours without a trade may be left out; what came after the end does not count.
    expect(trendStart(usual(150, 2_000).filter((_, n) => n % 2 === 0), hour(200))).toEqual(hour(151)); // prettier-ignore
    expect(trendStart(usual(150, 2_000), hour(150))).toBeNull();
    // Of the hour in which it ended a market did not see the rest.
    expect(trendStart(usual(150, 2_000), hour(150.25))).toEqual(hour(150.25));
  });
});

test('a call is worth more the better its caller, its price, its time and its size', () => {
  const call = { hit_rate_lb: 0.5, price_multiple: 4, days_before_resolution: 15, bet_usdc: 1_000 };
  expect(alphaScore(call)).toBeCloseTo(20 + 20 * Math.log10(4) + 10 + 10, 9);
  expect(alphaScore({ hit_rate_lb: 1, price_multiple: 10, days_before_resolution: 30, bet_usdc: 10_000 })).toBe(100);
  expect(alphaScore({ ...call, bet_usdc: 0 })).toBeCloseTo(alphaScore(call) - 10, 9);
});
