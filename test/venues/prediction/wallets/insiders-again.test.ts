import { prediction } from '../../../../src/venues/prediction/index';
import { testDatabase } from '../../../support/database';
import { loadWorld } from '../../../support/world';
import { call } from '../markets/call';

/** What follows from the findings of the scans, counted a second time: from the kept findings and plain rows of trades, in plain TypeScript. */

type Row = Record<string, unknown>;
interface Finding { wallet: string; condition_id: string; category: string; score: number; first: number; day: string } // prettier-ignore
interface Trade { wallet: string; condition_id: string; category: string; at: number; side: string; usdc: number; is_taker: boolean | null } // prettier-ignore

const START = new Date('2026-01-05T00:00:00Z');
const now = new Date('2026-01-25T07:30:00Z');
const [HOUR, DAY] = [3_600_000, 86_400_000];
const LENGTHS: Record<string, number> = { '1h': HOUR, '4h': 4 * HOUR, '1d': DAY, '7d': 7 * DAY };
const SPANS: Record<string, number | null> = { '24h': DAY, '7d': 7 * DAY, '30d': 30 * DAY, all: null };
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const six = (value: number): number => Number(value.toFixed(6));

/** The highest, 5 more for each further one of 50 or more, 100 at most. */
const together = (scores: readonly number[]): number =>
  Math.min(100, Math.max(...scores) + 5 * Math.max(0, scores.filter((score) => score >= 50).length - 1));

describe('insiders, counted again', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let findings: Finding[];
  let trades: Trade[];

  beforeAll(async () => {
    db = await testDatabase();
    await loadWorld(db.pool, 'prediction', 12_000, START, new Date(now.getTime() + DAY / 2));
    // Two runs: what is on record is what each wallet was last judged on each market.
    for (const at of [new Date(now.getTime() - 6 * DAY), now]) await prediction.score?.(db.pool, at, () => undefined);
    findings = (await db.pool.query<Finding>(`SELECT wallet, condition_id, COALESCE(category, 'Other') AS category, score::float8 AS score, extract(epoch FROM first_bet_at)::float8 * 1000 AS first, day::text AS day FROM pm_insider LEFT JOIN pm_market USING (condition_id)`)).rows; // prettier-ignore
    trades = (await db.pool.query<Trade>(`SELECT wallet, condition_id, COALESCE(category, 'Other') AS category, extract(epoch FROM "timestamp")::float8 * 1000 AS at, side, usdc_size::float8 AS usdc, is_taker FROM pm_trade LEFT JOIN pm_market USING (condition_id) WHERE side IN ('BUY', 'SELL') AND "timestamp" < $1`, [now])).rows; // prettier-ignore
  });
  afterAll(() => db.drop());

  /** Score of each wallet at an instant: by the bets made until then, as last judged, that the newest run of the day still found. */
  function judge(): (wallet: string, at: number) => number | null {
    const days = [...new Set(findings.map(({ day }) => day))].sort();
    const last = new Map<string, Finding>();
    for (const one of [...findings].sort((a, b) => (a.day < b.day ? -1 : 1))) last.set(`${one.wallet}|${one.condition_id}`, one);
    const untilOf = ({ day }: Finding): number => (day === days.at(-1) ? Number.POSITIVE_INFINITY : Date.parse(`${days[days.indexOf(day) + 1] as string}T00:00:00Z`)); // prettier-ignore
    const byWallet = new Map<string, Finding[]>();
    for (const one of last.values()) byWallet.set(one.wallet, [...(byWallet.get(one.wallet) ?? []), one]);
    return (wallet, at) => {
      const own = (byWallet.get(wallet) ?? []).filter((one) => one.first <= at && at < untilOf(one));
      return own.length === 0 ? null : together(own.map(({ score }) => score));
    };
  }

  interface Trend { time_series: Row[]; totals: Row; by_category: Row[]; top_markets: Row[]; change_pct: number | null } // prettier-ignore

  test.each(['24h', '7d', '30d', 'all'])('wallets/insiders/trend %s', async (timeframe) => {
    const scoreOf = judge();
    const changes = [...new Set(findings.flatMap(({ first, day }) => [first, Date.parse(`${day}T00:00:00Z`) - 1]))];
    const instants = [...new Set(findings.map(({ first }) => first))].sort((a, b) => a - b);
    const span = SPANS[timeframe] ?? null;
    const to = now.getTime();
    const from = span === null ? Math.min(...trades.map(({ at }) => at)) : to - span;
    let answered = 0;
    for (const min_score of [20, 50, 75])
      for (const category of [null, 'Politics', 'Crypto'])
        for (const bucket_size of Object.keys(LENGTHS)) {
          const length = LENGTHS[bucket_size] as number;
          const counts = (wallet: string, at: number): boolean => (scoreOf(wallet, at) ?? -1) >= min_score;
          // A wallet comes to a score with a bet.
          const since = new Map([...new Set(findings.map(({ wallet }) => wallet))].flatMap((wallet) => instants.filter((at) => counts(wallet, at)).slice(0, 1).map((at) => [wallet, at] as const))); // prettier-ignore
          const flagged = (one: Trade): boolean => counts(one.wallet, one.at) && (category === null || one.category === category);
          const within = trades.filter((one) => one.at >= from && one.at < to && (category === null || one.category === category));
          const own = within.filter(flagged);
          const sent = { timeframe, bucket_size, min_score, limit: 50, ...(category && { category }) };
          const answer = await call<Trend>(db, 'wallets/insiders/trend', now, sent).then(({ data }) => data, (error: { code: string }) => error.code); // prettier-ignore
          if (own.length === 0) {
            expect(answer).toBe('empty_result');
            continue;
          }
          answered += 1;
          const lastScore = (wallet: string, end: number): number => {
            const at = [...changes, end - 1].filter((one) => one < end && counts(wallet, one)).sort((a, b) => a - b).at(-1) as number; // prettier-ignore
            return scoreOf(wallet, at) as number;
          };
          const { time_series, totals, by_category, top_markets, change_pct } = answer as Trend;
          const buys = (rows: readonly Trade[]): number => sum(rows.filter(({ side }) => side === 'BUY').map(({ usdc }) => usdc));
          const wallets = (rows: readonly Trade[]): string[] => [...new Set(rows.map(({ wallet }) => wallet))];
          expect(totals).toEqual({ insider_wallets: wallets(own).length, insider_trades: own.length, insider_buy_usdc: expect.closeTo(buys(own), 4), markets_touched: new Set(own.map(({ condition_id }) => condition_id)).size }); // prettier-ignore
          const first = Math.floor(from / length) * length;
          expect(time_series).toHaveLength(Math.ceil((to - first) / length));
          time_series.forEach((row, index) => {
            const [start, end] = [first + index * length, first + (index + 1) * length];
            const inside = (rows: readonly Trade[]): Trade[] => rows.filter(({ at }) => at >= start && at < end);
            const [mine, all] = [inside(own), inside(within)];
            const taken = sum(all.filter(({ is_taker }) => is_taker).map(({ usdc }) => usdc));
            const scores = wallets(mine).map((wallet) => lastScore(wallet, end));
            expect(row).toEqual({
              bucket: `${new Date(start).toISOString().slice(0, 19)}Z`,
              insider_wallets: wallets(mine).length,
              new_insider_wallets: wallets(mine).filter((wallet) => (since.get(wallet) as number) >= Math.max(start, from)).length,
              insider_trades: mine.length,
              insider_buy_usdc: expect.closeTo(buys(mine), 4),
              markets_touched: new Set(mine.map(({ condition_id }) => condition_id)).size,
              avg_insider_score: scores.length === 0 ? null : expect.closeTo(sum(scores) / scores.length, 0.9),
              share_of_volume_pct: taken === 0 ? null : expect.closeTo((100 * sum(mine.filter(({ is_taker }) => is_taker).map(({ usdc }) => usdc))) / taken, 4), // prettier-ignore
            });
          });
          for (const row of by_category) expect(row.insider_buy_usdc).toBeCloseTo(buys(own.filter((one) => one.category === row.category)), 4); // prettier-ignore
          const sizes = [...new Set(own.map(({ condition_id }) => condition_id))].map((id) => six(sum(own.filter((one) => one.condition_id === id).map(({ usdc }) => usdc)))).sort((a, b) => b - a); // prettier-ignore
          expect(top_markets.map(({ total_insider_volume }) => total_insider_volume)).toEqual(sizes.slice(0, 50).map((size) => expect.closeTo(size, 4))); // prettier-ignore
          const before = span === null ? [] : trades.filter((one) => one.at >= from - span && one.at < from).filter(flagged);
          expect(change_pct).toEqual(buys(before) === 0 ? null : expect.closeTo((100 * (buys(own) - buys(before))) / buys(before), 3));
        }
    expect(answered).toBeGreaterThan(timeframe === '24h' ? 0 : 5);
  });

  interface List { candidates: Row[]; total_candidates: number } // prettier-ignore

  test('wallets/insiders, every parameter', async () => {
    const newest = findings.map(({ day }) => day).sort().at(-1); // prettier-ignore
    const first = new Map<string, number>();
    for (const { wallet, at } of trades) first.set(wallet, Math.min(at, first.get(wallet) ?? Number.POSITIVE_INFINITY));
    let seen = 0;
    for (const category of [null, 'Politics'])
      for (const min_score of [20, 50, 75])
        for (const max_wallet_age_days of [5, 90])
          for (const sort_by of ['insider_score', 'total_buy_usdc', 'wallet_age_days']) {
            const rows = findings.filter((one) => one.day === newest && (category === null || one.category === category));
            const expected = [...new Set(rows.map(({ wallet }) => wallet))].flatMap((wallet) => {
              const score = together(rows.filter((one) => one.wallet === wallet).map((one) => one.score));
              const age = (now.getTime() - (first.get(wallet) as number)) / DAY;
              const own = trades.filter((one) => one.wallet === wallet);
              const buy = sum(own.filter(({ side }) => side === 'BUY').map(({ usdc }) => usdc));
              return score < min_score || age > max_wallet_age_days ? [] : [{ wallet, score, age, buy, markets: new Set(own.map(({ condition_id }) => condition_id)).size, categories: new Set(own.map((one) => one.category)).size }]; // prettier-ignore
            });
            const key = (one: (typeof expected)[number]): number => (sort_by === 'insider_score' ? one.score : sort_by === 'total_buy_usdc' ? six(one.buy) : -one.age); // prettier-ignore
            expected.sort((a, b) => key(b) - key(a) || b.score - a.score || (a.wallet < b.wallet ? -1 : 1));
            const sent = { min_score, max_wallet_age_days, sort_by, limit: 200, ...(category && { category }) };
            const answer = await call<List>(db, 'wallets/insiders', now, sent).then(({ data }) => data, (error: { code: string }) => error.code); // prettier-ignore
            if (expected.length === 0) {
              expect(answer).toBe('empty_result');
              continue;
            }
            seen += 1;
            const { candidates, total_candidates } = answer as List;
            expect(total_candidates).toBe(expected.length);
            expect(candidates.map((row) => [row.wallet, row.insider_score, row.markets_traded, row.category_count])).toEqual(expected.slice(0, 200).map((one) => [one.wallet, expect.closeTo(one.score, 1), one.markets, one.categories])); // prettier-ignore
            expect(candidates.map((row) => row.total_buy_usdc)).toEqual(expected.slice(0, 200).map((one) => expect.closeTo(one.buy, 4)));
          }
    expect(seen).toBeGreaterThan(5);
  });
});
