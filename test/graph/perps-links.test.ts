import { testDatabase } from '../support/database';
import { statementsOf } from '../support/statements';
import { ANN, BOB, MAX, NOW, ago, loadScores, loadSmallWorld } from '../venues/perps/small-world';
import { load, match, trader } from '../venues/perps/support';
import type { Connection } from '../../src/lib/connection';
import { explore } from './explore';

let db: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  db = await testDatabase();
  await loadSmallWorld(db.pool);
  await load(db.pool, [
    {
      universe: [
        { name: 'BTC', szDecimals: 5, maxLeverage: 40 },
        { name: 'ETH', szDecimals: 4, maxLeverage: 25 },
      ],
    },
  ]);
  await loadScores(db.pool, '2026-01-30', { [ANN]: 90, [BOB]: 50 }, 'older');
  await loadScores(db.pool, '2026-01-31', { [ANN]: 96, [BOB]: null });
});
afterAll(() => db.drop());

const ask = <T>(source: string, at = NOW): Promise<T> => explore<T>(db, at, source);
const iso = (minutes: number): string => `${ago(minutes).toISOString().slice(0, 19)}Z`;

test('the side of a link is read in any case, as that of a question', async () => {
  const { coin } = await ask<{ coin: { low: unknown; high: unknown; open: { nodes: unknown[] } } }>(
    `{ coin(coin: "BTC") { low: fills(side: "sell") { nodes { trade_id } } high: fills(side: "SELL") { nodes { trade_id } }
       open: fills(side: "open short") { nodes { trade_id } } } }`,
  );
  expect(coin.low).toEqual(coin.high);
  expect(coin.open.nodes).toHaveLength(4);
});

test('from a coin to its fills, holders and accounts, and back', async () => {
  const { coin } = await ask<{ coin: unknown }>(
    `{ coin(coin: "btc") { coin max_leverage
       fills(first: 3) { nodes { side usd_value trader coin_info { coin } trader_profile { trader smart_score } } page_info { has_next_page } }
       sells: fills(first: 10, side: "SELL") { nodes { side trader size } }
       holders(first: 2) { nodes { trader direction size entry_price coin_info { coin } trader_profile { tier } fills { nodes { side size } } } } } }`,
  );
  const btc = { coin: 'BTC' };
  expect(coin).toEqual({
    coin: 'BTC',
    max_leverage: 40,
    // Bob's flip, later in its block than Max's side of it: 700 open after 300 close; Max closes 1,000 of his short.
    fills: {
      nodes: [
        { side: 'Open Short', usd_value: 73_500, trader: BOB, coin_info: btc, trader_profile: { trader: BOB, smart_score: null } },
        { side: 'Close Long', usd_value: 31_500, trader: BOB, coin_info: btc, trader_profile: { trader: BOB, smart_score: null } },
        { side: 'Close Short', usd_value: 105_000, trader: MAX, coin_info: btc, trader_profile: { trader: MAX, smart_score: null } },
      ],
      page_info: { has_next_page: true },
    },
    sells: {
      nodes: [
        { side: 'Open Short', trader: BOB, size: 700 },
        { side: 'Close Long', trader: BOB, size: 300 },
        { side: 'Close Long', trader: ANN, size: 400 },
        { side: 'Open Short', trader: MAX, size: 1_000 },
        { side: 'Open Short', trader: MAX, size: 10 },
        { side: 'Open Short', trader: MAX, size: 2_000 },
      ],
    },
    holders: {
      nodes: [
        {
          trader: ANN,
          direction: 'Long',
          size: 2_600,
          // 2,000 and 1,000 for 100 each.
          entry_price: 100,
          coin_info: btc,
          trader_profile: { tier: 'elite' },
          fills: {
            nodes: [
              { side: 'Close Long', size: 400 },
              { side: 'Open Long', size: 1_000 },
              { side: 'Open Long', size: 2_000 },
            ],
          },
        },
        {
          trader: MAX,
          direction: 'Short',
          size: 1_610,
          entry_price: 100,
          coin_info: btc,
          trader_profile: { tier: 'unscored' },
          fills: {
            nodes: [
              { side: 'Close Short', size: 1_000 },
              { side: 'Close Short', size: 400 },
              { side: 'Open Short', size: 1_000 },
              { side: 'Open Short', size: 10 },
              { side: 'Open Short', size: 2_000 },
            ],
          },
        },
      ],
    },
  });
});

test('from an account to its round trips and scores', async () => {
  const answer = await ask<Record<string, unknown>>(
    `{ trader(address: "${BOB}") { trader
       round_trips { nodes { coin direction opened_at closed_at gross_pnl net_pnl trader_profile { trader } fill_rows { nodes { side size } } } page_info { has_next_page } }
       btc: round_trips(coin: "btc") { nodes { coin } }
       score_history { nodes { date score tier version trader_profile { trader } } } }
       nobody: trader(address: "${trader('9')}") { trader } nothing: coin(coin: "NOSUCH") { coin } }`,
  );
  expect(answer).toEqual({
    trader: {
      trader: BOB,
      round_trips: {
        nodes: [
          {
            coin: 'ETH',
            direction: 'Short',
            opened_at: iso(26 * 60),
            closed_at: iso(10),
            gross_pnl: -6_000,
            net_pnl: -6_000,
            trader_profile: { trader: BOB },
            fill_rows: {
              nodes: [
                { side: 'Close Short', size: 20 },
                { side: 'Open Short', size: 20 },
              ],
            },
          },
          {
            coin: 'BTC',
            direction: 'Long',
            opened_at: iso(7 * 24 * 60),
            closed_at: iso(30),
            gross_pnl: 1_500.25,
            // The fee of 10.5 is split by size: 300 of 1,000 closed.
            net_pnl: 1_497.1,
            trader_profile: { trader: BOB },
            fill_rows: {
              nodes: [
                { side: 'Close Long', size: 300 },
                { side: 'Open Long', size: 10 },
              ],
            },
          },
        ],
        page_info: { has_next_page: false },
      },
      btc: { nodes: [{ coin: 'BTC' }] },
      score_history: {
        nodes: [
          { date: '2026-01-31', score: null, tier: 'unscored', version: 'perps-test', trader_profile: { trader: BOB } },
          { date: '2026-01-30', score: 50, tier: 'average', version: 'older', trader_profile: { trader: BOB } },
        ],
      },
    },
    nobody: null,
    nothing: null,
  });
});

test('from a fill to what it is part of: a closed round trip, or the position that is open', async () => {
  const { trader: bob } = await ask<{ trader: { fills: Connection<unknown> } }>(
    `{ trader(address: "${BOB}") { fills { nodes { coin side round_trip { direction closed_at } position { direction size } } } } }`,
  );
  const [eth, btc] = [
    { direction: 'Short', closed_at: iso(10) },
    { direction: 'Long', closed_at: iso(30) },
  ];
  expect(bob.fills.nodes).toEqual([
    { coin: 'ETH', side: 'Close Short', round_trip: eth, position: null },
    // The flip: its close ends the long, its open is the short of now.
    { coin: 'BTC', side: 'Open Short', round_trip: null, position: { direction: 'Short', size: 700 } },
    { coin: 'BTC', side: 'Close Long', round_trip: btc, position: null },
    { coin: 'ETH', side: 'Open Short', round_trip: eth, position: null },
    { coin: 'BTC', side: 'Open Long', round_trip: btc, position: null },
  ]);
});

test('round trips that end and begin at one instant keep their own fills', async () => {
  const [dan, eve] = ['d', 'e'].map(trader) as [string, string];
  const deal = (minutes: number, sz: string, side: 'B' | 'A', held: [string, string]): Record<string, unknown> =>
    match(ago(minutes), { coin: 'DOGE', px: '1', sz, side, taker: [dan, held[0]], maker: [eve, held[1]] });
  await load(db.pool, [
    deal(50, '5', 'B', ['0.0', '0.0']),
    deal(40, '5', 'A', ['5.0', '-5.0']),
    deal(40, '7', 'B', ['0.0', '0.0']),
    deal(30, '7', 'A', ['7.0', '-7.0']),
    deal(30, '2', 'B', ['0.0', '0.0']),
  ]);
  const answer = await ask<{ trader: Record<string, unknown> }>(
    `{ trader(address: "${dan}") {
       round_trips { nodes { fills fill_rows { nodes { side size } } } }
       positions { fills { nodes { side size } } }
       fills { nodes { side size round_trip { closed_at } position { size } } } } }`,
  );
  const nodes = (...rows: [string, number][]): unknown => ({ nodes: rows.map(([side, size]) => ({ side, size })) });
  const [first, second] = [{ closed_at: iso(40) }, { closed_at: iso(30) }];
  expect(answer.trader).toEqual({
    round_trips: {
      nodes: [
        { fills: 2, fill_rows: nodes(['Close Long', 7], ['Open Long', 7]) },
        { fills: 2, fill_rows: nodes(['Close Long', 5], ['Open Long', 5]) },
      ],
    },
    positions: [{ fills: nodes(['Open Long', 2]) }],
    fills: {
      nodes: [
        { side: 'Open Long', size: 2, round_trip: null, position: { size: 2 } },
        { side: 'Close Long', size: 7, round_trip: second, position: null },
        { side: 'Open Long', size: 7, round_trip: second, position: null },
        { side: 'Close Long', size: 5, round_trip: first, position: null },
        { side: 'Open Long', size: 5, round_trip: first, position: null },
      ],
    },
  });
});

test('a coin that the catalogue does not have is led to as well', async () => {
  const { trader: ann } = await ask<{ trader: { fills: Connection<{ coin: string }> } }>(
    `{ trader(address: "${ANN}") { fills { nodes { coin coin_info { coin max_leverage fills(first: 1) { nodes { size } } } } } } }`,
  );
  expect(ann.fills.nodes.filter(({ coin }) => coin === 'kPEPE')).toEqual([
    { coin: 'kPEPE', coin_info: { coin: 'kPEPE', max_leverage: null, fills: { nodes: [{ size: 50_000 }] } } },
  ]);
});

test('pages one by one are the whole list', async () => {
  for (const [entry, field, node] of [
    ['coin(coin: "BTC")', 'fills', 'trade_id side trader'],
    [`trader(address: "${MAX}")`, 'fills', 'trade_id side coin'],
    ['coin(coin: "BTC")', 'holders', 'trader size'],
    [`trader(address: "${BOB}")`, 'round_trips', 'coin closed_at'],
    [`trader(address: "${ANN}")`, 'score_history', 'date'],
  ] as const) {
    const read = async (args: string): Promise<Connection<unknown>> =>
      (
        await ask<{ from: { list: Connection<unknown> } }>(
          `{ from: ${entry} { list: ${field}(${args}) { nodes { ${node} } page_info { end_cursor has_next_page } } } }`,
        )
      ).from.list;
    const whole = (await read('first: 100')).nodes;
    let page = await read('first: 1');
    const walked = [...page.nodes];
    while (page.page_info.has_next_page) {
      page = await read(`first: 1, after: "${page.page_info.end_cursor}"`);
      walked.push(...page.nodes);
    }
    expect(whole.length).toBeGreaterThan(1);
    expect(walked).toEqual(whole);
  }
});

test('statements: one a list, however many accounts, coins and rows', async () => {
  const letters = ['1', '2', '3', '4', '5', '6', '7', '8'].map(trader);
  const coins = ['BTC', 'ETH', 'SOL', 'XRP'];
  const deals = letters.flatMap((who, n) =>
    coins.map((coin, k) =>
      match(ago(3_000 + n * 10 + k), { coin, px: '10', sz: String(n + k + 1), side: 'B', taker: [who, '0.0'], maker: [MAX, '-9999.0'] }),
    ),
  );
  await load(db.pool, deals);
  // After the last fact, so that nothing is told from facts of a later time.
  const later = new Date(NOW.getTime() + 3_600_000);
  const tables = async (accounts: number): Promise<(string | undefined)[]> =>
    (
      await statementsOf(() =>
        ask(
          `{ perpsTradesWhales(min_usd: 1, timeframe: "all", limit: ${accounts}) { coin_info { coin } trader_profile { smart_score positions { coin } fills(first: 5) { nodes { coin_info { coin } } } round_trips(first: 5) { nodes { net_pnl fill_rows(first: 5) { nodes { side } } } } score_history(first: 3) { nodes { score } } } } }`,
          later,
        ),
      )
    )
      .map((text) => /FROM (?:"public"\.)?"?(perp_\w+)"?/.exec(text)?.[1])
      .filter((table) => table !== 'perp_score' || true)
      .sort() as (string | undefined)[];
  const many = await tables(40);
  expect(await tables(6)).toEqual(many);
  expect(many.filter((table) => table === 'perp_round_trip').length).toBeLessThanOrEqual(2);
  expect(many.length).toBeLessThanOrEqual(10);
});

test('statements: accounts and coins by their names, and round trips in one coin, as many for many as for one', async () => {
  const accounts = [ANN, BOB, MAX, ...['1', '2', '3', '4'].map(trader)];
  for (const entries of [
    ['btc', 'eth', 'sol', 'xrp'].map((coin) => `coin(coin: "${coin}") { coin }`),
    accounts.map((address) => `trader(address: "${address}") { trader }`),
    accounts.map((address) => `trader(address: "${address}") { round_trips(coin: "btc") { nodes { coin } } }`),
  ]) {
    const aliased = entries.map((entry, n) => `e${n}: ${entry}`);
    const sent = async (some: readonly string[]): Promise<number> => (await statementsOf(() => ask(`{ ${some.join(' ')} }`))).length;
    expect(Object.values(await ask<Record<string, unknown>>(`{ ${aliased.join(' ')} }`))).not.toContain(null);
    expect(await sent(aliased)).toBe(await sent(aliased.slice(0, 1)));
  }
});
