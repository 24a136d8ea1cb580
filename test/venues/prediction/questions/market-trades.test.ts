import type { AnswerMeta } from '../../../../src/venues/venue';
import { testDatabase } from '../../../support/database';
import { ask, askForError, explore } from '../ask';
import { NOW, iso, loadSmallWorld, market, move, now, trade } from '../small-world';
import { condition, loadRecords, token, tx, wallet } from '../support';

interface Row {
  tx_hash: string;
  wallet: string;
  token_id: string | null;
  outcome: string | null;
  side: string;
  price: number;
  size: number;
  usdc_size: number;
  timestamp: string;
  wallet_score: number | null;
  win_rate: number | null;
  wallet_tags: string[];
  trade_id: string;
  outcome_index: number | null;
  is_taker: boolean | null;
  fee_usdc: null;
  realized_pnl_usdc: number | null;
}
interface Answer {
  condition_id: string;
  question: string;
  category: string;
  trade_count: number;
  total_volume: number;
  trades: Row[];
}

const defaults = { condition_id: condition(1), timeframe: '24h', min_usdc: 0, smart_money_only: false, limit: 100 };

describe('markets/trades', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    await loadSmallWorld(db.pool);
  });
  afterAll(() => db.drop());

  const trades = (variables: Record<string, unknown> = {}): ReturnType<typeof ask<Answer>> =>
    ask<Answer>(db, 'markets/trades', now, { ...defaults, ...variables });
  /** Transactions of an answer by number. */
  const numbers = (answer: Answer): number[] => answer.trades.map((row) => Number(BigInt(row.tx_hash) - BigInt(tx(0))));

  test('lists every fill of the window newest first, and counts each match once', async () => {
    const { data, meta } = await trades();
    expect(numbers(data)).toEqual([1, 11, 11, 2, 13, 3, 4, 5]);
    // 13 is known from its wallet's history only: 12,000.5 + 3 + 3 + 55 + 20 + 15,000 + 5.2.
    expect({ ...data, trades: [] }).toEqual({
      condition_id: condition(1),
      question: 'Question 1?',
      category: 'Politics',
      trade_count: 7,
      total_volume: 27_086.7,
      trades: [],
    });
    expect(meta).toMatchObject({
      timeframe: '24h',
      window: { from: new Date(now.getTime() - 86_400_000), to: now },
      count: 8,
      next_cursor: null,
      score_version: 'pm-2026.3',
      warnings: ['1 row is in no list of takers: listed, but not counted in trade_count and total_volume.'],
    });
  });

  test('a row in full', async () => {
    const { data } = await trades();
    expect(data.trades[0]).toEqual({
      tx_hash: tx(1),
      wallet: wallet(1),
      token_id: token(1, 0),
      outcome: 'Yes',
      side: 'BUY',
      price: 0.6,
      size: 20_000,
      usdc_size: 12_000.5,
      timestamp: iso(NOW - 10),
      wallet_score: 80,
      win_rate: 0.625,
      wallet_tags: ['elite', 'whale'],
      trade_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      outcome_index: 0,
      is_taker: true,
      fee_usdc: null,
      realized_pnl_usdc: null,
    });
    expect(data.trades[4]).toMatchObject({
      wallet: wallet(6),
      side: 'SELL',
      is_taker: null,
      wallet_score: null,
      win_rate: null,
      wallet_tags: ['market_maker'],
      usdc_size: 225,
      outcome: 'No',
    });
    expect(data.trades[5]).toMatchObject({ wallet: wallet(3), wallet_score: null, wallet_tags: [], outcome: 'No', outcome_index: 1 });
  });

  test.each([
    ['1h', [1, 11, 11, 2, 13, 3]],
    ['7d', [1, 11, 11, 2, 13, 3, 4, 5, 6]],
    ['all', [1, 11, 11, 2, 13, 3, 4, 5, 6]],
    ['today', [1, 11, 11, 2, 13, 3, 4]],
  ])('timeframe %s', async (timeframe, expected) => {
    expect(numbers((await trades({ timeframe })).data)).toEqual(expected);
  });

  test('all: the whole life up to the clock, whatever came later, and of one side, outcome or size alone that part', async () => {
    const whole = await trades({ timeframe: 'all' });
    expect(whole.data).toMatchObject({ trade_count: 8, total_volume: 27_090.2 });
    expect(whole.meta.warnings).toHaveLength(1);
    // At the second of 13, which is known from its wallet's history alone.
    const then = await ask<Answer>(db, 'markets/trades', new Date((NOW - 150) * 1_000), { ...defaults, timeframe: 'all' });
    expect(numbers(then.data)).toEqual([3, 4, 5, 6]);
    expect(then.data).toMatchObject({ trade_count: 4, total_volume: 15_028.7 });
    expect(then.meta.warnings).toEqual([]);
    const parts = [{ side: 'BUY' }, { outcome: 'No' }, { min_usdc: 10 }, { smart_money_only: true }];
    const counts = await Promise.all(parts.map(async (part) => (await trades({ timeframe: 'all', ...part })).data));
    expect(counts.map(({ trade_count, total_volume }) => [trade_count, total_volume])).toEqual([[6, 27_065], [1, 20], [4, 27_075.5], [4, 12_061.5]]); // prettier-ignore
  });

  test('side, min_usdc and outcome', async () => {
    expect(numbers((await trades({ side: 'SELL' })).data)).toEqual([13, 3, 5]);
    expect(numbers((await trades({ min_usdc: 55 })).data)).toEqual([1, 2, 13, 4]);
    expect((await trades({ min_usdc: 55 })).data).toMatchObject({ trade_count: 3, total_volume: 27_055.5 });
    for (const outcome of ['No', 'no', token(1, 1)]) expect(numbers((await trades({ outcome })).data)).toEqual([13, 3]);
    expect(numbers((await trades({ outcome: 'Yes', side: 'SELL' })).data)).toEqual([5]);
    const error = await askForError(db, 'markets/trades', now, { ...defaults, outcome: 'Maybe' });
    expect([error.code, error.context.details?.[0]]).toEqual([
      'invalid_parameter',
      { param: 'outcome', issue: 'is no outcome of this market', allowed: ['Yes', 'No'], got: 'Maybe' },
    ]);
  });

  test('smart money: every row of wallets with 60 or more in the newest run', async () => {
    const { data } = await trades({ smart_money_only: true });
    expect(numbers(data)).toEqual([1, 11, 11, 2]);
    expect(data).toMatchObject({ trade_count: 4, total_volume: 12_061.5 });
    // As of the day before, another run counts: wallet 5 with 90.
    const yesterday = new Date(Date.UTC(2026, 2, 9, 23));
    const then = await ask<Answer>(db, 'markets/trades', yesterday, { ...defaults, smart_money_only: true, timeframe: '7d' });
    expect(numbers(then.data)).toEqual([6]);
    expect(then.meta.score_version).toBe('older');
  });

  test('redemptions only when asked for: the winner at one dollar, a loser at nothing, a refund at its share', async () => {
    const won = await trades({ condition_id: condition(2), side: 'REDEEM' });
    expect(won.data).toMatchObject({ category: 'Sports', trade_count: 2, total_volume: 25_000 });
    const byWallet = Object.fromEntries(won.data.trades.map((row) => [row.wallet, row]));
    expect(byWallet[wallet(1)]).toMatchObject({
      side: 'REDEEM',
      price: 1,
      outcome: 'Blue Owls',
      token_id: token(2, 1),
      outcome_index: 1,
      size: 25_000,
      is_taker: null,
    });
    expect(byWallet[wallet(6)]).toMatchObject({ side: 'REDEEM', price: 0, outcome: null, token_id: null, usdc_size: 0 });
    expect(numbers((await trades({ condition_id: condition(2) })).data)).toEqual([7, 8]);
    // Shares that lost are no shares of the winner.
    const { data: winners } = await trades({ condition_id: condition(2), side: 'REDEEM', outcome: 'Blue Owls' });
    expect([winners.trade_count, winners.trades.map(({ outcome }) => outcome)]).toEqual([1, ['Blue Owls']]);
    expect(
      (await askForError(db, 'markets/trades', now, { ...defaults, condition_id: condition(2), side: 'REDEEM', outcome: 'Red Foxes' }))
        .code,
    ).toBe('empty_result');
    const refund = await trades({ condition_id: condition(3), side: 'REDEEM' });
    expect(refund.data.trades).toMatchObject([{ price: 0.5, token_id: null, outcome: null, size: 400, usdc_size: 200 }]);
  });

  test('unknown market, and known market without rows', async () => {
    expect((await askForError(db, 'markets/trades', now, { ...defaults, condition_id: condition(99) })).code).toBe('not_found');
    const quiet = await askForError(db, 'markets/trades', now, { ...defaults, condition_id: condition(4) });
    expect([quiet.code, quiet.context.suggestion]).toEqual(['empty_result', { timeframe: '90d' }]);
    const tooLarge = await askForError(db, 'markets/trades', now, { ...defaults, min_usdc: 50_000 });
    // That fewer filters may help the gateway says of any question.
    expect([tooLarge.code, tooLarge.context.suggestion]).toEqual(['empty_result', undefined]);
    // Listed six hours ago: not known before.
    const before = new Date(now.getTime() - 7 * 3_600_000);
    expect((await askForError(db, 'markets/trades', before, { ...defaults, condition_id: condition(3) })).code).toBe('not_found');
  });

  test('a market known from its trades alone answers under its title', async () => {
    expect((await trades({ condition_id: condition(4), timeframe: '90d' })).data).toMatchObject({
      question: 'Question 4?',
      category: 'Other',
      trade_count: 1,
      total_volume: 3,
    });
  });

  test('pages neither repeat nor skip, nor change their totals, while rows arrive', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < 20; page += 1) {
      const later = new Date(now.getTime() + page * 60_000);
      const { data, meta }: { data: Answer; meta: AnswerMeta } = await ask<Answer>(db, 'markets/trades', later, {
        ...defaults,
        timeframe: '7d',
        limit: 2,
        cursor,
      });
      expect(data).toMatchObject({ trade_count: 8, total_volume: 27_090.2 });
      seen.push(...data.trades.map((row) => row.trade_id));
      cursor = meta.next_cursor;
      if (cursor === null) break;
      await loadRecords(db.pool, `late-${page}.json`, [trade(100 + page, 1, 0, 3, 'BUY', 10, 0.5, -60 * page - 5)]);
    }
    expect(seen).toHaveLength(9);
    expect(new Set(seen).size).toBe(9);
  });

  test('a cursor of another list, of the future or of the day before yesterday is refused', async () => {
    const { meta } = await trades({ limit: 2 });
    const cursor = meta.next_cursor as string;
    expect((await trades({ limit: 2, cursor })).data.trades).toHaveLength(2);
    const code = async (at: Date, variables: Record<string, unknown>): Promise<string> =>
      (await askForError(db, 'markets/trades', at, { ...defaults, ...variables })).code;
    expect(await code(now, { limit: 3, cursor })).toBe('invalid_parameter');
    expect(await code(now, { limit: 2, side: 'BUY', cursor })).toBe('invalid_parameter');
    expect(await code(new Date(now.getTime() - 61_000), { limit: 2, cursor })).toBe('invalid_parameter');
    expect(await code(new Date(now.getTime() + 86_400_001), { limit: 2, cursor })).toBe('invalid_parameter');
  });

  test('a process whose clock is behind reads on behind the first page of another', async () => {
    const { meta } = await trades({ limit: 2 });
    const second = { ...defaults, limit: 2, cursor: meta.next_cursor };
    const behind = await ask<Answer>(db, 'markets/trades', new Date(now.getTime() - 30_000), second);
    expect(behind.data).toEqual((await ask<Answer>(db, 'markets/trades', now, second)).data);
    expect(behind.meta.as_of).toEqual(meta.as_of);
  });

  test('analysts follow links from trades to markets and wallets', async () => {
    const answer = await explore<{ marketsTrades: { trades: unknown[] } }>(
      db,
      now,
      `{ marketsTrades(condition_id: "${condition(2)}", timeframe: "24h", min_usdc: 0, smart_money_only: false, limit: 10) { trades {
        wallet market { question status winning_outcome tags resolved_at outcomes { outcome token_id outcome_index payout } } wallet_profile { score tier tags first_trade } } } }`,
    );
    const market = {
      question: 'Question 2?',
      status: 'resolved',
      winning_outcome: 'Blue Owls',
      tags: ['nba'],
      resolved_at: iso(NOW - 5 * 3_600),
      outcomes: [
        { outcome: 'Red Foxes', token_id: token(2, 0), outcome_index: 0, payout: 0 },
        { outcome: 'Blue Owls', token_id: token(2, 1), outcome_index: 1, payout: 1 },
      ],
    };
    expect(answer.marketsTrades.trades).toEqual([
      {
        wallet: wallet(1),
        market,
        wallet_profile: { score: 80, tier: 'elite', tags: ['elite', 'whale'], first_trade: iso(NOW - 6 * 3_600) },
      },
      {
        wallet: wallet(6),
        market,
        wallet_profile: { score: null, tier: 'unscored', tags: ['market_maker'], first_trade: iso(NOW - 7 * 3_600) },
      },
    ]);
  });
});

describe('markets/trades, gains', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    const resolved = { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - 50), umaResolutionStatus: 'resolved' };
    await loadRecords(db.pool, 'markets.json', [market(1), market(2, resolved)]);
    await loadRecords(db.pool, 'trades.json', [
      trade(1, 1, 0, 9, 'BUY', 1, 0.7, 900),
      trade(2, 1, 1, 9, 'BUY', 1, 0.4, 890),
      trade(3, 1, 0, 1, 'BUY', 100, 0.5, 1_000),
      trade(4, 1, 0, 1, 'SELL', 40, 0.75, 600),
      trade(5, 1, 1, 2, 'SELL', 100, 0.5, 500),
      trade(6, 1, 0, 3, 'SELL', 5, 0.5, 400),
      trade(7, 2, 0, 1, 'BUY', 100, 0.6, 300),
    ]);
    await loadRecords(db.pool, 'activity.json', [move(8, 1, 2, 'SPLIT', 100, 100, 700), move(9, 2, 1, 'REDEEM', 100, 100, 40)]);
  });
  afterAll(() => db.drop());

  const gains = async (variables: Record<string, unknown>): Promise<Record<number, number | null>> => {
    const { data } = await ask<Answer>(db, 'markets/trades', now, { ...defaults, ...variables });
    return Object.fromEntries(data.trades.map((row) => [Number(BigInt(row.tx_hash) - BigInt(tx(0))), row.realized_pnl_usdc]));
  };

  test('of sales over average cost, splits priced by the last fills', async () => {
    // 4: 30 for what cost 20. 5: the split at 0.7 and 0.4 makes no shares cost 4/11 each. 6: never bought.
    expect(await gains({})).toEqual({ 1: null, 2: null, 3: null, 4: 10, 5: Number((50 - 400 / 11).toFixed(6)), 6: null });
  });

  test('of redemptions', async () => {
    expect(await gains({ condition_id: condition(2), side: 'REDEEM' })).toEqual({ 9: 40 });
  });
});
