import { inTransaction } from '../../../../src/db/transaction';
import { sqlOf } from '../../../../src/db/sql';
import { tagCopiers } from '../../../../src/venues/prediction/scoring/copy-job';
import { testDatabase } from '../../../support/database';
import { call, callForError } from '../markets/call';
import { NOW, iso, market, now, trade } from '../small-world';
import { condition, loadRecords, token, wallet } from '../support';

const HOUR = 3_600;
const DAY = 86_400;

describe('copies by hand', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let n = 0;
  const fill = (by: number, of: number, side: 'BUY' | 'SELL', size: number, price: number, ago: number): Record<string, unknown> =>
    trade((n += 1), of, 0, by, side, size, price, ago);
  const ask = (sent: Record<string, unknown>) => call<Record<string, unknown>[]>(db, 'wallets/copy-traders', now, sent);

  beforeAll(async () => {
    db = await testDatabase();
    await loadRecords(
      db.pool,
      'markets.json',
      [41, 42, 43, 44, 45].map((id) => market(id)),
    );
    const led = [fill(1, 41, 'BUY', 100, 0.5, 40_000), fill(1, 42, 'BUY', 100, 0.4, 30_000), fill(1, 43, 'BUY', 100, 0.3, 20_000), fill(1, 41, 'SELL', 100, 0.6, 10_000)]; // prettier-ignore
    // Ten, ten, fifteen minutes and 700 seconds later, and one idea of its own.
    const copier = [fill(2, 41, 'BUY', 50, 0.52, 39_400), fill(2, 42, 'BUY', 50, 0.41, 29_400), fill(2, 43, 'BUY', 50, 0.33, 19_100), fill(2, 41, 'SELL', 50, 0.58, 9_300), fill(2, 44, 'BUY', 10, 0.5, 5_000)]; // prettier-ignore
    const random = [fill(3, 41, 'BUY', 10, 0.5, 39_000), ...[1, 2, 3].map((time) => fill(3, 45, 'BUY', 10, 0.5, time * 1_000))];
    // A market maker that sits on every trade, tagged so by its scores; its prices are the last ones.
    const maker = [fill(4, 41, 'BUY', 10, 0.5, 38_000), fill(4, 42, 'BUY', 10, 0.45, 28_000), fill(4, 43, 'BUY', 10, 0.35, 18_000), fill(4, 41, 'SELL', 10, 0.6, 8_000)]; // prettier-ignore
    // Trades before the leader as often as after; and one that held all of it before.
    const ahead = [41, 42, 43].flatMap((id, place) => [fill(5, id, 'BUY', 10, 0.4, 40_500 - place * 10_000), fill(5, id, 'BUY', 10, 0.4, 39_500 - place * 10_000)]); // prettier-ignore
    const holder = [41, 42, 43].flatMap((id, place) => [fill(6, id, 'BUY', 10, 0.4, 90_000), fill(6, id, 'BUY', 10, 0.4, 39_600 - place * 10_000)]); // prettier-ignore
    await loadRecords(db.pool, 'trades.json', [...led, ...copier, ...random, ...maker, ...ahead, ...holder]);
    for (const [by, score, tags] of [[2, 71.5, []], [4, null, ['market_maker']]] as const)
      await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, '2026-03-10', $2, $3, 'pm-2026.3')", [wallet(by), score, tags]); // prettier-ignore
  });
  afterAll(() => db.drop());

  test('the copier is found; machines, leaders, holders and chance are not', async () => {
    const { data, meta } = await ask({ wallet: wallet(1) });
    // 4 of 5 trades copy, 4 of 4 are copied. Of the 25 fills of others 15 come after a trade of the leader: 0.6, so lift 4/3 and
    // p = 5·0.6⁴·0.4 + 0.6⁵. Lags 600, 600, 900, 700: mean 700, deviation √20,000. Score: 0.32 + 0.2 + 0.2·(4/3)/10 + 0.2·(1 − √20,000/700).
    expect(data).toEqual([
      {
        wallet: wallet(2), overlap_trades: 4, precision: 0.8, overlap_pct: 100, lift: 1.333333, p_value: 0.33696, copy_score: 0.706261,
        avg_lag_seconds: 700, median_lag_seconds: 650, wallet_score: 71.5,
        // 26 + 20.5 + 16.5 put in; 0.02, 0.01, 0.03 dearer and 0.02 cheaper; 3 made by the sale, 2 and 1 at the last prices.
        copied_usdc: 63, avg_slippage: 0.01, follower_pnl_usdc: 6,
        copied_tokens: [[41, 600], [42, 600], [43, 900]].map(([id, lag_seconds]) => ({ token_id: token(id as number, 0), condition_id: condition(id as number), question: `Question ${id}?`, outcome: 'Yes', lag_seconds })),
      },
    ]); // prettier-ignore
    expect(meta).toMatchObject({ timeframe: '7d', count: 1, score_version: 'pm-2026.3' });
  });

  test('windows, lags and least copies', async () => {
    // Within twelve minutes: 600, 600, 700 seconds, 3 of 5 and 3 of 4, lift 0.6 / (9 / 25), 0.24 + 0.15 + 0.2·(5/3)/10 + 0.2·(1 − √(10,000/3)/(1,900/3)).
    const { data } = await ask({ wallet: wallet(1), max_lag_minutes: 12 });
    expect(data).toMatchObject([
      { wallet: wallet(2), overlap_trades: 3, precision: 0.6, overlap_pct: 75, lift: 1.666667, copy_score: 0.605101 },
    ]);
    // Within ten there are two, 0.16 + 0.1 + 0.2·(0.4 / 0.32)/10 + 0.2: not half.
    expect(
      (await callForError(db, 'wallets/copy-traders', now, { wallet: wallet(1), max_lag_minutes: 10, min_overlap_trades: 2 })).code,
    ).toBe('empty_result');
    // The last six hours hold two trades of the leader and three of the copier; 6 of the 11 fills of others come after the leader's.
    const { data: late } = await ask({ wallet: wallet(1), timeframe: '6h', min_overlap_trades: 2 });
    expect(late).toMatchObject([{ wallet: wallet(2), overlap_trades: 2, precision: 0.666667, overlap_pct: 100, lift: 1.222222, copied_usdc: 16.5 }]); // prettier-ignore
    expect((await callForError(db, 'wallets/copy-traders', now, { wallet: wallet(1), min_overlap_trades: 5 })).code).toBe('empty_result');
  });

  test('of a leader that trades much the newest trades are compared, from a whole hour on', async () => {
    const late = [41, 42, 43].flatMap((id, place) => [fill(7, id, 'BUY', 10, 0.5, 11 * DAY - place * 5_000), fill(9, id, 'BUY', 10, 0.5, 11 * DAY - place * 5_000 - 600)]); // prettier-ignore
    const early = [41, 42, 43].flatMap((id, place) => [fill(7, id, 'BUY', 10, 0.5, 20 * DAY - place * 5_000), fill(8, id, 'BUY', 10, 0.5, 20 * DAY - place * 5_000 - 600)]); // prettier-ignore
    const ask7 = { wallet: wallet(7), timeframe: 'all' };
    const many = Array.from({ length: 1_997 }, (_, second) => fill(7, 44, 'BUY', 1, 0.5, 12 * DAY - 600 - second));
    await loadRecords(db.pool, 'trades.json', [...early, ...many, ...late.filter((_, place) => place % 2 === 0)]);
    // 2,003 fills of its own: the one before the newest 2,000 is the last early one, and nobody copies all but that.
    expect((await callForError(db, 'wallets/copy-traders', now, ask7)).code).toBe('empty_result');
    await loadRecords(db.pool, 'trades.json', [
      fill(7, 44, 'BUY', 1, 0.5, 12 * DAY - 600 - 1_997),
      ...late.filter((_, place) => place % 2 === 1),
    ]);
    const { data, meta } = await ask(ask7);
    // 3 of 3 trades and of 2,001; 3 of the 32 fills of others since then come after the leader's.
    expect(data).toMatchObject([
      { wallet: wallet(9), overlap_trades: 3, precision: 1, overlap_pct: 0.149925, lift: 10.666667, copy_score: 0.8003 },
    ]);
    expect(meta).toMatchObject({ timeframe: 'all', window: { from: new Date(iso(NOW - 12 * DAY)) }, count: 1 });
    expect(meta.warnings).toEqual([expect.stringMatching(/more than 2000 times/)]);
  });

  test('a run counts and tags those that are listed: no machines', async () => {
    await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version, breakdown) VALUES ($1, '2026-03-10', 70, '{}', 'pm-2026.3', '{}')", [wallet(1)]); // prettier-ignore
    await inTransaction(db.pool, (client) => tagCopiers(sqlOf(client), now));
    expect((await ask({ wallet: wallet(1), timeframe: '30d' })).data.map((row) => row.wallet)).toEqual([wallet(2)]);
    const { rows } = await db.pool.query("SELECT wallet, tags, (breakdown ->> 'copy_followers')::int AS followers FROM pm_wallet_score ORDER BY wallet"); // prettier-ignore
    expect(rows).toEqual([
      { wallet: wallet(1), tags: [], followers: 1 },
      { wallet: wallet(2), tags: ['copy_trader'], followers: null },
      { wallet: wallet(4), tags: ['market_maker'], followers: null },
    ]);
  });

  test('nobody copies wallet 3; wallet 99 never traded', async () => {
    expect((await callForError(db, 'wallets/copy-traders', now, { wallet: wallet(3) })).code).toBe('empty_result');
    expect((await callForError(db, 'wallets/copy-traders', now, { wallet: wallet(99) })).code).toBe('not_found');
  });
});

test('who trades before the leader half as often as after it does not copy it', async () => {
  const db = await testDatabase();
  let n = 0;
  const fill = (by: number, of: number, side: 'BUY' | 'SELL', ago: number): Record<string, unknown> =>
    trade((n += 1), of, 0, by, side, 100, 0.5, ago);
  await loadRecords(db.pool, 'markets.json', [41, 42, 43, 44].map((id) => market(id))); // prettier-ignore
  const bought = (by: number, later: number): unknown[] => [41, 42, 43, 44].map((id, place) => fill(by, id, 'BUY', 40_000 - 5_000 * place - later)); // prettier-ignore
  await loadRecords(db.pool, 'trades.json', [
    ...bought(1, 0),
    fill(1, 41, 'SELL', 15_000),
    fill(1, 42, 'SELL', 10_000),
    // Both buy ten minutes after the leader; one sells twice, the other once ten minutes before it.
    ...bought(2, 600),
    fill(2, 41, 'SELL', 15_600),
    fill(2, 42, 'SELL', 10_600),
    ...bought(3, 600),
    fill(3, 41, 'SELL', 15_600),
  ]);
  const { data } = await call<Record<string, unknown>[]>(db, 'wallets/copy-traders', now, { wallet: wallet(1) });
  expect(data).toMatchObject([{ wallet: wallet(3), overlap_trades: 4, precision: 0.8 }]);
  await db.drop();
});

test('each trade of the leader on a token is copied once, however many somebody makes after it', async () => {
  const db = await testDatabase();
  let n = 0;
  const fill = (by: number, of: number, side: 'BUY' | 'SELL', ago: number): Record<string, unknown> =>
    trade((n += 1), of, 0, by, side, side === 'BUY' ? 100 : 10, 0.5, ago);
  await loadRecords(db.pool, 'markets.json', [41, 42].map((id) => market(id))); // prettier-ignore
  // Two in one hour, two at other times; and one on another token.
  const sold = [40_000, 38_000, 20_000, 10_000];
  await loadRecords(db.pool, 'trades.json', [
    ...[1, 2].map((by) => fill(by, 41, 'BUY', 100_000 - 10_000 * by)),
    ...sold.map((ago) => fill(1, 41, 'SELL', ago)),
    ...sold.map((ago) => fill(2, 41, 'SELL', ago - 600)),
    ...[1, 3].map((by) => fill(by, 42, 'BUY', 100_000 - 10_000 * by)),
    fill(1, 42, 'SELL', 30_000),
    ...[1, 2, 3, 4].map((minutes) => fill(3, 42, 'SELL', 30_000 - 60 * minutes)),
  ]);
  const { data } = await call<Record<string, unknown>[]>(db, 'wallets/copy-traders', now, { wallet: wallet(1) });
  expect(data).toMatchObject([{ wallet: wallet(2), overlap_trades: 4, precision: 0.8 }]);
  const { data: least } = await call<Record<string, unknown>[]>(db, 'wallets/copy-traders', now, { wallet: wallet(1), min_overlap_trades: 1 }); // prettier-ignore
  // One of five copied, one of seven: 0.08 + 0.2/7 + 0.2·(0.2/0.8)/10 is not half, with any regularity (here none).
  expect(least.map((row) => row.wallet)).toEqual([wallet(2)]);
  await db.drop();
});

describe('calls by hand', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  const won = { createdAt: iso(NOW - 60 * DAY), closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - DAY), umaResolutionStatus: 'resolved' }; // prettier-ignore
  const ask = (sent: Record<string, unknown> = {}) => call<Record<string, unknown>[]>(db, 'wallets/alpha-callers', now, sent);

  beforeAll(async () => {
    db = await testDatabase();
    await loadRecords(db.pool, 'markets.json', [
      market(50, { ...won, tags: [{ slug: 'politics' }] }),
      market(51, { ...won, outcomePrices: '["0", "1"]', tags: [{ slug: 'crypto' }] }),
      // Never trended; refunded.
      market(52, won),
      market(53, { ...won, outcomePrices: '["0.5", "0.5"]' }),
    ]);
    // $300 a day from 30 days ago on, so that every 24 hours have 300; 2,000 more three days ago, 5 hours past noon: 2,300 are more than three times 300.
    const crowd = [50, 51, 52, 53].flatMap((id) => Array.from({ length: 29 }, (_, day) => trade(id * 100 + day, id, 0, 9, 'BUY', 600, 0.5, (30 - day) * DAY))); // prettier-ignore
    const surge = [50, 51, 53].map((id) => trade(id * 100 + 50, id, 0, 8, 'BUY', 3_200, 0.625, 3 * DAY - 5 * HOUR));
    await loadRecords(db.pool, 'trades.json', [
      ...crowd,
      ...surge,
      // The caller: right on 50 with $200, later a little more, and wrong on 51 with $150.
      trade(1, 50, 0, 1, 'BUY', 1_000, 0.2, 20 * DAY - 5 * HOUR),
      trade(2, 50, 0, 1, 'BUY', 500, 0.3, 15 * DAY),
      trade(3, 51, 0, 1, 'BUY', 375, 0.4, 12 * DAY),
      // Too late, too dear, wrong, too small, after it trended, before one that did not, before a refund.
      trade(4, 50, 0, 2, 'BUY', 1_000, 0.2, 4 * DAY),
      trade(5, 50, 0, 3, 'BUY', 500, 0.51, 18 * DAY),
      trade(6, 50, 1, 4, 'BUY', 500, 0.5, 16 * DAY),
      trade(7, 50, 0, 5, 'BUY', 100, 0.5, 14 * DAY),
      trade(8, 50, 0, 6, 'BUY', 500, 0.45, 2.5 * DAY),
      trade(9, 52, 0, 7, 'BUY', 500, 0.4, 20 * DAY),
      trade(10, 53, 0, 7, 'BUY', 500, 0.4, 20 * DAY),
    ]);
    await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, version, win_rate) VALUES ($1, '2026-03-10', 64, 'pm-2026.3', 0.75)", [wallet(1)]); // prettier-ignore
  });
  afterAll(() => db.drop());

  /** The crowd's own purchases at 0.5 are early and right too. */
  const but = (rows: Record<string, unknown>[], by: number): Record<string, unknown>[] => rows.filter((row) => row.wallet !== wallet(by));

  test('early, cheap, right and before the crowd', async () => {
    const { data, meta } = await ask();
    // 20 days less 5 hours before now, resolved a day ago, trended at the end of the hour of the surge. One of two early bets was right: lower bound
    // (0.5 + z²/4 − z·√(0.125 + z²/16)) / (1 + z²/2) = 0.1208…, z = 1.645; score 40·0.1208 + 20·log 5 + 20·(18.79 / 30) + 10·log 2.
    expect(but(data, 9)).toEqual([
      {
        wallet: wallet(1), market_question: 'Question 50?', condition_id: condition(50), entry_date: iso(NOW - 20 * DAY + 5 * HOUR), days_before_resolution: expect.closeTo(19 - 5 / 24, 6),
        bet_size_usdc: 200, winning_outcome: 'Yes', wallet_score: 64, win_rate: 0.75, entry_price: 0.2, price_multiple: 5, profit_usdc: 800,
        trend_started_at: iso(NOW - 3 * DAY + 6 * HOUR), days_before_trend: expect.closeTo(17 + 1 / 24, 6), calls: 1, hit_rate: 0.5, hit_rate_lb: expect.closeTo(0.12085, 5), alpha_score: 34.4, category: 'Politics',
      },
    ]); // prettier-ignore
    expect(meta).toMatchObject({ count: data.length, score_version: 'pm-2026.3' });
    // The crowd called 50 and was wrong on 51; 52 counts as right though it never trended.
    expect(data.find((row) => row.wallet === wallet(9))).toMatchObject({ condition_id: condition(50), calls: 1, hit_rate: 0.666667, entry_date: iso(NOW - 30 * DAY) }); // prettier-ignore
  });

  test('parameters widen and narrow', async () => {
    const names = async (sent: Record<string, unknown>): Promise<unknown[]> => but((await ask(sent)).data, 9).map((row) => row.wallet);
    expect(await names({ min_days_early: 3 })).toEqual([wallet(1), wallet(2)]);
    expect(await names({ min_bet_usdc: 50 })).toEqual([wallet(1), wallet(5)]);
    // After the surge: wallet 6 stays out.
    expect(new Set(await names({ min_days_early: 1, min_bet_usdc: 0 }))).toEqual(new Set([wallet(1), wallet(2), wallet(5)]));
    expect(await names({ category: 'Politics' })).toEqual([wallet(1)]);
    for (const sent of [{ category: 'Crypto' }, { min_calls: 2 }, { min_days_early: 30 }])
      expect((await callForError(db, 'wallets/alpha-callers', now, sent)).code).toBe('empty_result');
    const before = new Date((NOW - DAY - 1) * 1_000);
    expect((await callForError(db, 'wallets/alpha-callers', before)).code).toBe('empty_result');
  });

  test('a millionth of a share for less than half a millionth of a dollar is no bet', async () => {
    await loadRecords(db.pool, 'dust.json', [trade(5_500, 50, 0, 34, 'BUY', 0.000_001, 0.4, 17 * DAY)]);
    const { data } = await ask({ min_bet_usdc: 0, limit: 100 });
    expect(data.map((row) => row.wallet)).toEqual(expect.arrayContaining([wallet(1), wallet(5)]));
    expect(data.map((row) => row.wallet)).not.toContain(wallet(34));
  });

  test('of two early purchases in one second that of the first transaction by id is the call', async () => {
    // One of $150 at 0.3 and one of $160 at 0.4, told in either order.
    const at = 16 * DAY;
    const dear = (n: number, by: number): Record<string, unknown> => trade(n, 50, 0, by, 'BUY', 400, 0.4, at);
    const cheap = (n: number, by: number): Record<string, unknown> => trade(n, 50, 0, by, 'BUY', 500, 0.3, at);
    const wallets = Array.from({ length: 16 }, (_, n) => 100 + n);
    await loadRecords(
      db.pool,
      'second.json',
      wallets.flatMap((by) => [(by % 2 === 0 ? dear : cheap)(2 * by, by), (by % 2 === 0 ? cheap : dear)(2 * by + 1, by)]),
    );
    const { data } = await ask({ limit: 100 });
    const prices = wallets.map((by) => data.find((row) => row.wallet === wallet(by))?.entry_price);
    expect(prices).toEqual(wallets.map((by) => (by % 2 === 0 ? 0.4 : 0.3)));
  });

  test('what an empty answer suggests has an answer', async () => {
    const suggested = async (sent: Record<string, unknown>): Promise<unknown> => {
      const { suggestion } = (await callForError(db, 'wallets/alpha-callers', now, sent)).context;
      await ask({ ...sent, ...suggestion });
      return suggestion;
    };
    expect(await suggested({ min_calls: 2 })).toEqual({ min_calls: 1 });
    expect(await suggested({ category: 'Politics', min_days_early: 30 })).toEqual({ min_days_early: 7 });
    // Of it there was no right call ever, of those that are right nobody had two.
    expect(await suggested({ category: 'Crypto' })).toEqual({ category: null });
    expect(await suggested({ category: 'Crypto', min_calls: 2 })).toEqual({ min_calls: 1, category: null });
  });

  test('what is taken after the end, in the same hour, is no part of the life of a market', async () => {
    // As quiet as 52, but resolved at half past ten; $3,000 are taken ten minutes after that.
    await loadRecords(db.pool, 'quiet.json', [market(54, { ...won, closedTime: iso(NOW - 1.5 * HOUR) })]);
    const crowd = Array.from({ length: 30 }, (_, day) => trade(5_400 + day, 54, 0, 9, 'BUY', 600, 0.5, (30 - day) * DAY));
    await loadRecords(db.pool, 'quiet-trades.json', [
      ...crowd,
      trade(5_450, 54, 0, 31, 'BUY', 500, 0.4, 20 * DAY),
      trade(5_451, 54, 0, 32, 'BUY', 3_000, 1, 1.5 * HOUR - 600),
    ]);
    const { data } = await ask({ limit: 100 });
    expect(data.filter((row) => row.condition_id === condition(54))).toEqual([]);
  });
});
