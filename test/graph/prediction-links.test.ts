import type { Connection } from '../../src/lib/connection';
import { statementsOf } from '../support/statements';
import { testDatabase } from '../support/database';
import { explore } from '../venues/prediction/ask';
import { NOW, loadSmallWorld, now, trade } from '../venues/prediction/small-world';
import { condition, loadRecords, token, wallet } from '../venues/prediction/support';

let db: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  db = await testDatabase();
  await loadSmallWorld(db.pool);
});
afterAll(() => db.drop());

const ask = async <T>(source: string, at = now): Promise<T> => JSON.parse(JSON.stringify(await explore<T>(db, at, source))) as T;

const MARKET = `market(condition_id: "${condition(1)}")`;

test('from a market down to its wallets and back', async () => {
  const { market } = await ask<{ market: Record<string, never> }>(
    `{ ${MARKET} { condition_id category category_page { name markets { nodes { condition_id } } } event { slug markets { nodes { condition_id } } }
       outcomes { token_id condition_id current_price market { condition_id } trades(first: 1) { nodes { size } } holders(first: 3) { nodes { wallet shares } } }
       trades(first: 2) { nodes { wallet size side market { condition_id } wallet_profile { wallet score first_trade } outcome_token { token_id outcome } } page_info { has_next_page } }
       holders(first: 2) { nodes { wallet outcome shares wallet_profile { wallet } outcome_token { token_id } market { condition_id } trades { nodes { size side } } } } } }`,
  );
  expect(market).toEqual({
    condition_id: condition(1),
    category: 'Politics',
    category_page: { name: 'Politics', markets: { nodes: [{ condition_id: condition(1) }] } },
    event: { slug: 'event-1', markets: { nodes: [{ condition_id: condition(1) }] } },
    // Wallet 6 split 500 sets and sold the 500 No; wallet 3's sale of shares never seen makes no position.
    outcomes: [
      {
        token_id: token(1, 0),
        condition_id: condition(1),
        current_price: 0.6,
        market: { condition_id: condition(1) },
        trades: { nodes: [{ size: 20_000 }] },
        holders: {
          nodes: [
            { wallet: wallet(4), shares: 30_000 },
            { wallet: wallet(1), shares: 20_000 },
            { wallet: wallet(6), shares: 500 },
          ],
        },
      },
      {
        token_id: token(1, 1),
        condition_id: condition(1),
        current_price: 0.45,
        market: { condition_id: condition(1) },
        trades: { nodes: [{ size: 500 }] },
        holders: { nodes: [] },
      },
    ],
    trades: {
      nodes: [
        {
          wallet: wallet(1),
          size: 20_000,
          side: 'BUY',
          market: { condition_id: condition(1) },
          wallet_profile: { wallet: wallet(1), score: 80, first_trade: '2026-03-10T06:00:00Z' },
          outcome_token: { token_id: token(1, 0), outcome: 'Yes' },
        },
        {
          wallet: wallet(2),
          size: 5,
          side: 'BUY',
          market: { condition_id: condition(1) },
          wallet_profile: { wallet: wallet(2), score: 60, first_trade: '2026-03-10T11:58:20Z' },
          outcome_token: { token_id: token(1, 0), outcome: 'Yes' },
        },
      ],
      page_info: { has_next_page: true },
    },
    holders: {
      nodes: [
        {
          wallet: wallet(4),
          outcome: 'Yes',
          shares: 30_000,
          wallet_profile: { wallet: wallet(4) },
          outcome_token: { token_id: token(1, 0) },
          market: { condition_id: condition(1) },
          trades: {
            nodes: [
              { size: 30_000, side: 'BUY' },
              { size: 10, side: 'SELL' },
            ],
          },
        },
        {
          wallet: wallet(1),
          outcome: 'Yes',
          shares: 20_000,
          wallet_profile: { wallet: wallet(1) },
          outcome_token: { token_id: token(1, 0) },
          market: { condition_id: condition(1) },
          trades: { nodes: [{ size: 20_000, side: 'BUY' }] },
        },
      ],
    },
  });
});

test('from a wallet to its trades, positions and scores', async () => {
  const answer = await ask<Record<string, never>>(
    `{ wallet(address: "${wallet(1)}") { wallet tier trades { nodes { side condition_id outcome_token { outcome } } } positions { nodes { condition_id status won wallet } }
       resolved: positions(status: resolved) { nodes { realized_pnl_usdc market { status } } }
       score_history { nodes { date score tier version wallet_profile { wallet } } } }
       position(wallet: "${wallet(1)}", token_id: "${token(2, 1)}") { shares trades { nodes { size } } market { question } }
       outcome(token_id: "${token(2, 1)}") { outcome payout current_price market { status } }
       unknown: market(condition_id: "${condition(99)}") { question } stranger: wallet(address: "${wallet(99)}") { wallet }
       nothing: position(wallet: "${wallet(2)}", token_id: "${token(2, 1)}") { shares } none: event(slug: "no-such") { slug } }`,
  );
  expect(answer).toEqual({
    wallet: {
      wallet: wallet(1),
      tier: 'elite',
      trades: {
        nodes: [
          { side: 'BUY', condition_id: condition(1), outcome_token: { outcome: 'Yes' } },
          { side: 'REDEEM', condition_id: condition(2), outcome_token: { outcome: 'Blue Owls' } },
          { side: 'BUY', condition_id: condition(2), outcome_token: { outcome: 'Blue Owls' } },
        ],
      },
      positions: {
        nodes: [
          { condition_id: condition(1), status: 'open', won: null, wallet: wallet(1) },
          { condition_id: condition(2), status: 'resolved', won: true, wallet: wallet(1) },
        ],
      },
      // 25,000 shares at 0.80 that paid one dollar.
      resolved: { nodes: [{ realized_pnl_usdc: 5_000, market: { status: 'resolved' } }] },
      score_history: {
        nodes: [
          { date: '2026-03-10', score: 80, tier: 'elite', version: 'pm-2026.3', wallet_profile: { wallet: wallet(1) } },
          { date: '2026-03-09', score: 10, tier: 'novice', version: 'older', wallet_profile: { wallet: wallet(1) } },
        ],
      },
    },
    position: { shares: 25_000, trades: { nodes: [{ size: 25_000 }] }, market: { question: 'Question 2?' } },
    outcome: { outcome: 'Blue Owls', payout: 1, current_price: 1, market: { status: 'resolved' } },
    unknown: null,
    stranger: null,
    nothing: null,
    none: null,
  });
});

test('an event begins with the first of its markets that is listed', async () => {
  const asked = (days: number): Promise<unknown> => ask('{ event(slug: "event-1") { slug } }', new Date(now.getTime() - days * 86_400_000));
  expect([await asked(19), await asked(21)]).toEqual([{ event: { slug: 'event-1' } }, { event: null }]);
});

test('redemptions name a market only: outcomes and positions have none to ask for', async () => {
  const redeemed = 'trades(side: REDEEM) { nodes { condition_id } }';
  expect(await ask(`{ wallet(address: "${wallet(1)}") { ${redeemed} } }`)).toEqual({
    wallet: { trades: { nodes: [{ condition_id: condition(2) }] } },
  });
  for (const entry of [`outcome(token_id: "${token(2, 1)}")`, `position(wallet: "${wallet(1)}", token_id: "${token(2, 1)}")`])
    await expect(ask(`{ ${entry} { ${redeemed} } }`)).rejects.toThrow('"REDEEM" does not exist in "PmTradeSide"');
});

test('a fill leads to the position it is part of, a redemption to that which won, and back', async () => {
  const position = 'wallet_profile { wallet } position { wallet token_id shares status trades { nodes { trade_id } } }';
  const { won, sold } = await ask<Record<'won' | 'sold', { trades: { nodes: Record<string, unknown>[] } }>>(
    `{ won: wallet(address: "${wallet(1)}") { trades { nodes { side token_id trade_id ${position} } } }
       sold: wallet(address: "${wallet(3)}") { trades(side: SELL) { nodes { ${position} } } } }`,
  );
  const [, redeemed, bought] = won.trades.nodes;
  const owls = { wallet: wallet(1), token_id: token(2, 1), shares: 25_000, status: 'resolved', trades: { nodes: [{ trade_id: bought?.trade_id }] } }; // prettier-ignore
  expect([redeemed, bought]).toMatchObject([
    { side: 'REDEEM', position: owls },
    { side: 'BUY', position: owls },
  ]);
  // Shares that nobody saw come make no position.
  expect(sold.trades.nodes).toContainEqual({ wallet_profile: { wallet: wallet(3) }, position: null });
});

interface Rows {
  market: { trades: Connection<{ trade_id: string; timestamp: string }> };
}

/** All pages of the market's trades, three rows each; `between` runs after the first. */
async function walk(between: () => Promise<unknown>): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | null = null, page = 0; page < 20; page += 1) {
    const { market }: Rows = await ask<Rows>(
      `{ ${MARKET} { trades(first: 3${after === null ? '' : `, after: "${after}"`}) { nodes { trade_id } page_info { end_cursor has_next_page } } } }`,
    );
    ids.push(...market.trades.nodes.map(({ trade_id }) => trade_id));
    if (!market.trades.page_info.has_next_page) return ids;
    after = market.trades.page_info.end_cursor;
    if (page === 0) await between();
  }
  throw new Error('no end');
}

test('pages neither repeat nor skip a row while rows arrive', async () => {
  const whole = await ask<Rows>(`{ ${MARKET} { trades(first: 100) { nodes { trade_id } } } }`);
  const before = whole.market.trades.nodes.map(({ trade_id }) => trade_id);
  // Twelve rows of market 1 are past: the future one, the split and the twin seen in a second feed are not listed.
  expect(before).toHaveLength(9);
  expect(await walk(async () => undefined)).toEqual(before);
  const walked = await walk(() => loadRecords(db.pool, 'trades.json', [trade(900, 1, 0, 8, 'BUY', 1, 0.6, 5)]));
  expect(walked).toEqual(before);
  await db.pool.query('DELETE FROM pm_trade WHERE wallet = $1', [wallet(8)]);
});

test('pages are bounded, cursors belong to their list', async () => {
  await expect(ask(`{ ${MARKET} { trades(first: 101) { nodes { side } } } }`)).rejects.toThrow('first must be 1 to 100');
  const { market } = await ask<Rows>(`{ ${MARKET} { trades(first: 1) { nodes { side } page_info { end_cursor } } } }`);
  const cursor = market.trades.page_info.end_cursor;
  await expect(ask(`{ ${MARKET} { trades(first: 1, side: SELL, after: "${cursor}") { nodes { side } } } }`)).rejects.toThrow(
    'after is not',
  );
  await expect(ask(`{ ${MARKET} { holders(first: 1, after: "${cursor}") { nodes { wallet } } } }`)).rejects.toThrow('after is not');
});

test('holders and positions walked one by one are the whole list', async () => {
  for (const [field, key] of [
    [`${MARKET} { list: holders`, 'market'],
    [`wallet(address: "${wallet(1)}") { list: positions`, 'wallet'],
    [`wallet(address: "${wallet(1)}") { list: score_history`, 'wallet'],
    [`category(name: "Politics") { list: markets`, 'category'],
  ] as const) {
    const node = field.includes('score_history') ? 'date' : field.includes('markets') ? 'condition_id' : 'wallet token_id';
    const read = async (args: string): Promise<Connection<unknown>> =>
      (
        await ask<Record<string, { list: Connection<unknown> }>>(
          `{ ${field}(${args}) { nodes { ${node} } page_info { end_cursor has_next_page } } } }`,
        )
      )[key]?.list as Connection<unknown>;
    const whole = (await read('first: 100')).nodes;
    const walked: unknown[] = [];
    let page = await read('first: 1');
    walked.push(...page.nodes);
    while (page.page_info.has_next_page) {
      page = await read(`first: 1, after: "${page.page_info.end_cursor}"`);
      walked.push(...page.nodes);
    }
    expect(walked).toEqual(whole);
    expect(whole.length).toBeGreaterThan(0);
  }
});

/** Tables that statements read, in the order sent; those that read several by the first. */
const tablesOf = (sent: readonly string[]): (string | undefined)[] =>
  sent.map((text) => /FROM (?:"public"\.)?"?(pm_\w+)"?/.exec(text)?.[1]).sort();

describe('statements', () => {
  // Nothing is later than this: what happened after an answer's instant is told from facts, by statements of its own.
  const later = new Date((NOW + 3_600) * 1_000);
  const sent = (source: string): Promise<string[]> => statementsOf(() => ask(source, later));

  beforeAll(async () => {
    // Ten markets, of 20 wallets each, every wallet on two of them; one more market that 50 of them trade.
    const rows = Array.from({ length: 200 }, (_, n) =>
      trade(1_000 + n, 10 + (n % 10), 0, 1_000 + (n % 100), 'BUY', 10 + n, 0.5, 3_600 + n),
    );
    const busy = Array.from({ length: 50 }, (_, n) => trade(2_000 + n, 30, n % 2, 1_000 + n, 'BUY', 10 + n, 0.5, 7_200 + n));
    await loadRecords(db.pool, 'trades.json', [...rows, ...busy]);
  });

  test('50 trades, their markets, outcomes and wallets: four', async () => {
    const below = 'trades(first: 50) { nodes { market { question outcomes { outcome } } wallet_profile { first_trade } } }';
    const busy = `{ market(condition_id: "${condition(30)}") { ${below} } }`;
    const { market } = await ask<Rows>(busy);
    expect(market.trades.nodes).toHaveLength(50);
    expect(tablesOf(await sent(busy))).toEqual(['pm_market', 'pm_outcome', 'pm_trade', 'pm_wallet']);
    const own = `{ wallet(address: "${wallet(1_003)}") { ${below} } }`;
    expect(tablesOf(await sent(own))).toEqual(['pm_market', 'pm_outcome', 'pm_trade', 'pm_wallet']);
  });

  test('positions of ten wallets by their ids: as many as of one', async () => {
    const { market } = await ask<{ market: { trades: Connection<{ wallet: string; token_id: string }> } }>(
      `{ market(condition_id: "${condition(30)}") { trades(first: 10) { nodes { wallet token_id } page_info { has_next_page } } } }`,
    );
    const asked = market.trades.nodes.map(
      (row, n) => `p${n}: position(wallet: "${row.wallet}", token_id: "${row.token_id}") { shares current_price }`,
    );
    const found = Object.values(await ask<Record<string, unknown>>(`{ ${asked.join(' ')} }`));
    expect(found).toEqual(Array.from({ length: 10 }, () => expect.objectContaining({ shares: expect.any(Number) as number })));
    expect(tablesOf(await sent(`{ ${asked.join(' ')} }`))).toEqual(tablesOf(await sent(`{ ${asked[0]} }`)));
  });

  test('records by their ids: as many for ten as for one', async () => {
    const { market } = await ask<{ market: { trades: Connection<{ trade_id: string }> } }>(
      `{ market(condition_id: "${condition(30)}") { trades(first: 10) { nodes { trade_id } } } }`,
    );
    const entries = {
      trade: market.trades.nodes.map(({ trade_id }) => `trade(condition_id: "${condition(30)}", trade_id: "${trade_id}") { size }`),
      outcome: Array.from({ length: 10 }, (_, n) => `outcome(token_id: "${token(10 + n, 0)}") { outcome }`),
      event: Array.from({ length: 10 }, (_, n) => `event(slug: "event-${n + 1}") { slug }`),
    };
    for (const asked of Object.values(entries)) {
      const aliased = asked.map((entry, n) => `e${n}: ${entry}`);
      expect(aliased).toHaveLength(10);
      expect(tablesOf(await sent(`{ ${aliased.join(' ')} }`))).toEqual(tablesOf(await sent(`{ ${aliased[0]} }`)));
    }
  });

  test('positions of 50 fills: as many as of one', async () => {
    const below = (first: number): string =>
      `{ market(condition_id: "${condition(30)}") { trades(first: ${first}) { nodes { position { shares current_price } } } } }`;
    const tables = tablesOf(await sent(below(50)));
    expect(tables).toEqual(tablesOf(await sent(below(1))));
    expect(tables.filter((table) => table === 'pm_position')).toHaveLength(1);
    const redeemed = tablesOf(await sent(`{ wallet(address: "${wallet(1)}") { trades { nodes { side position { shares } } } } }`));
    expect(redeemed.filter((table) => table === 'pm_position')).toHaveLength(1);
  });

  test('lists of many parents: one each, however many parents and rows', async () => {
    const deep = (markets: number, trades: number): Promise<string[]> =>
      sent(
        `{ category(name: "Other") { markets(first: ${markets}) { nodes { trades(first: ${trades}) { nodes { wallet_profile { positions(first: 5) { nodes { token_id current_price } } } } } } } } }`,
      );
    const tables = tablesOf(await deep(10, 20));
    expect(tables).toEqual(tablesOf(await deep(2, 3)));
    // Markets of the category and of positions, their outcomes, positions, last prices, trades, and whether anything is later than now.
    expect(tables).toEqual(['pm_market', 'pm_market', 'pm_market', 'pm_outcome', 'pm_position', 'pm_token_hour', 'pm_trade', 'pm_trade']);
  });

  test('holders of outcomes of markets, and their scores', async () => {
    const query = `{ category(name: "Other") { markets(first: 10) { nodes { outcomes { holders(first: 20) { nodes { shares wallet_profile { score tier first_trade score_history(first: 5) { nodes { score } } } } } } } } } }`;
    const tables = tablesOf(await sent(query));
    expect(tables.filter((table) => table === 'pm_position')).toHaveLength(1);
    expect(tables.filter((table) => table === 'pm_wallet')).toHaveLength(1);
    // The newest run, the scores of it, and the histories.
    expect(tables.filter((table) => table === 'pm_score_runs')).toHaveLength(1);
    expect(tables.filter((table) => table === 'pm_wallet_score')).toHaveLength(2);
  });
});
