import { makeExecutableSchema } from '@graphql-tools/schema';
import { getIntrospectionQuery } from 'graphql';
import { WELCOME, makeExplorer } from '../../src/graph/explorer';
import { standingClock } from '../../src/lib/clock';
import type { GraphContext } from '../../src/venues/venue';
import { type Product, startProduct } from '../support/product';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product.close());

async function ask(
  query: string,
  variables?: Record<string, unknown>,
): Promise<{
  status: number;
  body: {
    data?: Record<string, unknown>;
    errors?: { message: string; extensions?: { code?: string; cost?: number; most?: number; details?: unknown[] } }[];
    extensions?: Record<string, unknown>;
  };
}> {
  const response = await fetch(`${product.internalUrl}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return { status: response.status, body: (await response.json()) as never };
}

test('GraphiQL is served with everything it needs, from this machine alone', async () => {
  const page = await (await fetch(`${product.internalUrl}/graphql`, { headers: { Accept: 'text/html' } })).text();
  expect(page).toContain('Smart money explorer');
  expect(page).toContain("<script>localStorage['graphiql:query'] ??= \"# Explore");
  // No script, style or font from elsewhere.
  expect([...page.matchAll(/<(?:script|link)[^>]+(?:src|href)="(https?:)?\/\//g)]).toEqual([]);
});

test('introspection works, whatever its depth', async () => {
  const { body } = await ask(getIntrospectionQuery());
  expect(body.errors).toBeUndefined();
});

test('the query that GraphiQL opens with is answered', async () => {
  // Nothing is loaded here: the question says so, in its own words.
  const { body } = await ask(WELCOME);
  expect(body.errors?.map(({ extensions }) => extensions?.code)).toEqual(['empty_result']);
  expect(Object.keys(body.extensions?.meta ?? {}).sort()).toEqual([
    'as_of',
    'count',
    'next_cursor',
    'score_version',
    'timeframe',
    'track_record',
    'warnings',
    'window',
  ]);
});

test('of several questions each tells of its own answer, by its name', async () => {
  const [whales, list] = ['tradesWhales(timeframe: "7d") { side }', 'lpDcaPressure(timeframe: "1h") { __typename }'];
  const metaOf = async (query: string): Promise<unknown> => (await ask(`{ ${query} }`)).body.extensions?.meta;
  const [week, hour] = [await metaOf(whales), await metaOf(list)];
  expect(week).toMatchObject({ timeframe: '7d', window: { from: expect.stringMatching(/T\d\d:\d\d:\d\dZ$/) } });
  const both = (await metaOf(`week: ${whales} hour: ${list}`)) as Record<string, unknown>;
  expect(Object.keys(both)).toEqual(['week', 'hour']);
  expect(both.week).toMatchObject({ timeframe: '7d' });
  expect(both.hour).toMatchObject({ timeframe: (hour as { timeframe: unknown }).timeframe });
});

test('queries nested too deep are refused, through fragments too', async () => {
  const deep = '{ tradesWhales { market { trades { market { trades { market { trades { market { question } } } } } } } } }';
  expect((await ask(deep)).body.errors?.map(({ message }) => message)).toContain('The query is nested deeper than 8 levels.');
  const split = `{ tradesWhales { ...a } } fragment a on PmTrade { market { trades { market { trades { ...b } } } } } fragment b on PmTrade { market { trades { market { question } } } }`;
  expect((await ask(split)).body.errors?.map(({ message }) => message)).toContain('The query is nested deeper than 8 levels.');
  // What clients add by themselves is no level.
  const page = (below: string): string => `market { trades(first: 1) { nodes { ${below} } } }`;
  const eight = await ask(`{ tradesWhales(limit: 1) { ${page(page('market { __typename }'))} } }`);
  expect(eight.body.errors?.map(({ extensions }) => extensions?.code)).toEqual(['empty_result']);
});

test('a text that unfolds to millions of fields, or is thousands of words long, is refused at once', async () => {
  const fan = Array.from({ length: 40 }, (_, index) => `fragment f${index} on Query { ...f${index + 1} ...f${index + 1} }`).join(' ');
  const unfolding = await ask(`{ ...f0 } ${fan} fragment f40 on Query { perpsPlatformStats { total_trades } }`);
  expect(unfolding.body.errors?.[0]?.extensions?.code).toBe('query_too_expensive');
  const wordy = await ask(`{ ${'__typename '.repeat(6_000)} }`);
  expect(wordy.body.errors?.[0]?.message).toContain('5000 tokens');
});

test('a variable of the wrong type is told as such', async () => {
  const { body } = await ask('query q($n: Int!) { perpsTradesWhales(limit: $n) { coin } }', { n: '5' });
  expect(body.errors?.[0]?.message).toContain('Variable "$n" got invalid value "5"');
  const { body: other } = await ask('query q($t: Timeframe!) { perpsTradesWhales(timeframe: $t) { coin } }', { t: '2h' });
  expect(other.errors?.[0]?.message).toContain('Not a valid Timeframe: 2h');
});

test.each([
  ['perpsTradesWhales(timeframe: "2h")', 'Not a valid Timeframe: 2h (Time window that ends now: 1h, 4h', 32],
  ['wallet(address: "0x12")', 'Not a valid EvmAddress: 0x12 (Wallet or trader: 0x and 40 hex digits', 19],
  ['category(name: "Sprots")', 'Not a valid Category: Sprots (Category of a prediction market: Politics, Sports', 18],
])('%s is refused where it stands, with what would be right', async (question, message, column) => {
  const { body } = await ask(`{ ${question} { __typename } }`);
  expect(body.errors).toMatchObject([{ message: expect.stringContaining(message), locations: [{ line: 1, column }] }]);
});

test('lists are bounded, mutations do not exist', async () => {
  expect((await ask('{ perpsTradesWhales(limit: 100000) { coin } }')).body.errors?.[0]?.message).toContain('limit must be 1 to 1000');
  for (const limit of [0, -1])
    expect((await ask(`{ perpsTradesWhales(limit: ${limit}) { coin } }`)).body.errors?.[0]?.message).toContain('limit must be 1 to 1000');
  expect((await ask('mutation { pay }')).body.errors).toBeDefined();
});

test('a text nested beyond what a parser bears is refused as too deep', async () => {
  for (const text of [`{ trade(condition_id: ${'['.repeat(4_900)}`, '{ a'.repeat(2_400)]) {
    const { body } = await ask(text);
    expect(body.errors?.map(({ message }) => message)).toEqual([expect.stringMatching(/nested deeper than 8 levels|Syntax Error/)]);
  }
});

const MANY = Array.from({ length: 1_000 }, (_, index) => `"0x${String(index).padStart(40, '0')}"`).join(',');

test.each([
  [`walletsCompare(wallets: [${MANY}]) { __typename }`, 'wallets', 'must hold 2 to 5 items'],
  ['perpsTradersDailyPnl(trader: "0x0000000000000000000000000000000000000001", days: 2147483647) { __typename }', 'days', 'is outside'],
  ['marketsClosingSoon(hours: 1e15) { __typename }', 'hours', 'is outside 1 to 72'],
  ['perpsCoinsList(query: "a\\u0000") { __typename }', 'query', 'control characters'],
  [
    'lpPoolsVolumeHistory(pool_address: "11111111111111111111111111111111", bucket_size: "1 hour") { __typename }',
    'bucket_size',
    'is not one of the allowed values',
  ],
  ['lpPositionsActive { __typename }', 'pool_address', 'one of pool_address, owner is required'],
  ['marketsCapitalFlowComparison(timeframe: "1h") { __typename }', 'timeframe', 'leaves no shorter window'],
])('a free question is held to what it is sold with: %.40s', async (question, param, issue) => {
  const [error] = (await ask(`{ ${question} }`)).body.errors ?? [];
  expect(error).toMatchObject({
    message: expect.stringContaining(`${param}: `),
    extensions: {
      code: expect.stringMatching(/^(invalid|missing)_parameter$/),
      details: [{ param, issue: expect.stringContaining(issue), allowed: expect.anything() }],
    },
  });
});

test('what a free question may have more of than a paid one is rows', async () => {
  const { body } = await ask('{ perpsTradesWhales(limit: 1000) { coin } }');
  expect(body.errors?.map(({ extensions }) => extensions?.code)).toEqual(['empty_result']);
});

test('fields stand in the order in which they were asked, whichever is known first', async () => {
  const query =
    '{ none: market(condition_id: "0x' +
    '0'.repeat(64) +
    '") { question } category(name: "Other") { markets { nodes { slug } } name } kind: __typename }';
  const { data } = (await ask(query)).body;
  expect([Object.keys(data ?? {}), Object.keys(data?.category ?? {})]).toEqual([
    ['none', 'category', 'kind'],
    ['markets', 'name'],
  ]);
});

test('errors for analysts carry our code, never a stack or SQL', async () => {
  const { body } = await ask('{ perpsTradesFeed(coin: "NOSUCH", limit: 5) { coin } }');
  expect(body.errors?.[0]).toMatchObject({ message: expect.any(String), extensions: { code: 'not_found' } });
  expect(JSON.stringify(body)).not.toMatch(/SELECT|node_modules/);
});

test('a side that there is not is refused, not passed over', async () => {
  const { body } = await ask('{ perpsTradesWhales(side: "Open Longs") { coin } }');
  const allowed = expect.arrayContaining(['Open Long']) as string[];
  expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'invalid_parameter', details: [{ param: 'side', allowed }] });
});

test.each([
  'perpsTradesWhales(side: "open long") { coin }',
  'perpsSmartWalletsActivity(side: "sell") { trades { coin } }',
  'perpsCoinsVolumeHeatmap(bucket_size: "AUTO") { coin }',
  'marketsVolumeHeatmap(bucket_size: "1H") { hhi }',
  'lpPlatformVolumeHeatmap(bucket_size: "1D") { bucket }',
  'walletsInsidersTrend(bucket_size: "7D") { trend }',
])('words of a free question are read in any case, as when it is sold: %s', async (question) => {
  const { body } = await ask(`{ ${question} }`);
  expect(body.errors?.map(({ extensions }) => extensions?.code)).toEqual(['empty_result']);
});

const MARKET = `market(condition_id: "0x${'0'.repeat(64)}")`;

test('a query that costs too much is refused before it runs, and told its cost', async () => {
  const wide = `{ ${MARKET} { trades(first: 100) { nodes { wallet_profile { positions(first: 100) { nodes { market { question } } } } } } } }`;
  const { data, errors } = (await ask(wide)).body;
  // The connection, then a hundred times node, wallet, connection and a hundred times position and market; ten thousand questions.
  const cost = 50 + 1 + 100 * (1 + 1 + 1 + 100 * 2) + 10_000 / 100;
  expect(data).toBeUndefined();
  expect(errors?.[0]).toMatchObject({
    message: expect.stringContaining('The query costs 20,451; at most 5,000 is allowed.'),
    extensions: { code: 'query_too_expensive', cost, most: 5_000 },
  });
  const sized = `query q($n: Int!) { ${MARKET} { trades(first: $n) { nodes { wallet_profile { positions(first: $n) { nodes { market { question } } } } } } } }`;
  expect((await ask(sized, { n: 100 })).body.errors?.[0]?.extensions?.cost).toBe(cost);
  expect((await ask(sized, { n: 10 })).body).toMatchObject({ data: { market: null } });
});

test('lists longer than their cost assumes are not followed without end', async () => {
  const cells = Array.from({ length: 5_000 }, (_, id) => ({ id }));
  const schema = makeExecutableSchema({
    typeDefs: 'type Query { cells: [Cell!]! } type Cell { id: Int! pool: Cell page: Page! } type Page { nodes: [Cell!]! }',
    resolvers: {
      Query: { cells: async () => cells },
      Cell: { pool: (cell: unknown) => cell, page: () => ({ nodes: cells.slice(0, 10) }) },
    },
  });
  const explorer = makeExplorer(schema, product.db, standingClock(new Date()));
  const follow = async (below: string): Promise<{ data?: { cells: unknown[] }; errors?: unknown[] }> => {
    const request = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: `{ cells ${below} }` }),
    };
    return (await (await explorer.fetch('http://localhost/graphql', request)).json()) as never;
  };
  // Values are no objects.
  const few = Array.from({ length: 20 }, (_, index) => `a${index}: id`).join(' ');
  expect((await follow(`{ ${few} pool { id } }`)).data?.cells).toHaveLength(5_000);
  const many = Array.from({ length: 11 }, (_, index) => `} more${index}: cells { id`).join(' ');
  const wide = Array.from({ length: 1_100 }, (_, index) => `a${index}: id`).join(' ');
  for (const { data, errors } of [
    await follow('{ page { nodes { id } } }'),
    await follow(`{ id ${many} }`),
    // An object of which eleven hundred values are asked counts as eleven.
    await follow(`{ ${wide} }`),
    await follow(`{ ... on Cell { ...wide } } } fragment wide on Cell { ${wide}`),
  ]) {
    expect(data).toBeUndefined();
    expect(errors).toEqual([
      { message: expect.stringContaining('more than 50,000 objects'), extensions: { code: 'query_too_expensive', most: 50_000 } },
    ]);
  }
});

test('a list that answers as of its first page tells of itself in the meta of its own question', async () => {
  const list = (_root: unknown, { ago }: { ago: number }, { at, now }: GraphContext): { n: number } => {
    at(new Date(now.getTime() - ago)).meta.next_cursor = `behind ${ago}`;
    return { n: ago };
  };
  const schema = makeExecutableSchema({
    typeDefs: 'type Query { list(ago: Int!): Row } type Row { n: Int! }',
    resolvers: { Query: { list } },
  });
  const explorer = makeExplorer(schema, product.db, standingClock(new Date()));
  const query = '{ first: list(ago: 0) { n } later: list(ago: 1000) { n } }';
  const request = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ query }) };
  expect(await (await explorer.fetch('http://localhost/graphql', request)).json()).toMatchObject({
    extensions: { meta: { first: { next_cursor: 'behind 0' }, later: { next_cursor: 'behind 1000' } } },
  });
});

test('meta tells as of when an answer was made, and by which scores, wherever these were looked up', async () => {
  const resolvers = {
    Query: { kept: (_root: unknown, _args: unknown, { meta }: GraphContext) => ((meta.as_of = new Date('2026-01-01T00:00:00Z')), {}) },
    Row: { trader: (_root: unknown, _args: unknown, { meta }: GraphContext) => ((meta.score_version = 'perps-1'), null) },
  };
  const schema = makeExecutableSchema({ typeDefs: 'type Query { kept: Row } type Row { n: Int trader: Row }', resolvers });
  const explorer = makeExplorer(schema, product.db, standingClock(new Date()));
  const headers = { 'Content-Type': 'application/json' };
  const asked = await explorer.fetch('http://localhost/graphql', {
    method: 'POST',
    headers,
    body: '{"query":"{ kept { trader { n } } }"}',
  });
  expect(await asked.json()).toMatchObject({
    data: { kept: { trader: null } },
    extensions: { meta: { as_of: '2026-01-01T00:00:00Z', score_version: 'perps-1' } },
  });
});

test('a page is bounded by whoever asks, also through a variable', async () => {
  const sized =
    'query q($n: Int!) { wallet(address: "0x0000000000000000000000000000000000000001") { trades(first: $n) { nodes { side } } } }';
  expect((await ask(sized, { n: 4_000 })).body.errors?.[0]?.message).toContain('first must be 1 to 100.');
  const limited = 'query q($n: Int!) { perpsTradesWhales(limit: $n) { coin } }';
  expect((await ask(limited, { n: 5_000 })).body.errors?.[0]?.message).toContain('limit must be 1 to 1000');
  for (const n of [100_000, 0, -1])
    expect((await ask(limited.replace('Int!', `Int! = ${n}`))).body.errors?.[0]?.message).toContain('limit must be 1 to 1000');
});

test('variables and extensions of a GET that are no JSON are told as such', async () => {
  const get = async (variables: string, extensions = '{}'): Promise<[number, unknown]> => {
    const query = new URLSearchParams({ query: 'query q($c: Coin!) { coin(coin: $c) { coin } }', variables, extensions });
    const response = await fetch(`${product.internalUrl}/graphql?${query}`, { headers: { Accept: 'application/json' } });
    return [response.status, await response.json()];
  };
  expect(await get('c=BTC')).toMatchObject([
    400,
    { errors: [{ message: 'variables must be JSON.', extensions: { code: 'BAD_REQUEST' } }] },
  ]);
  expect(await get('{"c":"BTC"}', 'none')).toMatchObject([400, { errors: [{ message: 'extensions must be JSON.' }] }]);
  for (const extensions of ['{}', '']) expect(await get('{"c":"BTC"}', extensions)).toMatchObject([200, { data: { coin: null } }]);
});

test('no page from elsewhere is let read an answer', async () => {
  const schema = makeExecutableSchema({ typeDefs: 'type Query { n: Int }' });
  const explorer = makeExplorer(schema, product.db, standingClock(new Date()));
  const { status, headers } = await explorer.fetch('http://localhost/graphql?query={n}', { headers: { Origin: 'https://example.com' } });
  expect([status, headers.get('access-control-allow-origin')]).toEqual([200, null]);
});

const NOBODY = '0x0000000000000000000000000000000000000001';

test.each<[code: string, query: string, ...variables: Record<string, unknown>[]]>([
  ['invalid_parameter', '{ perpsTradesWhales(limit: 1001) { coin } }'],
  ['invalid_parameter', 'query q($n: Int!) { perpsTradesWhales(limit: $n) { coin } }', { n: 0 }],
  ['invalid_parameter', `{ wallet(address: "${NOBODY}") { trades(first: 101) { nodes { side } } } }`],
  ['invalid_parameter', '{ perpsTradesWhales(cursor: "x") { coin } }'],
  ['query_too_deep', `{ ${MARKET} { ${'trades { nodes { market { '.repeat(3)} slug ${'} } } '.repeat(3)} } }`],
  ['GRAPHQL_PARSE_FAILED', `{ perpsPlatformStats { ${'total_trades '.repeat(5_000)} } }`],
  ['GRAPHQL_PARSE_FAILED', '{ perpsPlatformStats {'],
  ['GRAPHQL_VALIDATION_FAILED', '{ nothing }'],
  ['BAD_USER_INPUT', 'mutation { pay }'],
  ['GRAPHQL_VALIDATION_FAILED', '{ coin { coin } }'],
  ['GRAPHQL_VALIDATION_FAILED', '{ coin(coin: 1) { coin } }'],
  ['GRAPHQL_VALIDATION_FAILED', `{ market(condition_id: "0x1") { slug } }`],
  ['BAD_USER_INPUT', 'query q($c: ConditionId!) { market(condition_id: $c) { slug } }', { c: '0x1' }],
  ['BAD_USER_INPUT', 'query q($c: ConditionId!) { market(condition_id: $c) { slug } }'],
  ['OPERATION_RESOLUTION_FAILURE', 'query a { perpsPlatformStats { total_trades } } query b { perpsPlatformStats { total_trades } }'],
])('every error says by a code what it is: %s', async (code, query, ...[variables]) => {
  const { errors } = (await ask(query, variables)).body;
  expect(errors?.map(({ message, extensions }) => [extensions?.code, message])).toEqual([[code, expect.any(String)]]);
});

test.each([
  ['{ coin(coin: "BTC-PERP") { coin } }', 'BTC'],
  ['{ marketsTrending(category: "Sprots") { slug } }', 'Sports'],
])('what may have been meant is told: %s', async (query, meant) => {
  expect((await ask(query)).body.errors?.[0]?.message).toContain(`Did you mean "${meant}"?`);
});

test('a text that no database holds is no event', async () => {
  const { body } = await ask('{ event(slug: "a\\u0000") { markets(first: 1) { nodes { question } } } }');
  expect([body.errors, body.data]).toEqual([undefined, { event: null }]);
});

test('what is nobody’s words is told to the operator alone', async () => {
  const bugs: unknown[] = [];
  const secret = new Error('SELECT secret');
  const resolvers = {
    Query: {
      broken: () => {
        throw secret;
      },
      // What is sold without a part of it is told without it here too.
      partly: (_root: unknown, _args: unknown, { failed }: GraphContext) => (failed('part', secret), 1),
    },
  };
  const schema = makeExecutableSchema({ typeDefs: 'type Query { broken: Int partly: Int }', resolvers });
  const explorer = makeExplorer(schema, product.db, standingClock(new Date()), { onBug: (error) => bugs.push(error) });
  const headers = { 'Content-Type': 'application/json' };
  const response = await explorer.fetch('http://localhost/graphql', { method: 'POST', headers, body: '{"query":"{ broken partly }"}' });
  const told = [{ message: 'Unexpected error.', extensions: { code: 'internal' } }];
  expect(await response.json()).toMatchObject({ data: { broken: null, partly: 1 }, errors: told });
  expect(bugs).toEqual([secret, secret]);
});
