import { prediction } from '../../../src/venues/prediction/index';
import type { AnswerMeta } from '../../../src/venues/venue';
import { testDatabase } from '../../support/database';
import { loadWorld } from '../../support/world';
import { call } from './markets/call';

/** What must hold of the venue's answers whatever the world: sums, subsets, shapes, identities. */

type Row = Record<string, unknown>;
const START = new Date('2026-02-01T00:00:00Z');
const now = new Date('2026-02-12T09:20:00Z');
const sum = (values: readonly unknown[]): number => values.reduce<number>((total, value) => total + Number(value), 0);

describe('invariants of the prediction market', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let markets: string[];
  let wallets: string[];

  beforeAll(async () => {
    db = await testDatabase();
    await loadWorld(db.pool, 'prediction', 12_000, START, now);
    await prediction.score?.(db.pool, now, () => undefined);
    const busiest = async (key: string): Promise<string[]> =>
      (await db.pool.query<{ id: string }>(`SELECT ${key} AS id FROM pm_trade WHERE side IN ('BUY', 'SELL') GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 25`)).rows.map(({ id }) => id); // prettier-ignore
    markets = await busiest('condition_id');
    wallets = await busiest('wallet');
  });
  afterAll(() => db.drop());

  const ask = async <T = Row>(path: string, sent: Row = {}): Promise<T> =>
    JSON.parse(JSON.stringify((await call<T>(db, path, now, sent)).data)) as T;
  const orNull = <T>(answer: Promise<T>): Promise<T | null> =>
    answer.catch((error: { code?: string }) => {
      if (error.code !== 'empty_result' && error.code !== 'not_found') throw error;
      return null;
    });
  const askOr = <T>(path: string, sent: Row): Promise<T | null> => orNull(ask<T>(path, sent));

  test('parts in percent are a hundred together', async () => {
    let seen = 0;
    for (const condition_id of markets.slice(0, 10)) {
      const holders = await askOr<{ outcomes: Row[]; tier_distribution: Row[] }>('markets/participants', { condition_id });
      const report = await askOr<{ smart_money: { by_outcome: Row[] } }>('markets/intelligence', { condition_id });
      for (const [parts, name] of [
        [holders?.outcomes, 'percentage'],
        [holders?.tier_distribution, 'pct_wallets'],
        [holders?.tier_distribution, 'pct_usdc'],
        [report?.smart_money.by_outcome, 'percentage'],
      ] as const) {
        // prettier-ignore
        const whole = sum((parts ?? []).map((part) => part[name] ?? 0));
        if (whole === 0) continue;
        seen += 1;
        expect([condition_id, name, Math.abs(whole - 100) <= 0.1]).toEqual([condition_id, name, true]);
      }
    }
    expect(seen).toBeGreaterThan(15);
    for (const timeframe of ['24h', '7d']) {
      const { groups } = await ask<{ groups: { pct_of_total: number }[] }>('markets/volume-by-group', { timeframe });
      expect(Math.abs(sum(groups.map(({ pct_of_total }) => pct_of_total)) - 100)).toBeLessThanOrEqual(0.1);
      const heat = await ask<{ breakdown: { pct_of_total: number }[] }>('markets/volume-heatmap', { timeframe, group_by: 'category' });
      expect(Math.abs(sum(heat.breakdown.map(({ pct_of_total }) => pct_of_total)) - 100)).toBeLessThanOrEqual(0.1);
    }
  });

  test('candles are candles, side by side', async () => {
    interface Candle { bucket: string; open: number; high: number; low: number; close: number; vwap: number; volume: number; filled: boolean } // prettier-ignore
    const sizes = { '15m': 900, '1h': 3_600, '4h': 14_400, '1d': 86_400 };
    let seen = 0;
    for (const condition_id of markets.slice(0, 6))
      for (const [bucket_size, seconds] of Object.entries(sizes)) {
        const timeframe = bucket_size === '15m' ? '24h' : '7d';
        const answer = await askOr<{ candles_by_outcome: { candles: Candle[] }[] }>('markets/price-history', { condition_id, timeframe, bucket_size }); // prettier-ignore
        for (const { candles } of answer?.candles_by_outcome ?? []) {
          const times = candles.map(({ bucket }) => Date.parse(bucket) / 1_000);
          expect(times.every((time, index) => time % seconds === 0 && (index === 0 || time - (times[index - 1] as number) === seconds))).toBe(true); // prettier-ignore
          seen += candles.length;
          for (const { open, high, low, close, vwap, volume, filled } of candles) {
            expect([low <= Math.min(open, close), high >= Math.max(open, close)]).toEqual([true, true]);
            if (!filled) expect(vwap >= low - 1e-6 && vwap <= high + 1e-6).toBe(true);
            else expect([open, high, low, volume]).toEqual([close, close, close, 0]);
          }
        }
      }
    expect(seen).toBeGreaterThan(100);
  });

  test('one volume, whoever tells it', async () => {
    for (const timeframe of ['24h', '7d', 'all']) {
      const { total_volume_usdc } = await ask<{ total_volume_usdc: number }>('platform/stats', { timeframe });
      const categories = await ask<{ period_volume: number }[]>('markets/categories', { timeframe });
      const heat = await ask<{ total_volume: number }>('markets/volume-heatmap', { timeframe });
      expect(sum(categories.map(({ period_volume }) => period_volume))).toBeCloseTo(total_volume_usdc, 3);
      expect(heat.total_volume).toBeCloseTo(total_volume_usdc, 3);
    }
  });

  /** All rows of markets/trades, page by page; none where nothing is as large. */
  async function allTrades(condition_id: string, min_usdc: number): Promise<Map<string, Row>> {
    const rows = new Map<string, Row>();
    let cursor: string | null = null;
    for (;;) {
      const sent: Row = { condition_id, timeframe: 'all', min_usdc, limit: 500, ...(cursor === null ? {} : { cursor }) };
      const page: { data: { trades: Row[] }; meta: AnswerMeta } | null = await orNull(
        call<{ trades: Row[] }>(db, 'markets/trades', now, sent),
      );
      for (const row of page?.data.trades ?? []) rows.set(String(row.trade_id), JSON.parse(JSON.stringify(row)) as Row);
      cursor = page?.meta.next_cursor ?? null;
      if (cursor === null) return rows;
    }
  }

  test('large trades of a market are trades of the market, and none is missing', async () => {
    let seen = 0;
    for (const condition_id of markets.slice(0, 5))
      for (const min_usdc of [100, 2_000]) {
        const large = await askOr<Row[]>('trades/whales', { condition_id, timeframe: 'all', min_usdc, limit: 200 });
        const whole = await allTrades(condition_id, min_usdc);
        const fills = (large ?? []).filter(({ side }) => side !== 'REDEEM');
        for (const row of fills) expect(row).toMatchObject(whole.get(String(row.trade_id)) as Row);
        if ((large ?? []).length < 200) expect(fills).toHaveLength(whole.size);
        seen += fills.length;
      }
    expect(seen).toBeGreaterThan(0);
  });

  test("a wallet's gain is the same in its profile, its breakdown and a comparison", async () => {
    for (const wallet of wallets) {
      const { profile } = await ask<{ profile: Row }>('wallets/profile', { wallet });
      const [compared] = (await ask<{ wallets: { profile: Row }[] }>('wallets/compare', { wallets: [wallet, wallets.find((other) => other !== wallet)] })).wallets; // prettier-ignore
      expect(compared?.profile).toEqual(profile);
      const breakdown = await askOr<{ total_realized_pnl: number; total_positions: number; positions: Row[]; by_category: Row[] }>('wallets/pnl-breakdown', { wallet, timeframe: 'all', limit: 200 }); // prettier-ignore
      expect(breakdown?.total_realized_pnl ?? 0).toBe(profile.total_pnl);
      if (breakdown === null) continue;
      expect(sum(breakdown.by_category.map(({ pnl }) => pnl))).toBeCloseTo(breakdown.total_realized_pnl, 4);
      for (const position of breakdown.positions) {
        const parts = position.pnl_components as Record<string, number>;
        expect(sum(Object.values(parts))).toBeCloseTo(Number(position.realized_pnl_usdc), 4);
      }
      if (breakdown.total_positions > 200) continue;
      expect(breakdown.positions).toHaveLength(breakdown.total_positions);
      expect(sum(breakdown.positions.map(({ realized_pnl_usdc }) => realized_pnl_usdc))).toBeCloseTo(breakdown.total_realized_pnl, 4);
    }
  });

  test('cash out less cash in and what is still held are what was gained, splits, merges, redemptions and refunds included', async () => {
    // Of wallets that gave nothing away that they were not seen to get, and converted nothing: their cash is in the rows themselves.
    const { rows: plain } = await db.pool.query<{ wallet: string; cash: string; moves: string }>(
      `SELECT wallet, sum(CASE WHEN side IN ('SELL', 'MERGE', 'REDEEM') THEN usdc_size ELSE -usdc_size END) AS cash, count(*) FILTER (WHERE side NOT IN ('BUY', 'SELL')) AS moves
       FROM pm_trade WHERE "timestamp" < $1 GROUP BY wallet
       HAVING count(*) FILTER (WHERE side = 'CONVERSION') = 0 AND wallet NOT IN (SELECT wallet FROM pm_position WHERE unseen_shares > 0)
       ORDER BY count(*) FILTER (WHERE side NOT IN ('BUY', 'SELL')) DESC, wallet LIMIT 60`,
      [now],
    );
    expect(plain.filter(({ moves }) => Number(moves) > 0).length).toBeGreaterThan(20);
    // Shares left by the rows alone: bought, sold, split and merged.
    const { rows: held } = await db.pool.query<{ wallet: string; token_id: string; condition_id: string; shares: string }>(
      `SELECT wallet, condition_id, outcome.token_id, sum(CASE WHEN side = 'BUY' THEN size WHEN side = 'SELL' THEN -size WHEN side = 'SPLIT' THEN size WHEN side = 'MERGE' THEN -size ELSE 0 END) AS shares
       FROM pm_trade AS trade JOIN pm_outcome AS outcome USING (condition_id)
       WHERE (trade.token_id = outcome.token_id OR side IN ('SPLIT', 'MERGE')) AND "timestamp" < $1 AND wallet = ANY($2) GROUP BY 1, 2, 3`,
      [now, plain.map(({ wallet }) => wallet)],
    );
    const { rows: redeemed } = await db.pool.query<{ wallet: string; condition_id: string; usdc: string }>(
      `SELECT wallet, condition_id, sum(usdc_size) AS usdc FROM pm_trade WHERE side = 'REDEEM' AND wallet = ANY($1) AND "timestamp" < $2 GROUP BY 1, 2`,
      [plain.map(({ wallet }) => wallet), now],
    );
    for (const { wallet, cash } of plain) {
      const dossier = await ask<{ profile: { unrealized_pnl_usdc: number }; active_positions: Row[] }>('wallets/profile', { wallet });
      const breakdown = await askOr<{ total_realized_pnl: number; realized_pnl_open_usdc: number }>('wallets/pnl-breakdown', { wallet, timeframe: 'all', include_open: true }); // prettier-ignore
      const prices = new Map(dossier.active_positions.map((position) => [position.token_id, position.current_price]));
      // What a resolved market still owes: the payout of the shares less what was redeemed.
      const { rows: payouts } = await db.pool.query<{ token_id: string; payout: string | null }>(
        'SELECT outcome.token_id, outcome.payout FROM pm_outcome AS outcome JOIN pm_market USING (condition_id) WHERE resolved_at <= $1 AND condition_id = ANY($2)',
        [now, held.filter((row) => row.wallet === wallet).map(({ condition_id }) => condition_id)],
      );
      const paid = new Map(payouts.map(({ token_id, payout }) => [token_id, payout]));
      const worth = sum(held.filter((row) => row.wallet === wallet).map(({ token_id, shares }) => Number(shares) * Number(paid.get(token_id) ?? prices.get(token_id) ?? 0))); // prettier-ignore
      const cashed = sum(redeemed.filter((row) => row.wallet === wallet).map(({ usdc }) => usdc));
      const gained = (breakdown?.total_realized_pnl ?? 0) + (breakdown?.realized_pnl_open_usdc ?? 0) + dossier.profile.unrealized_pnl_usdc;
      expect([wallet, Math.abs(Number(cash) + worth - cashed - gained) < 0.01]).toEqual([wallet, true]);
    }
  });

  test('addresses and ids are whole and in lower case, whatever was sent', async () => {
    const [wallet, condition_id] = [wallets[0] as string, markets[0] as string];
    const upper = (text: string): string => `0x${text.slice(2).toUpperCase()}`;
    for (const [path, sent, raised] of [
      ['wallets/profile', { wallet }, { wallet: upper(wallet) }],
      ['wallets/activity', { wallet, timeframe: 'all' }, { wallet: upper(wallet), timeframe: 'all' }],
      ['markets/trades', { condition_id, timeframe: 'all' }, { condition_id: upper(condition_id), timeframe: 'all' }],
      ['markets/participants', { condition_id }, { condition_id: upper(condition_id) }],
    ] as const) {
      const answer = await ask(path, sent);
      expect(await ask(path, raised)).toEqual(answer);
      const ids = [...JSON.stringify(answer).matchAll(/"(0x[^"]*)"/g)].map(([, id]) => id as string);
      expect(ids.length).toBeGreaterThan(0);
      expect(ids.filter((id) => !/^0x([0-9a-f]{40}|[0-9a-f]{64})$/.test(id))).toEqual([]);
    }
  });
});
