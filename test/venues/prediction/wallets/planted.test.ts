import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import type { PlantedWallet } from '../../../../src/sandbox/simulator/prediction';
import { sqlOver } from '../../../../src/db/sql';
import { isoDay } from '../../../../src/lib/time';
import { END } from '../../../../src/lib/timeframe';
import { listRunDays } from '../../../../src/venues/prediction/queries/score-runs';
import { score } from '../../../../src/venues/prediction/scoring/job';
import { testDatabase } from '../../../support/database';
import { call, callForError, callOr } from '../markets/call';
import { loadAtOnce } from '../../../support/world';

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const now = new Date(start.getTime() + 24 * DAY);

interface ScoreRow { wallet: string; score: string | null; tags: string[]; positions: number } // prettier-ignore

describe('what is planted in a simulated world is found', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let truth: PlantedWallet[];
  let scores: Map<string, ScoreRow>;
  const world = predictionWorld({ seed: 1, size: 20_000, start });

  const load = async (from: Date, to: Date): Promise<void> => void (await loadAtOnce(db.pool, 'prediction', world.pages(from, to)));
  const listScores = async (): Promise<ScoreRow[]> =>
    (await db.pool.query<ScoreRow>('SELECT wallet, score, tags, positions FROM pm_wallet_score ORDER BY wallet')).rows;
  const of = (role: string): ScoreRow[] => truth.filter((one) => one.role === role).map(({ wallet }) => scores.get(wallet) as ScoreRow); // prettier-ignore

  beforeAll(async () => {
    db = await testDatabase();
    await load(start, now);
    await score(db.pool, now, () => undefined);
    truth = world.truth(now);
    scores = new Map((await listScores()).map((row) => [row.wallet, row]));
  });
  afterAll(() => db.drop());

  test('scores: the skilled stand out, luck, favourites and machines do not', () => {
    const smart = (rows: ScoreRow[]): number => rows.filter((row) => row.score !== null && Number(row.score) >= 60).length / rows.length;
    expect(smart(of('skilled'))).toBeGreaterThan(0.5);
    expect(smart([...of('noise'), ...of('loser'), ...of('newcomer'), ...of('lucky'), ...of('favourite_buyer')])).toBeLessThan(0.01);
    for (const row of [...of('hft_bot'), ...of('wash')]) expect(row.score).toBeNull();
    expect(of('wash').map(({ tags }) => tags.includes('wash'))).toEqual([true, true]);
    expect(of('insider').every(({ tags }) => tags.includes('insider_pattern'))).toBe(true);
    expect(of('loser').concat(of('noise')).some(({ tags }) => tags.includes('wash') || tags.includes('copy_trader'))).toBe(false); // prettier-ignore
    for (const { positions, score: value } of scores.values()) {
      if (positions < 5) expect(value).toBeNull();
      else if (positions < 10 && value !== null) expect(Number(value)).toBeLessThanOrEqual(39);
    }
  });

  test('a run is the same again, and the same again later', async () => {
    const first = await listScores();
    expect(await score(db.pool, now, () => undefined)).toEqual({
      wallets: first.length,
      scored: first.filter((row) => row.score !== null).length,
    });
    expect(await listScores()).toEqual(first);
    await load(now, new Date(now.getTime() + DAY));
    await score(db.pool, now, () => undefined);
    expect(await listScores()).toEqual(first);
  });

  test('wallets/copy-traders finds the copier, and nobody else', async () => {
    const copiers = truth.filter(({ role }) => role === 'copier');
    let found = 0;
    for (const { wallet, of: leader } of copiers) {
      const data = await callOr<{ wallet: string; overlap_trades: number; precision: number; copy_score: number; avg_lag_seconds: number; copied_tokens: unknown[]; p_value: number }[]>(db, 'wallets/copy-traders', now, { wallet: leader, timeframe: '30d' }, []); // prettier-ignore
      expect(data.filter((row) => truth.find((one) => one.wallet === row.wallet)?.role !== 'copier')).toEqual([]);
      const row = data.find((one) => one.wallet === wallet);
      if (row === undefined) continue;
      found += 1;
      expect(row.precision).toBeGreaterThan(0.8);
      expect([row.copy_score > 0.5, row.p_value < 1e-6, row.avg_lag_seconds > 0 && row.avg_lag_seconds <= 3_600]).toEqual([
        true,
        true,
        true,
      ]);
      // Copiers of the best are looked for when scores are made.
      if (Number(scores.get(leader as string)?.score) >= 60) expect(scores.get(wallet)?.tags).toContain('copy_trader');
    }
    expect(found / copiers.length).toBeGreaterThanOrEqual(0.75);
    const random = truth.find(({ role }) => role === 'noise') as PlantedWallet;
    expect((await callForError(db, 'wallets/copy-traders', now, { wallet: random.wallet, timeframe: '30d' })).code).toBe('empty_result');
    const { data: profile } = await call<{ profile: { copy_followers: number | null } }>(db, 'wallets/profile', now, {
      wallet: copiers[0]?.of,
    });
    expect(profile.profile.copy_followers).toBeGreaterThanOrEqual(1);
  });

  test('markets/insiders, wallets/insiders and its trend', async () => {
    const planted = truth.filter(({ role }) => role === 'insider');
    interface Insider { wallet: string; insider_score: number; risk_level: string; signals: Record<string, { score: number }> } // prettier-ignore
    for (const { wallet, condition_id } of planted) {
      const { data } = await call<{ insiders: Insider[]; summary: { highest_score: number; total_candidates_scanned: number; phase1_passed: number } }>(db, 'markets/insiders', now, { condition_id, limit: 100 }); // prettier-ignore
      const row = data.insiders.find((one) => one.wallet === wallet) as Insider;
      // Unresolved markets cannot be told by the speed of withdrawal.
      expect(row.insider_score).toBeGreaterThanOrEqual(75);
      expect(row.risk_level).toBe('critical');
      const points: Record<string, number> = { wallet_age: 15, first_bet_size: 15, bet_timing: 20, withdrawal_speed: 10, market_selection: 10, category_concentration: 10, short_bet_win_rate: 20 }; // prettier-ignore
      for (const insider of data.insiders)
        for (const [name, { score: value }] of Object.entries(insider.signals))
          expect(value >= 0 && value <= (points[name] as number)).toBe(true);
      expect(data.insiders.map(({ insider_score }) => insider_score)).toEqual(
        data.insiders.map(({ insider_score }) => insider_score).sort((a, b) => b - a),
      );
      expect(data.summary.phase1_passed).toBeLessThanOrEqual(data.summary.total_candidates_scanned);
    }
    const { data } = await call<{ candidates: (Insider & { total_buy_usdc: number })[]; total_candidates: number; generated_at: string }>(
      db,
      'wallets/insiders',
      now,
      { limit: 200 },
    );
    expect(data.generated_at).toBe(now.toISOString().replace('.000', ''));
    expect(data.candidates.slice(0, planted.length).map(({ wallet }) => truth.find((one) => one.wallet === wallet)?.role)).toEqual(
      planted.map(() => 'insider'),
    );
    expect(data.candidates.length).toBe(data.total_candidates);
    const { data: bySize } = await call<typeof data>(db, 'wallets/insiders', now, { sort_by: 'total_buy_usdc', limit: 3 });
    expect(bySize.candidates.map(({ total_buy_usdc }) => total_buy_usdc)).toEqual(data.candidates.map(({ total_buy_usdc }) => total_buy_usdc).sort((a, b) => b - a).slice(0, 3)); // prettier-ignore
    const young = await callOr<typeof data | null>(db, 'wallets/insiders', now, { max_wallet_age_days: 5, min_score: 20 }, null);
    expect(young?.total_candidates ?? 0).toBeLessThan(data.total_candidates);

    interface Point { bucket: string; insider_trades: number; insider_buy_usdc: number; new_insider_wallets: number; share_of_volume_pct: number | null } // prettier-ignore
    interface Trend { time_series: Point[]; totals: { insider_trades: number; insider_buy_usdc: number; insider_wallets: number }; top_markets: unknown[]; by_category: { insider_buy_usdc: number }[] } // prettier-ignore
    for (const bucket_size of ['4h', '1d', '7d']) {
      const { data: trend } = await call<Trend>(db, 'wallets/insiders/trend', now, { timeframe: '30d', bucket_size });
      const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);
      expect(sum(trend.time_series.map(({ insider_trades }) => insider_trades))).toBe(trend.totals.insider_trades);
      expect(sum(trend.time_series.map(({ insider_buy_usdc }) => insider_buy_usdc))).toBeCloseTo(trend.totals.insider_buy_usdc, 3);
      expect(sum(trend.by_category.map(({ insider_buy_usdc }) => insider_buy_usdc))).toBeCloseTo(trend.totals.insider_buy_usdc, 3);
      expect(sum(trend.time_series.map(({ new_insider_wallets }) => new_insider_wallets))).toBe(trend.totals.insider_wallets);
      expect(
        trend.time_series.every(
          ({ share_of_volume_pct }) => share_of_volume_pct === null || (share_of_volume_pct >= 0 && share_of_volume_pct <= 100),
        ),
      ).toBe(true);
    }
    expect((await callForError(db, 'wallets/insiders/trend', now, { timeframe: '365d', bucket_size: '1h' })).code).toBe('range_too_large');
    expect((await callForError(db, 'markets/insiders', now, { condition_id: `0x${'9'.repeat(64)}` })).code).toBe('not_found');
  });

  test('wallets/alpha-callers: early, cheap, right, before the crowd', async () => {
    interface Call { wallet: string; entry_price: number; entry_date: string; days_before_resolution: number; days_before_trend: number; bet_size_usdc: number; calls: number; hit_rate: number; hit_rate_lb: number; alpha_score: number; profit_usdc: number } // prettier-ignore
    const { data } = await call<Call[]>(db, 'wallets/alpha-callers', now, { min_days_early: 1, min_bet_usdc: 20, limit: 100 });
    expect(data.length).toBeGreaterThan(5);
    for (const row of data) {
      expect([
        row.entry_price <= 0.5,
        row.days_before_resolution >= 1,
        row.days_before_trend > 0,
        row.bet_size_usdc >= 20,
        row.hit_rate_lb <= row.hit_rate,
      ]).toEqual([true, true, true, true, true]);
      expect(row.profit_usdc).toBeCloseTo(row.bet_size_usdc / row.entry_price - row.bet_size_usdc, 2);
    }
    expect(data.map(({ alpha_score }) => alpha_score)).toEqual(data.map(({ alpha_score }) => alpha_score).sort((a, b) => b - a));
    const { data: often } = await call<Call[]>(db, 'wallets/alpha-callers', now, {
      min_days_early: 1,
      min_bet_usdc: 20,
      limit: 100,
      min_calls: 3,
    });
    expect(often.every(({ calls }) => calls >= 3)).toBe(true);
    expect((await callForError(db, 'wallets/alpha-callers', now, { min_bet_usdc: 1e9 })).code).toBe('empty_result');
  });

  test('runs are the days that have scores: those that are noted, and what is being written after them', async () => {
    const noted = async () => (await db.pool.query<{ day: string }>('SELECT day::text FROM pm_score_run')).rows.map(({ day }) => day);
    const day = isoDay(now);
    expect(await noted()).toEqual([day]);
    const [second, third] = [isoDay(new Date(now.getTime() + DAY)), isoDay(new Date(now.getTime() + 2 * DAY))];
    await db.pool.query(
      "INSERT INTO pm_wallet_score (wallet, day, tags, version) SELECT wallet, unnest($1::date[]), '{}', 'v' FROM pm_wallet LIMIT 6",
      [[second, third]],
    );
    expect(await listRunDays(sqlOver(db), END)).toEqual([day, second, third]);
    expect(await listRunDays(sqlOver(db), new Date(now.getTime() + DAY))).toEqual([day, second]);
    expect(await listRunDays(sqlOver(db), new Date(now.getTime() - DAY))).toEqual([]);
    await db.pool.query('DELETE FROM pm_wallet_score WHERE day = ANY($1)', [[second, third]]);
    // Nobody had traded: a day without scores is no run, though it was noted as one.
    await db.pool.query('INSERT INTO pm_score_run VALUES ($1)', [isoDay(start)]);
    expect(await score(db.pool, start, () => undefined)).toEqual({ wallets: 0, scored: 0 });
    expect(await noted()).toEqual([day]);
  });
});
