import type { Pool } from 'pg';
import { inTransaction } from '../../../../src/db/transaction';
import { prediction } from '../../../../src/venues/prediction/index';
import { roundTo } from '../../../../src/lib/statistics';
import { retractFills } from '../../../../src/venues/prediction/rollups/retract';
import { followableOf } from '../../../../src/venues/prediction/scoring/follow';
import { testDatabase } from '../../../support/database';
import { until } from '../../../support/feeds';
import { loadWorld } from '../../../support/world';
import { ask } from '../ask';
import { NOW, iso, loadSmallWorld, market, now, trade } from '../small-world';
import { loadRecords, wallet } from '../support';

const DAY = 86_400;

interface Verdict {
  roi: number | null;
  share: number | null;
}

const rounded = (value: number | null): number | null => (value === null ? null : roundTo(value, 6));

/** What the run of a day wrote, by wallet. */
async function written(pool: Pool, day: Date): Promise<Map<string, Verdict>> {
  const { rows } = await pool.query<{ wallet: string; roi: string | null; share: string | null }>(
    'SELECT wallet, followable_roi_pct AS roi, followable_share AS share FROM pm_wallet_score WHERE day = $1::date',
    [day.toISOString().slice(0, 10)],
  );
  return new Map(
    rows.map(({ wallet: of, roi, share }) => [
      of,
      { roi: rounded(roi === null ? null : Number(roi)), share: rounded(share === null ? null : Number(share)) },
    ]),
  );
}

interface Fill {
  wallet: string;
  token_id: string;
  side: string;
  size: number;
  usdc: number;
  at: number;
  is_taker: boolean | null;
}

/** The same from plain facts: every fill looks for itself at the takers after it. */
async function counted(pool: Pool, until: Date): Promise<Map<string, Verdict>> {
  const { rows: fills } = await pool.query<Fill>(
    `SELECT wallet, token_id, side, size::float8 AS size, usdc_size::float8 AS usdc, extract(epoch FROM "timestamp")::float8 AS at, is_taker
     FROM pm_trade WHERE side IN ('BUY', 'SELL') AND "timestamp" < $1 ORDER BY "timestamp"`,
    [until],
  );
  const { rows: positions } = await pool.query<{ wallet: string; token_id: string; payout: number | null }>(
    `SELECT wallet, token_id, payout::float8 AS payout FROM pm_position WHERE status <> 'open' AND paid_shares > 0`,
  );
  const byToken = new Map<string, Fill[]>();
  for (const fill of fills) byToken.set(fill.token_id, [...(byToken.get(fill.token_id) ?? []), fill]);
  const priceAfter = (fill: Fill): number | null => {
    const later = (byToken.get(fill.token_id) ?? []).filter((one) => one.is_taker && one.at >= fill.at + 60 && one.at < fill.at + 660);
    const shares = later.reduce((sum, one) => sum + one.size, 0);
    return shares === 0 ? null : later.reduce((sum, one) => sum + one.usdc, 0) / shares;
  };
  const payouts = new Map(positions.map((row) => [`${row.wallet}|${row.token_id}`, row.payout]));
  const verdicts = new Map<string, Verdict>();
  const byWallet = new Map<string, Fill[]>();
  for (const fill of fills)
    if (fill.at + 660 <= until.getTime() / 1_000) byWallet.set(fill.wallet, [...(byWallet.get(fill.wallet) ?? []), fill]);
  for (const [who, own] of byWallet) {
    let [cost, back, followed] = [0, 0, 0];
    for (const token of new Set(own.map(({ token_id }) => token_id))) {
      const priced = own
        .filter(({ token_id }) => token_id === token)
        .flatMap((fill) => {
          const price = priceAfter(fill);
          return price === null ? [] : [{ ...fill, price }];
        });
      followed += priced.length;
      const sum = (side: string, of: (fill: Fill & { price: number }) => number): number =>
        priced.filter((fill) => fill.side === side).reduce((total, fill) => total + of(fill), 0);
      const [bought, sold] = [sum('BUY', ({ size }) => size), sum('SELL', ({ size }) => size)];
      const payout = payouts.get(`${who}|${token}`);
      if (payout === undefined || bought === 0 || (bought - sold > 1e-9 && payout === null)) continue;
      cost += sum('BUY', ({ size, price }) => size * price);
      back +=
        sum('SELL', ({ size, price }) => size * price) * (sold > bought ? bought / sold : 1) + Math.max(0, bought - sold) * (payout ?? 0);
    }
    verdicts.set(who, { roi: cost === 0 ? null : (100 * (back - cost)) / cost, share: followed / own.length });
  }
  return verdicts;
}

describe('reckoned by hand', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    await loadSmallWorld(db.pool);
    // Market 7 ended with its first outcome a day ago.
    await loadRecords(db.pool, 'markets.json', [
      market(7, { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - DAY), umaResolutionStatus: 'resolved' }),
    ]);
    const start = 3 * DAY;
    const row = (n: number, by: number, side: 'BUY' | 'SELL', size: number, price: number, after: number): Record<string, unknown> =>
      trade(700 + n, 7, 0, by, side, size, price, start - after);
    await loadRecords(db.pool, 'trades.json', [
      // Wallet 20 buys 100 at 0.40; followers get what takers paid from 60 to 660 seconds later: 10 at 0.42, 30 at 0.46.
      row(1, 20, 'BUY', 100, 0.4, 0),
      row(2, 21, 'BUY', 1_000, 0.9, 59),
      row(3, 21, 'BUY', 10, 0.42, 60),
      row(4, 22, 'SELL', 30, 0.46, 659),
      row(5, 22, 'BUY', 1_000, 0.1, 660),
      // It sells half at 0.70, followed at 0.60, and 10 more when nobody trades for ten minutes.
      row(6, 20, 'SELL', 50, 0.7, 5_000),
      row(7, 23, 'BUY', 5, 0.6, 5_100),
      row(8, 20, 'SELL', 10, 0.7, 9_000),
    ]);
    await prediction.score?.(db.pool, now, () => undefined);
  });
  afterAll(() => db.drop());

  test('a wallet is followed at the price of the ten minutes that begin a minute later', async () => {
    // 100 for 45, 50 of them sold for 30, 50 paid one dollar each; two of three fills were followed.
    expect((await written(db.pool, now)).get(wallet(20))).toEqual({ roi: rounded((100 * (30 + 50 - 45)) / 45), share: rounded(2 / 3) });
    // 23 bought when nobody came after: nothing to follow, so nothing to tell.
    expect((await written(db.pool, now)).get(wallet(23))).toEqual({ roi: null, share: 0 });
  });

  test('answers tell it: profile, comparison, leaderboard', async () => {
    const roi = rounded((100 * 35) / 45);
    const by = { wallet: wallet(20), include_positions: false, include_trades: false, trades_limit: 5, explain: false };
    const profile = await ask<{ profile: Record<string, unknown> }>(db, 'wallets/profile', now, by);
    expect(profile.data.profile.followable_roi_pct).toBe(roi);
    const compared = await ask<{ wallets: { profile: Record<string, unknown> }[] }>(db, 'wallets/compare', now, {
      wallets: [wallet(20), wallet(23)],
      include_shared_positions: false,
      timeframe: null,
    });
    expect(compared.data.wallets.map((one) => one.profile.followable_roi_pct)).toEqual([roi, null]);
    const board = await ask<{ wallet: string; followable_roi_pct: number }[]>(db, 'wallets/top-performers', now, {
      timeframe: '30d',
      metric: 'pnl',
      min_trades: 1,
      limit: 50,
      include_bots: true,
    });
    expect(board.data.find((row) => row.wallet === wallet(20))?.followable_roi_pct).toBe(roi);
  });

  test('what takers paid is stated by another feed later: followers paid it too', async () => {
    const stated = { ...trade(703, 7, 0, 21, 'BUY', 10, 0.42, 3 * DAY - 60), type: 'TRADE', usdcSize: 5.2 };
    expect(await loadRecords(db.pool, 'activity.json', [stated])).toMatchObject({ report: { duplicates: 1 } });
    await prediction.score?.(db.pool, now, () => undefined);
    // 10 for 5.20 and 30 at 0.46: 0.475 a share.
    expect((await written(db.pool, now)).get(wallet(20))?.roi).toEqual(rounded((100 * (30 + 50 - 47.5)) / 47.5));
  });

  test('a fill is corrected: taken back, and told anew at another price', async () => {
    const at = NOW - 3 * DAY + 659;
    await inTransaction(db.pool, async (client) => {
      expect(await retractFills(client, { from: new Date(at * 1_000), to: new Date((at + 1) * 1_000) })).toBe(1);
    });
    await loadRecords(db.pool, 'trades.json', [trade(704, 7, 0, 22, 'SELL', 30, 0.5, NOW - at)]);
    await prediction.score?.(db.pool, now, () => undefined);
    // 10 for 5.20 and 30 at 0.50: 0.505 a share.
    expect((await written(db.pool, now)).get(wallet(20))?.roi).toEqual(rounded((100 * (30 + 50 - 50.5)) / 50.5));
  });

  test.each(['told before', 'never told'])(
    'USDC is stated while a run goes on, of a day that was %s: the reader does not wait, the next run tells it',
    async (day) => {
      const { pool } = db;
      const paid = day === 'told before' ? 5 : 5.5;
      // What makes the run tell the day: a fill that came late, or that it is told for the first time.
      if (day === 'told before') await loadRecords(pool, 'trades.json', [trade(790, 7, 1, 24, 'BUY', 1, 0.5, 3 * DAY - 20_000)]);
      else await pool.query('DELETE FROM pm_follow_state');
      // The run stops where it writes the first scores.
      await pool.query(`CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END';
CREATE TRIGGER held BEFORE INSERT ON pm_wallet_score FOR EACH STATEMENT EXECUTE FUNCTION held()`);
      const holder = await pool.connect();
      await holder.query('SELECT pg_advisory_lock(4711)');
      const waiting = async (): Promise<number> =>
        (await pool.query('SELECT FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()')).rowCount ?? 0;
      const run = prediction.score?.(pool, now, () => undefined);
      await until(async () => (await waiting()) === 1, 'the run is held');
      let read = false;
      const stated = { ...trade(703, 7, 0, 21, 'BUY', 10, 0.42, 3 * DAY - 60), type: 'TRADE', usdcSize: paid };
      const reader = loadRecords(pool, 'activity.json', [stated]).then(() => (read = true));
      await until(async () => read || (await waiting()) > 1, 'the reader is done, or waits');
      const waited = !read;
      await holder.query('SELECT pg_advisory_unlock(4711)');
      holder.release();
      await Promise.all([run, reader]);
      await pool.query('DROP TRIGGER held ON pm_wallet_score; DROP FUNCTION held()');
      expect(waited).toBe(false);
      await prediction.score?.(pool, now, () => undefined);
      // 10 for what is stated and 30 at 0.50.
      const price = (paid + 15) / 40;
      expect((await written(pool, now)).get(wallet(20))?.roi).toEqual(rounded((100 * (30 + 50 - 100 * price)) / (100 * price)));
    },
  );

  test('a position that ended for the wallet and not for its followers is left out', () => {
    const row = {
      condition_id: 'c',
      token_id: 't',
      trades: 2,
      followed: 1,
      buy_shares: '10',
      buy_usdc: '4',
      sell_shares: '0',
      sell_usdc: '0',
    };
    expect(followableOf([row], new Map([['c|t', null]]))).toEqual({ roi_pct: null, share: 0.5 });
    expect(followableOf([row], new Map([['c|t', 0]]))).toEqual({ roi_pct: -100, share: 0.5 });
    // Sold twice what a follower had: half of the proceeds are its own.
    for (const payout of [null, 1])
      expect(followableOf([{ ...row, sell_shares: '20', sell_usdc: '12' }], new Map([['c|t', payout]]))).toEqual({
        roi_pct: 50,
        share: 0.5,
      });
    expect(followableOf([row], new Map())).toEqual({ roi_pct: null, share: 0.5 });
    expect(followableOf([], new Map())).toEqual({ roi_pct: null, share: null });
  });
});

describe('a simulated world', () => {
  const START = new Date('2026-02-01T00:00:00Z');
  const end = new Date('2026-02-09T10:30:00Z');
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    await loadWorld(db.pool, 'prediction', 15_000, START, end);
  });
  afterAll(() => db.drop());

  const check = async (): Promise<void> => {
    const [kept, plain] = [await written(db.pool, end), await counted(db.pool, end)];
    for (const [of, { roi, share }] of kept) {
      const truth = plain.get(of) ?? { roi: null, share: null };
      expect([of, share]).toEqual([of, rounded(truth.share)]);
      expect([of, roi]).toEqual([of, rounded(truth.roi)]);
    }
    expect([...kept.values()].filter(({ roi }) => roi !== null).length).toBeGreaterThan(20);
  };

  test('is told as by looking at each fill, in one run', async () => {
    await prediction.score?.(db.pool, end, () => undefined);
    await check();
  });

  test('a run every few days tells the same, also after fills that came late', async () => {
    const whole = await written(db.pool, end);
    const days = (): Promise<unknown> =>
      db.pool.query('SELECT * FROM pm_follow_day ORDER BY wallet, condition_id, token_id, day').then(({ rows }) => rows);
    const before = await days();
    await db.pool.query('DELETE FROM pm_follow_day; DELETE FROM pm_follow_state');
    for (const hours of [30, 49.1, 100, 168.2])
      await prediction.score?.(db.pool, new Date(START.getTime() + hours * 3_600_000), () => undefined);
    await prediction.score?.(db.pool, end, () => undefined);
    expect(await days()).toEqual(before);
    expect(await written(db.pool, end)).toEqual(whole);
    // A fill of the third day that was not seen before: its own day is told anew, others stay as they are.
    const { rows } = await db.pool.query<Record<string, unknown>>(
      `SELECT trade.*, extract(epoch FROM "timestamp")::int AS at, outcome, outcome_index FROM pm_trade AS trade JOIN pm_outcome USING (condition_id, token_id)
       WHERE side = 'BUY' AND "timestamp" BETWEEN '2026-02-03T06:00:00Z' AND '2026-02-03T18:00:00Z' ORDER BY "timestamp" LIMIT 1`,
    );
    const one = rows[0] as Record<string, unknown>;
    await loadRecords(db.pool, 'trades.json', [
      {
        proxyWallet: wallet(4_242),
        side: 'BUY',
        asset: one.token_id,
        conditionId: one.condition_id,
        size: 33,
        price: 0.5,
        timestamp: Number(one.at) + 90,
        title: 'x',
        slug: 'x',
        eventSlug: 'x',
        outcome: one.outcome,
        outcomeIndex: one.outcome_index,
        transactionHash: `0x${'7'.repeat(64)}`,
      },
    ]);
    await prediction.score?.(db.pool, end, () => undefined);
    await check();
    expect(await days()).not.toEqual(before);
  });

  test('of a day whose fills were all taken back nothing is left', async () => {
    const [from, to] = [new Date('2026-02-05T00:00:00Z'), new Date('2026-02-06T00:00:00Z')];
    await inTransaction(db.pool, (client) => retractFills(client, { from, to }));
    await prediction.score?.(db.pool, end, () => undefined);
    expect((await db.pool.query("SELECT * FROM pm_follow_day WHERE day = '2026-02-05'")).rows).toEqual([]);
    await check();
  });
});
