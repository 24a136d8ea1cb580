import fc from 'fast-check';
import { S_PM } from '../../../../src/venues/prediction/scoring/parameters';
import {
  type PmEvidence,
  type PmScore,
  judgeEdge,
  judgeLeader,
  scoreWallet,
  verdictOn,
} from '../../../../src/venues/prediction/scoring/formula';
import type { EndedPosition } from '../../../../src/venues/prediction/scoring/evidence';
import { worth } from './few-events';
import { DAY, NOW, daysAgo, position, record } from './planted';

/** A wallet with a proven, robust edge, a return and months that are neither good nor bad. */
const plain: PmEvidence = { n: 30, z: 0, without_largest_event_z: 2, roi_shrunk: 0.1, consistency: 0.5 };
/** Return and months at their best. */
const good = { roi_shrunk: 0.15, consistency: 0.8 };
const bad = { roi_shrunk: -0.15, consistency: 0.2 };

describe('bands, by hand', () => {
  test.each<[string, Partial<PmEvidence>, number | null, string, string, string[]]>([
    // 60 + 40·clip((z − 1.645)/3)
    ['just proven', { z: 1.6451 }, 60, 'smart', 'smart', []],
    ['a quarter of the way', { z: 2.395 }, 70, 'smart', 'smart', []],
    ['not yet elite', { z: 3.137 }, 79.9, 'smart', 'smart', []],
    ['elite', { z: 3.145 }, 80, 'smart', 'elite', []],
    ['the top', { z: 4.645 }, 100, 'smart', 'elite', []],
    ['beyond it', { z: 30 }, 100, 'smart', 'elite', []],
    ['months and return do not matter', { z: 2.395, roi_shrunk: 0.02, consistency: 0.1 }, 70, 'smart', 'smart', []],
    // 45 + 14.9·clip±(0.60·z/1.645 + 0.25·clip±(roi/0.15) + 0.15·clip±((p − 0.5)/0.3))
    ['unproven', { roi_shrunk: 0 }, 45, 'between', 'average', []],
    ['z at the bound is not above it', { z: 1.645, roi_shrunk: 0 }, 53.9, 'between', 'average', []],
    ['half a bound', { z: 0.8225, roi_shrunk: 0 }, 49.5, 'between', 'average', []],
    ['return alone', { roi_shrunk: 0.075 }, 46.9, 'between', 'average', []],
    ['return at its best', { roi_shrunk: 0.9 }, 48.7, 'between', 'average', []],
    ['months alone', { roi_shrunk: 0, consistency: 0.65 }, 46.1, 'between', 'average', []],
    ['months at their best', { roi_shrunk: 0, consistency: 0.95 }, 47.2, 'between', 'average', []],
    ['all at once', { z: 1.645, ...good }, 59.9, 'between', 'average', []],
    ['all against', { z: -1.645, ...bad }, 30.1, 'between', 'novice', []],
    ['never below the band', { n: 9, z: -9, ...bad }, 30.1, 'between', 'novice', []],
    ['a proven edge of 29 positions', { n: 29, z: 4.645, ...good }, 59.9, 'between', 'average', []],
    ['average begins at 40', { z: -0.92, roi_shrunk: 0 }, 40, 'between', 'average', []],
    ['novice below', { z: -0.94, roi_shrunk: 0 }, 39.9, 'between', 'novice', []],
    // 30 − 30·clip((−z − 1.645)/3), which ends at 29.9
    ['just proven to lose', { n: 10, z: -1.6451 }, 29.9, 'dumb', 'novice', []],
    ['half way down', { n: 10, z: -3.145 }, 15, 'dumb', 'novice', []],
    ['the bottom', { n: 500, z: -4.645 }, 0, 'dumb', 'novice', []],
    ['below it', { z: -40 }, 0, 'dumb', 'novice', []],
    ['nine positions prove nothing', { n: 9, z: -1.7, roi_shrunk: 0 }, 35.8, 'between', 'novice', []],
    // Caps
    ['newcomer', { n: 9, z: 3 }, 39, 'between', 'novice', ['newcomer']],
    ['no newcomer at ten', { n: 10, z: 0, roi_shrunk: 0 }, 45, 'between', 'average', []],
    ['fewest that score', { n: 5, z: 3 }, 39, 'between', 'novice', ['newcomer']],
    ['too few to score', { n: 4, z: 3 }, null, 'between', 'unscored', ['newcomer']],
    ['nothing at all', { n: 0, z: null, without_largest_event_z: null, roi_shrunk: 0 }, null, 'between', 'unscored', ['newcomer']],
    ['trivial edge', { z: 4, roi_shrunk: 0.0199 }, 79, 'smart', 'smart', ['trivial_edge']],
    ['not trivial', { z: 4, roi_shrunk: 0.02 }, 91.4, 'smart', 'elite', []],
    ['trivial, but not held down by it', { z: 2.395, roi_shrunk: 0 }, 70, 'smart', 'smart', []],
    ['one hit', { z: 4, without_largest_event_z: 1.28, ...good }, 59, 'between', 'average', ['one_hit']],
    ['not one hit', { z: 4, without_largest_event_z: 1.2801, ...good }, 91.4, 'smart', 'elite', []],
    ['one event is one hit', { z: 4, without_largest_event_z: null, ...good }, 59, 'between', 'average', ['one_hit']],
    ['one hit that is lower anyway', { z: 1.7, without_largest_event_z: 1, ...bad }, 48.3, 'between', 'average', ['one_hit']],
    ['rests on one event before it is proven', { z: 1.6, without_largest_event_z: 1, ...good }, 59, 'between', 'average', ['one_hit']],
    ['rests on many before it is proven', { z: 1.6, without_largest_event_z: 1.5, ...good }, 59.7, 'between', 'average', []],
  ])('%s', (_name, changes, score, band, tier, caps) => {
    expect(verdictOn({ ...plain, ...changes })).toEqual({ score, band, tier, caps });
  });
});

describe('evidence, by hand', () => {
  test('thirty coin flips, 21 won', () => {
    // edge = 0.7 − 0.5. Spread between events sqrt(21·0.3² + 9·0.7²)/30 = 0.0837 is below the floor sqrt(0.25/30) = 0.0913.
    // Without one win: (20/29 − 0.5)/sqrt(0.25/29). Return (21 − 9)/80. One month, profitable: 3/5. 60 + 40·(z − 1.645)/3.
    // 2.191 of 30 events is Student's t with 29 degrees of freedom: as unlikely as a normal 2.088.
    expect(scoreWallet(record(30, 21), NOW)).toMatchObject({
      score: 65.9,
      tier: 'smart',
      band: 'smart',
      caps: [],
      n: 30,
      edge: expect.closeTo(0.2, 12),
      z: expect.closeTo(worth(0.2 / Math.sqrt(0.25 / 30), 30), 9),
      // Of t with 29 degrees of freedom 5 % exceed 1.6991.
      edge_ci: [expect.closeTo(0.2 - 1.6991 * Math.sqrt(0.25 / 30), 4), expect.closeTo(0.2 + 1.6991 * Math.sqrt(0.25 / 30), 4)],
      without_largest_event_z: expect.closeTo(worth((20 / 29 - 0.5) / Math.sqrt(0.25 / 29), 29), 9),
      roi_shrunk: expect.closeTo(0.15, 12),
      consistency: 0.6,
      score_confidence: 'medium',
      is_significant: true,
      largest_event_share: expect.closeTo(1 / 12, 12),
      version: 'pm-2026.3',
    });
  });

  test('a position of half a year ago weighs half', () => {
    // Weights 1 and 0.5: edge = (0.5 − 0.25)/1.5. Null error sqrt(0.25 + 0.25·0.25)/1.5 above the spread sqrt(2/9)/1.5.
    const wallet = [position({ event: 'a', y: 1 }), position({ event: 'b', y: 0, closed_at: daysAgo(180) })];
    const score = scoreWallet(wallet, NOW);
    expect(score.edge).toBeCloseTo(1 / 6, 12);
    expect(score.z).toBeCloseTo(worth(0.25 / Math.sqrt(0.3125), 2), 9);
    // Mean of +1 and −1 with those weights is 1/3; times 2/(2 + 50).
    expect(score.roi_shrunk).toBeCloseTo((1 / 3) * (2 / 52), 12);
  });

  test('with equal weights, however old, the floor is sqrt(mean e(1 − e)/n)', () => {
    const prices = [0.2, 0.5, 0.8, 0.9];
    const wallet = prices.map((e, index) => position({ event: `${index}`, e, y: 1, closed_at: daysAgo(500) }));
    const floor = Math.sqrt((0.16 + 0.25 + 0.16 + 0.09) / 4 / 4);
    expect(scoreWallet(wallet, NOW).z).toBeCloseTo(worth(0.4 / floor, 4), 9);
  });

  test('few recent wins after a long record are few, not a record', () => {
    const score = scoreWallet([...record(30, 15, { closed_at: daysAgo(1440) }, 'old'), ...record(2, 2)], NOW);
    // The two weigh 2 of 2.117: their error is that of two coin flips, not that of 32.
    expect(score.n).toBe(32);
    expect(score.z).toBeCloseTo(worth(1 / Math.sqrt(0.5 + 30 * 0.25 * 2 ** -16), 32), 9);
    expect(score.score).toBeLessThan(60);
  });

  test('the spread between events is the error where they move together', () => {
    // Two positions in each of 20 events win or lose as one: 14 events won. sqrt(14·0.6² + 6·1.4²)/40 > sqrt(0.25/40).
    const one = record(20, 14);
    const score = scoreWallet([...one, ...one.map((each) => ({ ...each, cost_usdc: 20, pnl_usdc: 2 * each.pnl_usdc }))], NOW);
    const se = Math.sqrt(14 * 0.36 + 6 * 1.96) / 40;
    expect(se).toBeGreaterThan(Math.sqrt(0.25 / 40));
    expect(score.edge).toBeCloseTo(0.2, 12);
    expect(score.z).toBeCloseTo(worth(0.2 / se, 20), 9);
    // The interval is then of resamples: near edge ± 1.7291 se, but not that number.
    const [low, high] = score.edge_ci as [number, number];
    expect(low).toBeCloseTo(0.2 - 1.7291 * se, 1);
    expect(high).toBeCloseTo(0.2 + 1.7291 * se, 1);
    expect(low).not.toBeCloseTo(0.2 - 1.7291 * se, 4);
  });

  test('beyond 300 events the interval is that of the closed form, which the bootstrap agrees with', () => {
    const intervalOf = (events: number): [number, number] =>
      scoreWallet(
        record(events, events / 2).flatMap((each) => [each, each]),
        NOW,
      ).edge_ci as [number, number];
    const [low, high] = intervalOf(302);
    // Of t with 301 degrees of freedom 5 % exceed 1.6499.
    expect(high).toBeCloseTo((1.6499 * 0.5) / Math.sqrt(302), 4);
    expect(low).toBeCloseTo(-high, 12);
    const [drawnLow, drawnHigh] = intervalOf(300);
    // 499 resamples know a 5 % quantile to about 6 % of the half width.
    expect(Math.abs(drawnHigh / high - 1)).toBeLessThan(0.2);
    expect(Math.abs(drawnLow / low - 1)).toBeLessThan(0.2);
    expect(drawnHigh).not.toBeCloseTo((1.6499 * 0.5) / Math.sqrt(300), 5);
  });

  test('the largest event is the one with the largest Σ(y − e)', () => {
    // Event "many" sums to 3 × 0.3, event "one" to 0.5; without "many" one win of 0.5 and one loss of −0.5 are left.
    const many = record(3, 3, { e: 0.7, event: 'many' });
    const score = scoreWallet([...many, position({ event: 'one', y: 1 }), position({ event: 'lost', y: 0 })], NOW);
    expect(score.without_largest_event_z).toBeCloseTo(0, 12);
    // However long ago: 0.6 that weighs a sixteenth of the others' 0.5 and −0.5.
    const old = position({ event: 'old', e: 0.4, y: 1, closed_at: daysAgo(720) });
    const aged = scoreWallet([old, position({ event: 'one', y: 1 }), position({ event: 'lost', y: 0 })], NOW);
    expect(aged.without_largest_event_z).toBeCloseTo(0, 12);
  });

  test('one event only: nothing is left without it', () => {
    // One event proves nothing, so return and months are all: 45 + 14.9·(0.25 + 0.15·(0.6 − 0.5)/0.3).
    expect(scoreWallet(record(40, 40, { event: 'the only one' }), NOW)).toMatchObject({
      score: 49.5,
      caps: [],
      z: 0,
      without_largest_event_z: null,
      largest_event_share: 1,
      is_significant: false,
    });
  });

  // Thirty coin flips, all won: edge / se = sqrt(30) = 5.477 by the floor. So many events, each won as one, are Student's t with one degree of
  // freedom less: 1/2 − atan(5.477)/π = 0.0575 for two, 1/2 − 5.477/(2·sqrt(32)) = 0.0159 for three.
  test.each([
    [1, 0, 49.5, 'between'],
    [2, 1.576, 58, 'between'],
    [3, 2.147, 66.7, 'smart'],
    [5, 2.783, 75.2, 'smart'],
    [10, 3.546, 85.3, 'smart'],
    [30, 4.502, 98.1, 'smart'],
  ])('thirty wins in %d events are worth z = %d', (events, z, score, band) => {
    const wallet = record(30, 30).map((each, index) => ({ ...each, event: `${index % events}` }));
    const found = scoreWallet(wallet, NOW);
    expect(found.z).toBeCloseTo(worth(Math.sqrt(30), events), 9);
    expect(found.z).toBeCloseTo(z, 2);
    expect(found).toMatchObject({ score, band });
  });

  test('losing in two events proves as little as winning', () => {
    const found = scoreWallet(
      record(30, 0).map((each, index) => ({ ...each, event: `${index % 2}` })),
      NOW,
    );
    expect(found.z).toBeCloseTo(-worth(Math.sqrt(30), 2), 9);
    expect(found.band).toBe('between');
  });

  test('sold before resolution: y is the sell price', () => {
    expect(scoreWallet([position({ event: 'a', e: 0.4, y: 0.55 })], NOW).edge).toBeCloseTo(0.15, 12);
  });

  test('return of one position is cut to −1..3', () => {
    const longShot = position({ event: 'a', e: 0.01, y: 1 });
    expect(longShot.pnl_usdc).toBeCloseTo(990, 9);
    expect(scoreWallet([longShot], NOW).roi_shrunk).toBeCloseTo(3 / 51, 12);
  });

  test('months are those of UTC, counted by what they gained', () => {
    const ends: [string, number][] = [
      ['2026-01-31T23:59:59Z', 5],
      ['2026-02-01T00:00:00Z', 5],
      ['2026-02-15T00:00:00Z', -6],
      ['2026-03-01T00:00:00Z', 0],
      ['2025-03-01T00:00:00Z', 1],
      // Nothing together, which binary fractions make a little more.
      ['2025-05-01T00:00:00Z', 0.1],
      ['2025-05-02T00:00:00Z', 0.2],
      ['2025-05-03T00:00:00Z', -0.3],
    ];
    const wallet = ends.map(([end, pnl_usdc], index) => position({ event: `${index}`, pnl_usdc, closed_at: new Date(end) }));
    // Five months, of which two gained.
    expect(scoreWallet(wallet, NOW).consistency).toBeCloseTo((2 + 2) / (5 + 4), 12);
  });

  test('share of the largest event in the net gain', () => {
    const gains = (pnls: number[]): PmScore =>
      scoreWallet(
        pnls.map((pnl_usdc, index) => position({ event: `${index}`, pnl_usdc })),
        NOW,
      );
    expect(gains([60, 50, -10]).largest_event_share).toBeCloseTo(0.6, 12);
    expect(gains([60, -50]).largest_event_share).toBe(1);
    expect(gains([60, -60]).largest_event_share).toBeNull();
    expect(gains([0.1, 0.2, -0.3]).largest_event_share).toBeNull();
    expect(gains([]).largest_event_share).toBeNull();
  });
});

describe('what counts', () => {
  const base = record(20, 12);
  const withMore = (changes: Partial<EndedPosition>): PmScore => scoreWallet([...base, position({ event: 'more', ...changes })], NOW);

  test.each<[string, Partial<EndedPosition>]>([
    ['refunded', { is_voided: true }],
    ['dust', { cost_usdc: 0.999 }],
    ['not ended yet', { closed_at: new Date(NOW.getTime() + 1) }],
    ['without a price', { e: 0, y: 1, pnl_usdc: 5 }],
  ])('%s: as if it were not there', (_name, changes) => expect(withMore(changes)).toEqual(scoreWallet(base, NOW)));

  test('a dollar counts', () => expect(withMore({ cost_usdc: 1 }).n).toBe(21));

  test('an entry at 0.95 counts for gain and months, not for n, edge, z and return', () => {
    const carry = withMore({ e: 0.95, y: 1, cost_usdc: 4000, closed_at: daysAgo(30) });
    const without = scoreWallet(base, NOW);
    expect(carry).toMatchObject({ n: 20, edge: without.edge, z: without.z, roi_shrunk: without.roi_shrunk });
    expect(carry.consistency).toBeGreaterThan(without.consistency);
    expect(carry.largest_event_share).toBeGreaterThan(without.largest_event_share as number);
    expect(withMore({ e: 0.9499 }).n).toBe(21);
  });

  test('1.045 for 1.1 shares is an entry at 0.95, though binary fractions make it less', () => {
    const e = 1.045 / 1.1;
    expect([e < 0.95, withMore({ e }).n]).toEqual([true, 20]);
  });

  test('31.666666 for 33.333333 shares is an entry at 0.95, though millionths of USDC make it less', () => {
    const e = 31.666666 / 33.333333;
    expect([e < 0.95, withMore({ e }).n, withMore({ e: e - 1e-6 }).n]).toEqual([true, 20, 21]);
  });

  test('nothing', () => {
    expect(scoreWallet([], NOW)).toEqual({
      score: null,
      tier: 'unscored',
      band: 'between',
      caps: ['newcomer'],
      n: 0,
      z: null,
      without_largest_event_z: null,
      roi_shrunk: 0,
      consistency: 0.5,
      edge: null,
      edge_ci: null,
      p_value: null,
      score_confidence: 'low',
      is_significant: false,
      largest_event_share: null,
      version: S_PM.version,
    });
  });

  // Of coin flips z = (won − n/2)/sqrt(n/4): 116 of 200 is 2.26, 117 is 2.40; 5,116 of 10,000 is 2.32, 5,117 is 2.34.
  test.each([
    [29, 29, 'low'],
    [30, 0, 'medium'],
    [199, 199, 'medium'],
    [200, 116, 'medium'],
    [200, 117, 'high'],
    [10_000, 5_116, 'medium'],
    [10_000, 5_117, 'high'],
  ])('confidence of %d positions, %d won: %s', (n, won, confidence) => {
    expect(scoreWallet(record(n, won), NOW).score_confidence).toBe(confidence);
  });
});

describe('planted wallets', () => {
  test('skilled: 70 % of coin flips over a year', () => {
    const wallet = record(60, 42).map((each, index) => ({ ...each, closed_at: daysAgo((index * 37) % 360) }));
    expect(scoreWallet(wallet, NOW).score).toBeGreaterThanOrEqual(60);
  });

  test.each([
    [0.94, 100, 95],
    [0.94, 400, 380],
    [0.9, 40, 38],
  ])('buyer of favourites at %d who wins 95 %% of %d without an edge', (e, n, won) => {
    const score = scoreWallet(record(n, won, { e }), NOW);
    expect(score.score).toBeLessThan(60);
    expect(score.is_significant).toBe(false);
  });

  test('33 of 40 favourites at 0.7: beyond chance by the standard error, not by drawn luck', () => {
    const score = scoreWallet(record(40, 33, { e: 0.7 }), NOW);
    expect(score.z as number).toBeGreaterThan(1.645);
    expect(score.without_largest_event_z as number).toBeGreaterThan(1.28);
    expect(score.p_value as number).toBeGreaterThan(0.05);
    expect([score.is_significant, judgeLeader(record(40, 33, { e: 0.7 }), NOW).is_significant]).toEqual([false, false]);
    // Seven of ten at 0.4: a chance of 5.03 %.
    expect([scoreWallet(record(10, 7, { e: 0.4 }), NOW), judgeLeader(record(10, 7, { e: 0.4 }), NOW)]).toMatchObject([{ z: expect.closeTo(1.724, 3) as number, p_value: expect.closeTo(0.0503, 4) as number, is_significant: false }, { is_significant: false }]); // prettier-ignore
  });

  test('buyer of certainties: no forecast at all', () => {
    expect(scoreWallet(record(200, 199, { e: 0.97 }), NOW)).toMatchObject({ score: null, n: 0 });
    expect(judgeEdge(record(200, 199, { e: 0.97 }), NOW)).toEqual({ edge: null, edge_ci: null });
  });

  test('winner of three bets', () => expect(scoreWallet(record(3, 3), NOW)).toMatchObject({ score: null, tier: 'unscored', n: 3 }));
  test('winner of seven bets', () => expect(scoreWallet(record(7, 7, { e: 0.1 }), NOW)).toMatchObject({ score: 39, caps: ['newcomer'] }));

  test('one hit: twelve won positions in one event among even ones', () => {
    const score = scoreWallet([...record(12, 12, { event: 'the hit', e: 0.3 }), ...record(30, 15)], NOW);
    // The hit alone makes it look proven, whatever its error is taken to be; without it nothing is left.
    expect(score.edge as number).toBeGreaterThan(0.15);
    expect(score.without_largest_event_z).toBeCloseTo(0, 9);
    expect(score.largest_event_share).toBe(1);
    expect(score.score as number).toBeLessThanOrEqual(59);
  });

  test('one hit that makes a fair record look proven', () => {
    // 24 of 40 coin flips: z = 4/sqrt(10) = 1.265. Two long shots of one event lift it over 1.645, as Student's t too.
    const score = scoreWallet([...record(2, 2, { event: 'the hit', e: 0.03 }), ...record(40, 24)], NOW);
    expect(score.z as number).toBeGreaterThan(1.645);
    expect(score.without_largest_event_z).toBeCloseTo(worth(4 / Math.sqrt(10), 40), 9);
    expect(score).toMatchObject({ score: 58.4, band: 'between', caps: ['one_hit'] });
  });

  test('proven loser', () => {
    const score = scoreWallet(record(40, 8), NOW);
    expect(score).toMatchObject({ band: 'dumb', is_significant: false });
    expect(score.score as number).toBeLessThanOrEqual(30);
    expect(score.p_value as number).toBeGreaterThan(0.99);
  });
});

describe('laws', () => {
  const ended = fc.record({
    event: fc.integer({ min: 0, max: 40 }).map((event) => `event-${event}`),
    e: fc.double({ min: 0.001, max: 0.999, noNaN: true }),
    y: fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
    cost_usdc: fc.double({ min: 0, max: 1e6, noNaN: true }),
    pnl_usdc: fc.double({ min: -1e6, max: 1e8, noNaN: true }),
    closed_at: fc.integer({ min: -5, max: 2000 }).map(daysAgo),
    is_voided: fc.boolean(),
  });
  const wallets = fc.array(ended, { maxLength: 80 });
  const evidence = fc.record({
    n: fc.integer({ min: 0, max: 300 }),
    z: fc.double({ min: -6, max: 6, noNaN: true }),
    without_largest_event_z: fc.double({ min: -6, max: 6, noNaN: true }),
    roi_shrunk: fc.double({ min: -1, max: 3, noNaN: true }),
    consistency: fc.double({ min: 0, max: 1, noNaN: true }),
  });

  test('any wallet: ranges, tenths, interval around nothing impossible', () => {
    fc.assert(
      fc.property(wallets, (positions) => {
        const { score, n, edge, edge_ci, p_value, z, consistency, largest_event_share } = scoreWallet(positions, NOW);
        expect(score === null).toBe(n < 5);
        if (score !== null) {
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(100);
          expect(Math.round(score * 10) / 10).toBe(score);
        }
        expect(consistency).toBeGreaterThan(0);
        expect(consistency).toBeLessThan(1);
        expect([edge, edge_ci, p_value, z].map((each) => each === null)).toEqual(Array(4).fill(n === 0));
        if (edge !== null && edge_ci !== null && p_value !== null) {
          expect(Math.abs(edge)).toBeLessThan(1);
          expect(Number.isFinite(z)).toBe(true);
          expect(edge_ci[0]).toBeLessThan(edge_ci[1]);
          expect(edge_ci.every((each) => each >= -1 && each <= 1)).toBe(true);
          expect(p_value).toBeGreaterThan(0);
          expect(p_value).toBeLessThanOrEqual(1);
        }
        if (largest_event_share !== null) expect(largest_event_share > 0 && largest_event_share <= 1).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('the order of positions does not matter, to the last digit, and the input stays as it is', () => {
    fc.assert(
      fc.property(
        wallets.chain((positions) => fc.tuple(fc.constant(positions), fc.shuffledSubarray(positions, { minLength: positions.length }))),
        ([positions, shuffled]) => {
          const before = structuredClone(positions);
          expect(scoreWallet(shuffled, NOW)).toEqual(scoreWallet(positions, NOW));
          expect(positions).toEqual(before);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('a score of then is told again from all that is known now', () => {
    fc.assert(
      fc.property(wallets, fc.integer({ min: 0, max: 1500 }), (positions, days) => {
        const then = daysAgo(days);
        const known = positions.filter(({ closed_at }) => closed_at <= then);
        expect(scoreWallet(positions, then)).toEqual(scoreWallet(known, then));
      }),
      { numRuns: 100 },
    );
  });

  test.each(['z', 'without_largest_event_z', 'roi_shrunk', 'consistency'] as const)('a better %s never lowers a score', (key) => {
    fc.assert(
      fc.property(evidence, fc.double({ min: 0, max: 6, noNaN: true }), (given, more) => {
        const [low, high] = [verdictOn(given).score, verdictOn({ ...given, [key]: given[key] + more }).score];
        expect(low === null).toBe(high === null);
        if (low !== null && high !== null) expect(high).toBeGreaterThanOrEqual(low);
      }),
      { numRuns: 2000 },
    );
  });

  test('stakes so many times as large score the same: what is judged is prices', () => {
    fc.assert(
      fc.property(wallets, fc.constantFrom(2, 16, 1024), (positions, times) => {
        // Gains of whole cents: less than half a millionth of a dollar counts as none.
        const cents = ({ pnl_usdc }: EndedPosition): number => Math.round(100 * pnl_usdc) / 100;
        const own = positions.map((each) => ({ ...each, cost_usdc: each.cost_usdc + 1, pnl_usdc: cents(each) }));
        const larger = own.map((each) => ({ ...each, cost_usdc: times * each.cost_usdc, pnl_usdc: times * each.pnl_usdc }));
        expect(scoreWallet(larger, NOW)).toEqual(scoreWallet(own, NOW));
      }),
      { numRuns: 100 },
    );
  });

  test('the same record over and over, in events of their own, is more of the same evidence', () => {
    fc.assert(
      fc.property(wallets, fc.integer({ min: 2, max: 4 }), (positions, times) => {
        const once = scoreWallet(positions, NOW);
        const copies = Array.from({ length: times }, (_, copy) => positions.map((each) => ({ ...each, event: `${copy}-${each.event}` })));
        const more = scoreWallet(copies.flat(), NOW);
        expect(more.n).toBe(times * once.n);
        if (once.z === null || once.edge === null || once.edge_ci === null || more.edge_ci === null) return;
        expect(more.edge).toBeCloseTo(once.edge, 9);
        expect(Math.sign(once.z) * (more.z as number)).toBeGreaterThanOrEqual(Math.abs(once.z) - 1e-9);
        // By resamples a bound is known to some percent only.
        const widthOf = ([low, high]: [number, number]): number => high - low;
        expect(widthOf(more.edge_ci)).toBeLessThan(1.1 * widthOf(once.edge_ci));
      }),
      { numRuns: 100 },
    );
  });

  test('60 and more only with 30 positions, a proven edge, and still one without the largest event', () => {
    fc.assert(
      fc.property(evidence, (given) => {
        const { score, band } = verdictOn(given);
        const proven = given.n >= 30 && given.z > 1.645 && given.without_largest_event_z > 1.28;
        expect(score !== null && score >= 60).toBe(proven);
        expect(band === 'smart').toBe(proven);
        expect(score !== null && score <= 30).toBe(given.n >= 10 && given.z < -1.645);
        if (score !== null && given.n < 10) expect(score).toBeLessThanOrEqual(39);
        if (score !== null && given.roi_shrunk < 0.02) expect(score).toBeLessThanOrEqual(79);
      }),
      { numRuns: 5000 },
    );
  });

  test('age alone changes weights, not a record of one age', () => {
    const young = scoreWallet(record(30, 21), NOW);
    const old = scoreWallet(record(30, 21, { closed_at: new Date(NOW.getTime() - 400 * DAY) }), NOW);
    expect(old.z).toBeCloseTo(young.z as number, 9);
    expect(old.score).toBe(young.score);
  });
});
