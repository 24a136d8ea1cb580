import fc from 'fast-check';
import {
  type InsiderEvidence,
  insiderScore,
  isCandidate,
  overMarkets,
  reachOf,
  riskOf,
} from '../../../../src/venues/prediction/scoring/insider';
import { judge, weigh } from '../../../../src/venues/prediction/scoring/insider-phases';

const market = { category: 'Politics', question: 'Will the minister resign?', tags: [] as string[], outcomes: 2, volume_usdc: 20_000 };

const evidence = (changes: Partial<InsiderEvidence> = {}): InsiderEvidence => ({
  age_days: 0,
  first_bet_usdc: 5_000,
  median_first_bet_usdc: 50,
  hours_before_end: 3,
  is_resolved: true,
  minutes_after_resolution: 20,
  market,
  category_volumes: [{ category: 'Politics', usdc: 5_000 }],
  short_bets: { n: 1, wins: 1, mean_entry: 0.2 },
  ...changes,
});

const points = (changes: Partial<InsiderEvidence>): Record<string, number> =>
  Object.fromEntries(Object.entries(insiderScore(evidence(changes)).signals).map(([name, { score }]) => [name, Math.round(score * 100) / 100])); // prettier-ignore

describe('insider pattern', () => {
  test('a fresh wallet with one large, late, right bet has it all; what cannot be told gives its weight away', () => {
    expect(points({})).toEqual({ wallet_age: 15, first_bet_size: 15, bet_timing: 20, withdrawal_speed: 10, market_selection: 10, category_concentration: 10, short_bet_win_rate: 0 }); // prettier-ignore
    // 80 of 80: three short bets are needed to judge them.
    expect(insiderScore(evidence()).score).toBe(100);
    expect(insiderScore(evidence({ is_resolved: false, minutes_after_resolution: null })).score).toBe(100);
  });

  test('a large honest trader is no insider', () => {
    const whale = evidence({
      age_days: 200,
      first_bet_usdc: 20_000,
      hours_before_end: 10 * 24,
      minutes_after_resolution: 900,
      category_volumes: ['Politics', 'Sports', 'Crypto', 'World'].map((category) => ({ category, usdc: 50_000 })),
      short_bets: { n: 40, wins: 22, mean_entry: 0.54 },
    });
    expect(insiderScore(whale).score).toBeLessThan(35);
    expect(isCandidate(whale)).toBe(false);
  });

  test('each signal between its ends', () => {
    expect(points({ age_days: 15 }).wallet_age).toBe(7.5);
    expect(points({ age_days: 31 }).wallet_age).toBe(0);
    const size = (first_bet_usdc: number, median_first_bet_usdc: number): number | undefined =>
      points({ first_bet_usdc, median_first_bet_usdc }).first_bet_size;
    expect([size(999, 1), size(2_500, 50), size(2_000, 2_000 / Math.sqrt(50)), size(2_000, 3_000), size(1_000, 20)]).toEqual([0, 15, 7.5, 0, 15]); // prettier-ignore
    expect([6, 14 * 24, -1, 0].map((hours_before_end) => points({ hours_before_end }).bet_timing)).toEqual([20, 0, 0, 20]);
    expect(points({ hours_before_end: Math.sqrt(6 * 336) }).bet_timing).toBe(10);
    expect([60, 61, 1_440, null].map((minutes_after_resolution) => points({ minutes_after_resolution }).withdrawal_speed)).toEqual([10, 9.95, 0, 0]); // prettier-ignore
    expect([50_000, Math.sqrt(5e10), 1e6].map((volume_usdc) => points({ market: { ...market, volume_usdc } }).market_selection)).toEqual([10, 5, 0]); // prettier-ignore
    expect(points({ market: { ...market, outcomes: 3 } }).market_selection).toBe(0);
    expect(points({ short_bets: { n: 30, wins: 30, mean_entry: 0.4 } }).short_bet_win_rate).toBe(20);
    expect(points({ short_bets: { n: 30, wins: 12, mean_entry: 0.4 } }).short_bet_win_rate).toBe(0);
    // 30 won of 30 are 0.9173 at least: half of 0.3 above the price.
    expect(points({ short_bets: { n: 30, wins: 30, mean_entry: 0.767267 } }).short_bet_win_rate).toBe(10);
    expect([2, 3].map((n) => points({ short_bets: { n, wins: n, mean_entry: 0.1 } }).short_bet_win_rate)).toEqual([0, 20]);
  });

  test('on its bound a market is large, a wallet narrow and a score a flag', () => {
    const large = ({ signals }: ReturnType<typeof insiderScore>): boolean => signals.market_selection.is_high_volume;
    expect([999_999, 1e6].map((volume_usdc) => large(insiderScore(evidence({ market: { ...market, volume_usdc } }))))).toEqual([
      false,
      true,
    ]);
    const two = ['Politics', 'World'].map((category) => ({ category, usdc: 10 }));
    expect([two, [...two, { category: 'Crypto', usdc: 1 }]].map((category_volumes) => isCandidate(evidence({ category_volumes })))).toEqual([true, false]); // prettier-ignore
    expect(overMarkets([60, 50])).toBe(65);
  });

  test('half a tenth is rounded up: of a signal, and of the score that makes a flag', () => {
    const of = (...usdc: number[]): InsiderEvidence['category_volumes'] => usdc.map((one, n) => ({ category: `c${n}`, usdc: one }));
    // 10 · (0.95² + 0.05²) = 9.05, 15 · 13.9/30 = 6.95.
    const { signals } = insiderScore(evidence({ category_volumes: of(95, 5), age_days: 16.1 }));
    expect([signals.category_concentration.score, signals.wallet_age.score]).toEqual([9.05, 6.95]);
    // 14.8 + 20 + 5 of 80.
    const even = evidence({ age_days: 0.4, first_bet_usdc: 500, minutes_after_resolution: null, market: { ...market, outcomes: 3 }, category_volumes: of(1, 1) }); // prettier-ignore
    expect(insiderScore(even).score).toBe(49.8);
  });

  test('of equal categories the first by name is told', () => {
    const primary = (...categories: string[]): string | null =>
      insiderScore(evidence({ category_volumes: categories.map((category) => ({ category, usdc: 10 })) })).signals.category_concentration
        .primary_category;
    expect([primary('World', 'Crypto', 'Sports'), primary('Crypto', 'World'), primary()]).toEqual(['Crypto', 'Crypto', null]);
  });

  test('nobody knows a game or a price ahead', () => {
    const selection = (category: string, question: string, tags: string[] = []): number | undefined => points({ market: { ...market, category, question, tags } }).market_selection; // prettier-ignore
    expect(selection('Sports', 'Will the Owls win?')).toBe(0);
    expect(selection('Esports', 'Nova Circuit vs Iron Vale')).toBe(0);
    expect(selection('Crypto', 'Bitcoin Up or Down - March 3')).toBe(0);
    expect(selection('Crypto', 'Will Bitcoin reach $200,000?')).toBe(0);
    expect(selection('Finance', 'Close', ['stock-prices'])).toBe(0);
    expect(selection('Crypto', 'Will Bitcoin set a new monthly high by March 3?')).toBe(0);
    expect(selection('Crypto', 'Will Ethereum hit 5k in March?')).toBe(0);
    expect(selection('Finance', 'Will Orrin Motors close higher on March 3?')).toBe(0);
    expect(selection('Finance', 'Will Orrin Motors close its plant in Arden?')).toBe(10);
    expect(selection('Crypto', 'Will the exchange be charged with fraud?')).toBe(10);
    expect(selection('Economics', 'Will the price cap be lifted?')).toBe(10);
  });

  test('a payout taken before the result is known has no time after it; one at an earlier instant took none', () => {
    const [bet, ended, taken] = [Date.UTC(2026, 2, 1), new Date('2026-03-02T00:00:00Z'), Date.UTC(2026, 2, 2, 0, 30)];
    const suspect = { wallet: 'w', opened_at: bet, first_trade_at: bet, category_volumes: [], short_bets: evidence().short_bets };
    const minutes = (resolved_at: Date | null, at: number): number | null | undefined => {
      const told = { bets: new Map([['w', { first_at: bet, usdc: 10 }]]), usual: 10, news: null, withdrawals: new Map([['w', at]]) };
      const there = { ...market, condition_id: 'm', end_date: ended, resolved_at };
      return judge([weigh(suspect, there)], new Map([['m', told]]))[0]?.evidence.minutes_after_resolution;
    };
    expect([minutes(null, taken), minutes(ended, taken), minutes(ended, bet)]).toEqual([null, 30, 0]);
  });

  test('over markets: the highest, five for each further flag', () => {
    expect([overMarkets([60]), overMarkets([60, 55, 49.9]), overMarkets([90, 80, 70, 60]), overMarkets([40, 30]), overMarkets([])]).toEqual(
      [60, 65, 100, 40, 0],
    );
    expect([34.9, 35, 50, 74.9, 75].map(riskOf)).toEqual(['low', 'medium', 'high', 'high', 'critical']);
  });

  test('the first phase never drops whom the second would list', () => {
    const any = fc.record({
      age_days: fc.double({ min: 0, max: 60, noNaN: true }),
      first_bet_usdc: fc.double({ min: 0, max: 1e5, noNaN: true }),
      median_first_bet_usdc: fc.double({ min: 1, max: 1e3, noNaN: true }),
      hours_before_end: fc.double({ min: -10, max: 400, noNaN: true }),
      is_resolved: fc.boolean(),
      minutes_after_resolution: fc.option(fc.double({ min: 0, max: 2e3, noNaN: true })),
      market: fc.record({ category: fc.constantFrom('Politics', 'Sports'), question: fc.constant('?'), tags: fc.constant([]), outcomes: fc.constantFrom(2, 3), volume_usdc: fc.double({ min: 0, max: 2e6, noNaN: true }) }), // prettier-ignore
      category_volumes: fc.array(fc.record({ category: fc.constantFrom('Politics', 'World'), usdc: fc.double({ min: 1, max: 1e5, noNaN: true }) })), // prettier-ignore
      short_bets: fc.integer({ min: 0, max: 20 }).chain((n) => fc.record({ n: fc.constant(n), wins: fc.nat(n), mean_entry: fc.double({ min: 0, max: 1, noNaN: true }) })), // prettier-ignore
    });
    fc.assert(
      fc.property(any, (given) => {
        const { score } = insiderScore(given);
        expect(score >= 0 && score <= 100).toBe(true);
        expect(reachOf(given)).toBeGreaterThanOrEqual(score - 0.05 - 1e-9);
      }),
    );
  });
});
