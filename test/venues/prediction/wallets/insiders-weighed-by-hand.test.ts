import { rescanInsiders } from '../../../../src/venues/prediction/scoring/insider-job';
import { testDatabase } from '../../../support/database';
import { call } from '../markets/call';
import { NOW, iso, market, move, now, trade } from '../small-world';
import { condition, loadRecords, wallet } from '../support';

/**
 * The insider pattern by hand, each signal between its ends. Wallet 501 bets $1,500 in one transaction on an open market, ten days after its first trade;
 * 511 knew how market 83 would end, as with two others before, and takes its payout after four hours; 513 puts $197,777 on the losing side. 521 does all
 * it can, three hours before market 86 ends: its score is told as 97, and is a little less.
 */

type Row = Record<string, unknown>;
interface Insiders { insiders: { wallet: string; insider_score: number; signals: Record<string, Row & { score: number }> }[] } // prettier-ignore

const [HOUR, DAY] = [3_600, 86_400];
const politics = { tags: [{ slug: 'politics' }] };
const won = (ago: number): Row => ({ ...politics, closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - ago), umaResolutionStatus: 'resolved' }); // prettier-ignore
const ln = Math.log;

describe('insider pattern weighed by hand', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    await loadRecords(db.pool, 'markets.json', [
      market(81, { ...politics, endDate: iso(NOW + 80 * HOUR) }),
      market(82, { tags: [{ slug: 'nba' }] }),
      market(83, won(2 * DAY)),
      market(84, won(6 * DAY)),
      market(85, won(5 * DAY)),
      market(86, { ...politics, endDate: iso(NOW + 2 * HOUR) }),
    ]);
    await loadRecords(db.pool, 'trades.json', [
      trade(1, 82, 0, 501, 'BUY', 1_000, 0.5, 4 * HOUR + 10 * DAY),
      trade(2, 81, 0, 502, 'BUY', 300, 0.5, 9 * DAY),
      trade(3, 81, 1, 503, 'BUY', 600, 0.5, 8 * DAY),
      trade(4, 81, 0, 504, 'BUY', 1_200, 0.5, 7 * DAY),
      // One transaction of two fills is one bet; the next is not the first.
      trade(5, 81, 0, 501, 'BUY', 1_200, 0.5, 4 * HOUR),
      trade(5, 81, 0, 501, 'BUY', 1_800, 0.5, 4 * HOUR),
      trade(6, 81, 0, 501, 'BUY', 100, 0.5, 2 * HOUR),
      trade(10, 84, 0, 511, 'BUY', 500, 0.2, 8 * DAY),
      // Sold before the end: how a bet ended is the market's word, whoever held it then.
      trade(17, 84, 0, 511, 'SELL', 500, 0.2, 7.5 * DAY),
      trade(11, 85, 0, 511, 'BUY', 300, 0.3, 7 * DAY),
      trade(12, 83, 0, 511, 'BUY', 5_000, 0.4, 4 * DAY),
      trade(13, 83, 0, 514, 'BUY', 80, 0.5, 3.8 * DAY),
      trade(14, 83, 1, 513, 'BUY', 395_554, 0.5, 3.5 * DAY),
      // The last fill of the winner below 0.90: from here on everybody knew.
      trade(15, 83, 0, 512, 'BUY', 100, 0.88, 3 * DAY),
      trade(16, 83, 0, 512, 'BUY', 100, 0.95, 2.5 * DAY),
      trade(21, 86, 0, 521, 'BUY', 10_000, 0.5, HOUR),
      trade(22, 86, 1, 522, 'BUY', 200, 0.5, HOUR),
      trade(23, 86, 1, 523, 'BUY', 200, 0.5, HOUR),
      trade(24, 86, 1, 524, 'BUY', 200, 0.5, HOUR),
      trade(25, 86, 1, 522, 'BUY', 178_570, 0.5, HOUR / 2),
    ]);
    await loadRecords(db.pool, 'activity.json', [move(20, 83, 511, 'REDEEM', 5_000, 5_000, 2 * DAY - 4 * HOUR)]);
    await rescanInsiders(db.pool, now);
  });
  afterAll(() => db.drop());

  /** Points of a wallet on a market, and its score. */
  async function weighed(on: number, by: number): Promise<{ score: number; points: Record<string, number>; signals: Record<string, Row> }> {
    const { data } = await call<Insiders>(db, 'markets/insiders', now, { condition_id: condition(on), min_score: 0, limit: 100 });
    const row = data.insiders.find((one) => one.wallet === wallet(by)) as Insiders['insiders'][number];
    return { score: row.insider_score, signals: row.signals, points: Object.fromEntries(Object.entries(row.signals).map(([name, { score }]) => [name, score])) }; // prettier-ignore
  }

  const near = (points: Record<string, number>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(points).map(([name, value]) => [name, expect.closeTo(value, 0.9)]));
  const scoreOf = (points: Record<string, number>, inPlay: number): number =>
    Math.round((1_000 * Object.values(points).reduce((a, b) => a + b, 0)) / inPlay) / 10;

  // First bets are of 150, 300, 600 and 1,500; 84 hours are left; $1,550 of $2,050 are politics.
  const open = { wallet_age: 10, first_bet_size: (15 * ln(1_500 / 450)) / ln(50), bet_timing: (20 * ln(336 / 84)) / ln(336 / 6), withdrawal_speed: 0, market_selection: 10, category_concentration: (10 * (1_550 ** 2 + 500 ** 2)) / 2_050 ** 2, short_bet_win_rate: 0 }; // prettier-ignore
  // First bets are of 40, 88, 2,000 and 197,777; a day ahead of the news; three of three at 0.30 on average, at least 3 / (3 + 1.645²) of such.
  const knew = { wallet_age: (15 * 26) / 30, first_bet_size: (15 * ln(2_000 / 1_044)) / ln(50), bet_timing: (20 * ln(14)) / ln(56), withdrawal_speed: (10 * ln(6)) / ln(24), market_selection: (10 * ln(5)) / ln(20), category_concentration: 10, short_bet_win_rate: (20 * (3 / (3 + 1.645 ** 2) - 0.3)) / 0.3 }; // prettier-ignore
  // More than fifty times the usual, twelve hours ahead, and wrong: nothing to take.
  const loud = { wallet_age: 15, first_bet_size: 15, bet_timing: (20 * ln(28)) / ln(56), withdrawal_speed: 0, market_selection: (10 * ln(5)) / ln(20), category_concentration: 10, short_bet_win_rate: 0 }; // prettier-ignore
  // Fifty times the usual bet, and $94,585 were taken there.
  const all = { wallet_age: 15, first_bet_size: 15, bet_timing: 20, withdrawal_speed: 0, market_selection: (10 * ln(1_000_000 / 94_585)) / ln(20), category_concentration: 10, short_bet_win_rate: 0 }; // prettier-ignore

  test('an open market: nothing to take yet, no short bets: 70 points are in play', async () => {
    const { score, points, signals } = await weighed(81, 501);
    expect(points).toEqual(near(open));
    expect(score).toBe(scoreOf(open, 70));
    expect(score).toBe(54);
    expect(signals).toMatchObject({ wallet_age: { days: 10 }, first_bet_size: { usdc: 1_500 }, bet_timing: { hours_before_end: 84 }, withdrawal_speed: { minutes_after_resolution: null }, category_concentration: { distinct_categories: 2, primary_category: 'Politics' }, short_bet_win_rate: { win_rate: null, sample_size: 0 } }); // prettier-ignore
  });

  test('a market that has ended: all hundred are in play', async () => {
    const { score, points, signals } = await weighed(83, 511);
    expect(points).toEqual(near(knew));
    expect(score).toBe(scoreOf(knew, 100));
    expect(signals).toMatchObject({ wallet_age: { days: 4 }, first_bet_size: { usdc: 2_000 }, bet_timing: { hours_before_end: 24 }, withdrawal_speed: { minutes_after_resolution: 240 }, market_selection: { is_binary: true, is_high_volume: false }, short_bet_win_rate: { win_rate: 1, sample_size: 3 } }); // prettier-ignore
    const { score: other, points: parts } = await weighed(83, 513);
    expect(parts).toEqual(near(loud));
    expect(other).toBe(scoreOf(loud, 80));
  });

  test('a score is compared as it is told', async () => {
    expect(Object.values(all).reduce((a, b) => a + b) / 0.7).toBeLessThan(97);
    expect(scoreOf(all, 70)).toBe(97);
    const listed = (min_score: number) => call<Insiders>(db, 'markets/insiders', now, { condition_id: condition(86), min_score });
    expect((await listed(97)).data.insiders).toMatchObject([{ wallet: wallet(521), insider_score: 97 }]);
  });

  test('what is bought once the result is out was no short bet', async () => {
    const late = [83, 84, 85].map((on, n) => trade(30 + n, on, 0, 515, 'BUY', 10, 0.98, 1.9 * DAY - n));
    await loadRecords(db.pool, 'late.json', [...late, trade(33, 81, 0, 515, 'BUY', 10, 0.5, HOUR)]);
    expect((await weighed(81, 515)).signals.short_bet_win_rate).toEqual({ score: 0, win_rate: null, sample_size: 0 });
    // Bought in the second of the resolution.
    await loadRecords(db.pool, 'just.json', [trade(34, 83, 0, 516, 'BUY', 10, 0.98, 2 * DAY), trade(35, 81, 0, 516, 'BUY', 10, 0.5, HOUR)]);
    expect((await weighed(81, 516)).signals.short_bet_win_rate).toEqual({ score: 0, win_rate: 1, sample_size: 1 });
    // 72 hours before it, and a second more.
    const early = [517, 518].flatMap((by, n) => [trade(36 + 2 * n, 83, 0, by, 'BUY', 1, 0.5, 5 * DAY + n), trade(37 + 2 * n, 81, 0, by, 'BUY', 10, 0.5, HOUR)]); // prettier-ignore
    await loadRecords(db.pool, 'early.json', early);
    expect([(await weighed(81, 517)).signals.short_bet_win_rate, (await weighed(81, 518)).signals.short_bet_win_rate]).toMatchObject([{ sample_size: 1 }, { sample_size: 0 }]); // prettier-ignore
  });

  test('the list of the venue: who put $1,000 on a market', async () => {
    const { data } = await call<{ candidates: Row[] }>(db, 'wallets/insiders', now, { min_score: 20 });
    const expected = [[501, scoreOf(open, 70)], [511, scoreOf(knew, 100)], [513, scoreOf(loud, 80)], [521, 97], [522, scoreOf({ ...all, first_bet_size: 0 }, 70)]] as const; // prettier-ignore
    expect(data.candidates.map((row) => [row.wallet, row.insider_score])).toEqual([...expected].sort(([, a], [, b]) => b - a).map(([by, score]) => [wallet(by), score])); // prettier-ignore
  });
});
