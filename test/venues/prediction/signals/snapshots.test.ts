import { CATEGORIES } from '../../../../src/lib/category';
import { TIMEFRAMES } from '../../../../src/lib/timeframe';
import { makeContext } from '../../../../src/graph/context';
import { prediction } from '../../../../src/venues/prediction/index';
import { score } from '../../../../src/venues/prediction/scoring/job';
import { buildSnapshots, dropSnapshots } from '../../../../src/workers/snapshots';
import { testDatabase } from '../../../support/database';
import { call } from '../markets/call';
import { type ToldWorld, loadTold } from '../wallets/told-world';

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const now = new Date(start.getTime() + 24 * DAY + 1_234_567);
const after = (minutes: number): Date => new Date(now.getTime() + minutes * 60_000);

type Answer = {
  data?: unknown;
  code?: string;
  suggestion?: unknown;
  as_of?: Date | null;
  count?: number | null;
  window?: unknown;
  version?: unknown;
};

describe('answers of the snapshot class', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let told: ToldWorld;
  let asked: [string, Record<string, unknown>][];

  const answer = async (path: string, sent: Record<string, unknown>, when = now): Promise<Answer> => {
    try {
      const { data, meta } = await call(db, path, when, sent);
      return { data, as_of: meta.as_of, count: meta.count, window: meta.window, version: meta.score_version };
    } catch (error) {
      const { code, context } = error as { code: string; context: { suggestion?: unknown } };
      return { code, suggestion: context?.suggestion };
    }
  };
  const answers = async (when = now): Promise<Answer[]> => {
    const all: Answer[] = [];
    for (const [path, sent] of asked) all.push(await answer(path, sent, when));
    return all;
  };

  beforeAll(async () => {
    db = await testDatabase();
    told = await loadTold(db.pool, 1, 9_000, start, now);
    await score(db.pool, now, () => undefined);
    const [similar] = [...told.markets.values()].filter(({ resolved }) => resolved === null);
    asked = [
      ...TIMEFRAMES.map((timeframe): [string, Record<string, unknown>] => ['markets/opportunities', { timeframe, min_signal_strength: 'weak', min_smart_wallets: 1 }]),
      ['markets/opportunities', {}],
      ['markets/opportunities', { min_smart_wallets: 2, min_signal_strength: 'weak', closing_within_hours: 200, limit: 3 }],
      ['markets/opportunities', { min_signal_strength: 'strong', category: 'Sports' }],
      ['markets/opportunities', { min_signal_strength: 'weak', min_smart_wallets: 1, category: 'Crypto' }],
      ...CATEGORIES.slice(0, 4).flatMap((category): [string, Record<string, unknown>][] => [
        ['wallets/niche-experts', { category }],
        ['wallets/niche-experts', { category, sort_by: 'category_edge', specialists_only: true, limit: 3 }],
        ['wallets/niche-experts', { category, sort_by: 'category_volume', min_category_trades: 3 }],
      ]),
      ['wallets/alpha-callers', {}],
      ['wallets/alpha-callers', { category: 'Sports', limit: 5 }],
      ['wallets/alpha-callers', { min_days_early: 1, min_bet_usdc: 20, min_calls: 2 }],
      ['wallets/insiders', {}],
      ['wallets/insiders', { min_score: 0, max_wallet_age_days: 90, sort_by: 'win_rate', limit: 200 }],
      ['wallets/insiders', { category: 'Politics', min_score: 20, sort_by: 'total_buy_usdc' }],
      ['wallets/insiders', { min_score: 20, sort_by: 'wallet_age_days', limit: 4 }],
      ['markets/similar', { condition_id: similar?.id }],
      ['markets/similar', { condition_id: similar?.id, min_shared_wallets: 1, status: 'all', method: 'wallets', limit: 50 }],
    ]; // prettier-ignore
  });
  afterAll(() => db.drop());

  test('are equal with and without a copy; later they are those of the copy, whatever has happened', async () => {
    const live = await answers();
    expect(live.filter(({ data }) => data !== undefined).length).toBeGreaterThan(12);
    await buildSnapshots(db.pool, prediction, () => makeContext(db, now));
    const kept = await answers();
    for (const [index, [path, sent]] of asked.entries()) {
      const [mine, theirs] = [live[index] as Answer, kept[index] as Answer];
      expect([path, sent, { ...theirs, as_of: null }]).toEqual([path, sent, { ...mine, as_of: null }]);
    }
    // Nothing was rebuilt since: half an hour of trading does not show, but for the age of wallets.
    await loadOn();
    const late = await answers(after(29));
    for (const [index, [path]] of asked.entries()) {
      const [mine, theirs] = [kept[index] as Answer, late[index] as Answer];
      if (theirs.as_of && path !== 'wallets/insiders') expect([path, theirs]).toEqual([path, mine]);
    }
    expect(late.some(({ as_of }) => as_of?.getTime() === now.getTime())).toBe(true);
    const dead = await answers(after(31));
    for (const [index, [path]] of asked.entries())
      if (kept[index]?.as_of || path === 'markets/similar') expect([path, dead[index]?.code]).toEqual([path, 'stale_data']);
    await dropSnapshots(db.pool, prediction);
    expect((await answers(after(31))).filter(({ code }) => code === 'stale_data')).toEqual([]);
  });

  const loadOn = (): Promise<ToldWorld> => loadTold(db.pool, 1, 9_000, start, after(29));

  test('a copy of before midnight tells scores of then, not of the run since', async () => {
    const then = after(-25);
    const live = await answers(then);
    await buildSnapshots(db.pool, prediction, () => makeContext(db, then));
    const late = await answers();
    const told = asked.flatMap(([path], index) => {
      const [mine, theirs] = [live[index] as Answer, late[index] as Answer];
      if (!theirs.as_of || path === 'wallets/insiders') return [];
      expect([path, { ...theirs, as_of: null }]).toEqual([path, mine]);
      return path;
    });
    expect(told).toEqual(expect.arrayContaining(['wallets/alpha-callers', 'wallets/niche-experts']));
  });

  test('every endpoint of the class has a copy', () => {
    expect((prediction.snapshots ?? []).map(({ name, every_s }) => [name, every_s]).sort()).toEqual([
      ['markets/opportunities', 300],
      ['markets/similar', 600],
      ['wallets/alpha-callers', 600],
      ['wallets/insiders', 600],
      ['wallets/niche-experts', 600],
    ]);
  });
});
