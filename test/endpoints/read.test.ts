import fc from 'fast-check';
import type { Endpoint } from '../../src/endpoints/endpoint';
import { rawOfBody, rawOfQuery, readParameters, refusalOf } from '../../src/endpoints/read';
import { sampleInput } from '../../src/endpoints/json-schema';
import { encodeCursor, listScope } from '../../src/lib/cursor';
import { ENDPOINTS, endpointNamed } from '../support/catalogue';

const WALLET = `0x${'ab'.repeat(20)}`;
const POOL = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo';

type Raw = Parameters<typeof readParameters>[1];

const read = (name: string, raw: Raw): ReturnType<typeof readParameters> => readParameters(endpointNamed(name), raw);
const get = (name: string, query: string): ReturnType<typeof read> => read(name, rawOfQuery(new URLSearchParams(query)));
const post = (name: string, body: Record<string, unknown>): ReturnType<typeof read> => read(name, rawOfBody(body));

describe('good values become canonical', () => {
  test.each([
    [
      'markets/trending',
      'timeframe=1D&category=geopolitics&sort_by=VOLUME_SPIKE',
      { timeframe: '24h', category: 'World', sort_by: 'volume_spike', limit: 20 },
    ],
    ['markets/trending', 'timeframe=1y&n=7', { timeframe: '365d', limit: 7 }],
    ['perps/trades/whales', 'side=open+long&coin=btc', { side: 'Open Long', coin: 'BTC' }],
    ['perps/trades/feed', 'coin=kPEPE', { coin: 'kPEPE' }],
    ['perps/trades/feed', 'coins=xyz:CL', { coin: 'xyz:CL' }],
    ['perps/pressure/pairs', 'coins=btc,eth', { coins: ['BTC', 'ETH'] }],
    ['perps/pressure/pairs', 'coins=btc&coins=eth', { coins: ['BTC', 'ETH'] }],
    ['trades/whales', 'smart_money_only=1&min_usdc=2.5e3', { smart_money_only: true, min_usdc: 2500 }],
    ['lp/pools/events', `pool_address=${POOL}`, { pool_address: POOL, pool_type: 'auto' }],
    ['markets/capital-flow-comparison', 'timeframe=7d', { timeframe: '7d', timeframes: ['12h', '24h', '7d'] }],
    // A day and today are of one length: each is the longest, wherever it stands.
    ['markets/capital-flow-comparison', 'timeframe=24h&timeframes=today,24h', { timeframe: '24h', timeframes: ['today', '24h'] }],
    ['markets/capital-flow-comparison', 'timeframe=24h&timeframes=24h,today', { timeframe: '24h', timeframes: ['24h', 'today'] }],
    ['markets/capital-flow-comparison', 'timeframe=today&timeframes=24h,today', { timeframe: 'today', timeframes: ['24h', 'today'] }],
  ])('%s?%s', (name, query, expected) => {
    const reading = get(name, query);
    expect(reading.problems).toEqual([]);
    expect(reading.variables).toMatchObject(expected);
  });

  test('null in a body is as good as nothing', () => {
    const [nulls, nothing] = [{ include_trades: null, trades_limit: null, explain: null }, {}].map((more) =>
      post('wallets/profile', { wallet: WALLET, ...more }),
    );
    expect([nulls, nulls?.problems]).toEqual([nothing, []]);
  });

  test('upper-case hex is lowered, and said so', () => {
    const reading = post('wallets/profile', { wallet_address: WALLET.toUpperCase().replace('0X', '0x') });
    expect(reading.variables.wallet).toBe(WALLET);
    expect(reading.warnings).toEqual(['wallet_address: upper-case letters were lowered']);
    const wallets = ['A', 'B', 'c'].map((digit) => `0x${digit.repeat(40)}`);
    expect(post('wallets/portfolio', { wallets }).warnings).toEqual(['wallets: upper-case letters were lowered']);
  });

  test('fields may be named by path, of native rows in either spelling', () => {
    const { fields, problems } = get('lp/lps/whales', 'fields=UsdTotal,usd_total,owner');
    expect([fields, problems]).toEqual([['UsdTotal', 'usd_total', 'owner'], []]);
  });

  test('csv means one set of columns, unless the native ones are asked for', () => {
    expect(get('lp/lps/whales', 'format=CSV').variables.field_case).toBe('snake');
    expect(get('lp/lps/whales', 'format=csv&field_case=native').variables.field_case).toBe('native');
    expect(get('lp/lps/whales', 'format=ndjson').variables.field_case).toBe('native');
    expect(get('markets/trending', 'format=csv').variables).not.toHaveProperty('field_case');
  });

  test('equal values under two names are one value', () => expect(get('markets/trending', 'limit=5&n=5').problems).toEqual([]));

  test.each([[{ toString: 1 }], [['csv']], [7], [true]])('a format is a text, not %j', (format) => {
    expect(post('markets/trending', { format } as Record<string, unknown>)).toMatchObject({
      problems: [{ param: 'format', allowed: ['json', 'csv', 'ndjson'] }],
      format: 'json',
    });
  });

  test.each([
    ['fields=score,timeframe', { fields: 'tokens.score,timeframe' }],
    ['fields=tokens.score,score,last_updated', { fields: 'tokens.score,last_updated' }],
    [`token=${POOL}&fields=tokens.score,symbol`, { fields: 'score,symbol' }],
    [`token=${POOL}&fields=last_updated,score`, {}],
  ])('fields of one token, and of a list of tokens: ?%s would leave nothing', (query, suggestion) => {
    const reading = get('lp/dca/pressure', query);
    expect([reading.problems, reading.fields, reading.suggestion]).toEqual([
      [expect.objectContaining({ param: 'fields' })],
      null,
      suggestion,
    ]);
  });

  test.each([
    'fields=tokens.score,timeframe',
    'fields=tokens',
    `token=${POOL}&fields=score,timeframe`,
    'token=bad&fields=score,tokens.score',
  ])('fields of the answer that is asked for: ?%s', (query) =>
    expect(get('lp/dca/pressure', query).problems.filter(({ param }) => param === 'fields')).toEqual([]),
  );

  test('an empty list of fields is no list of fields, nor is one of more than a hundred', () => {
    expect(post('wallets/profile', { wallet: WALLET, fields: [] }).problems).toMatchObject([{ param: 'fields' }]);
    const named = (times: number): unknown => post('markets/trending', { fields: Array(times).fill('question') }).problems;
    expect([named(100), named(101)]).toMatchObject([[], [{ param: 'fields' }]]);
  });
});

describe('bad values are named, with what was got and what is allowed', () => {
  test.each([
    ['markets/trending', 'limit=0', 'limit', { min: 1, max: 100 }, '0'],
    ['markets/trending', 'limit=101', 'limit', { min: 1, max: 100 }, '101'],
    ['markets/trending', 'limit=1.5', 'limit', { min: 1, max: 100 }, '1.5'],
    ['markets/trending', 'limit=ten', 'limit', { min: 1, max: 100 }, 'ten'],
    ['markets/trending', 'limit=0x10', 'limit', { min: 1, max: 100 }, '0x10'],
    ['markets/trending', 'limit=010', 'limit', { min: 1, max: 100 }, '010'],
    ['markets/trending', 'limit=', 'limit', { min: 1, max: 100 }, ''],
    ['markets/trending', 'category=', 'category', expect.arrayContaining(['Politics', 'Other']), ''],
    ['lp/dca/pressure', 'timeframe=', 'timeframe', expect.arrayContaining(['1m', 'all']), ''],
    ['markets/trending', 'limit=1&limit=2', 'limit', { min: 1, max: 100 }, '["1","2"]'],
    ['markets/trending', 'limit=1&n=2', 'limit', undefined, '["limit","n"]'],
    ['markets/trending', 'sort_by=beauty', 'sort_by', ['volume', 'volume_spike', 'trade_count', 'smart_money_inflow'], 'beauty'],
    ['perps/pressure/pairs', 'coins=BTC,btc', 'coins', 'distinct items', '["BTC","btc"]'],
    ['perps/pressure/pairs', 'coins=kPEPE,KPEPE', 'coins', 'distinct items', '["kPEPE","KPEPE"]'],
    ['perps/pressure/pairs', 'coins=xyz:CL,BTC,xyz:cl', 'coins', 'distinct items', '["xyz:CL","BTC","xyz:cl"]'],
    ['perps/pressure/pairs', 'coins=BTC,,ETH', 'coins', 'a base coin symbol (BTC, kPEPE, xyz:CL)', ''],
    ['perps/trades/feed', 'coin=', 'coin', 'a base coin symbol (BTC, kPEPE, xyz:CL)', ''],
    ['lp/pools/search', 'query=%20', 'query', 'a text of 1 to 128 characters without control characters', ' '],
    ['markets/search', 'query=%20%C2%A0%E2%80%8B', 'query', 'a text of 1 to 256 characters without control characters', ' \u00a0\u200b'],
    ['markets/categories', 'include_stats=', 'include_stats', [true, false], ''],
    [
      'lp/pools/events',
      `pool_address=${POOL.toLowerCase()}`,
      'pool_address',
      'a base58 address of 32 bytes (case-sensitive)',
      POOL.toLowerCase(),
    ],
    ['trades/whales', 'smart_money_only=yes', 'smart_money_only', [true, false], 'yes'],
    ['trades/whales', 'cursor=next', 'cursor', 'a meta.next_cursor of this list', 'next'],
    ['trades/whales', 'cursor=', 'cursor', 'a meta.next_cursor of this list', ''],
    ['markets/trending', 'format=xml', 'format', ['json', 'csv', 'ndjson'], 'xml'],
    ['platform/stats', 'format=csv', 'format', ['json', 'ndjson'], 'csv'],
    ['lp/dca/pressure', 'format=csv', 'format', ['json', 'ndjson'], 'csv'],
    ['markets/trending', 'format=csv&format=json', 'format', ['json', 'csv', 'ndjson'], '["csv","json"]'],
    ['markets/trending', 'fields=question,colour', 'fields', expect.arrayContaining(['question', 'condition_id']), 'colour'],
    ['markets/trending', 'fields=question,,volume', 'fields', 'e.g. condition_id,question', 'question,,volume'],
    ['lp/lps/profile', 'owner=' + POOL + '&fields=events.UsdTotall', 'fields', expect.anything(), 'events.UsdTotall'],
    ['markets/capital-flow-comparison', 'timeframe=1h', 'timeframe', expect.anything(), '1h'],
    ['markets/capital-flow-comparison', 'timeframe=7d&timeframes=24h,30d', 'timeframe', '30d', '7d'],
    // A list that is no good says nothing of the window beside it.
    ['markets/capital-flow-comparison', 'timeframe=7d&timeframes=24hh,7d', 'timeframes', expect.anything(), '24hh'],
  ])('%s?%s', (name, query, param, allowed, got) => {
    const { problems } = get(name, query);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ param, got, ...(allowed === undefined ? {} : { allowed }) });
  });

  describe('a cursor', () => {
    const PAGED = ENDPOINTS.filter(({ parameters }) => parameters.some(({ name }) => name === 'cursor'));
    const input = (endpoint: Endpoint) => ({ ...sampleInput(endpoint), limit: 7 });
    const read = (endpoint: Endpoint, more: Record<string, unknown>) =>
      readParameters(endpoint, rawOfBody({ ...input(endpoint), ...more }));
    const cursorOf = (endpoint: Endpoint) => encodeCursor([1_700_000_000_000, 'a'], listScope(endpoint.name, read(endpoint, {}).variables));

    const DAY_MS = 86_400_000;

    test.each(PAGED.map((endpoint) => [endpoint.name, endpoint] as const))('%s: can be read on for a day', (name, endpoint) => {
      const cursor = cursorOf(endpoint);
      const problemsAt = (ms: number) =>
        readParameters(endpoint, rawOfBody({ ...input(endpoint), cursor }), new Date(1_700_000_000_000 + ms)).problems;
      expect(problemsAt(DAY_MS)).toEqual([]);
      expect(problemsAt(DAY_MS + 1)).toEqual(
        // Its rows are facts, which nothing that comes later changes.
        name === 'lp/pools/events'
          ? []
          : [
              {
                param: 'cursor',
                issue: 'is too old, or not of this list; begin again without it',
                allowed: 'meta.next_cursor of a page less than a day old',
                got: cursor.slice(0, 80),
                code: 'invalid_parameter',
              },
            ],
      );
    });

    test.each(PAGED.map((endpoint) => [endpoint.name, endpoint] as const))('of %s, with the same parameters, is right', (_, endpoint) => {
      const cursor = cursorOf(endpoint);
      expect(read(endpoint, { cursor })).toMatchObject({ problems: [], variables: { cursor } });
    });

    test.each(PAGED.map((endpoint) => [endpoint.name, endpoint] as const))('of %s is wrong with others, or changed', (_, endpoint) => {
      const [cursor, other] = [cursorOf(endpoint), cursorOf(PAGED.find((one) => one !== endpoint) as Endpoint)];
      const [mark, ...position] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
      const changed = Buffer.from(JSON.stringify([mark, ...position.with(0, 1_700_000_000_001)])).toString('base64url');
      for (const [sent, more] of [
        [cursor, { limit: 8 }],
        [changed, {}],
        [other, {}],
      ] as const) {
        const { problems, variables } = read(endpoint, { ...more, cursor: sent });
        expect(problems).toEqual([
          {
            param: 'cursor',
            issue: 'is not a cursor of this list; send the other parameters unchanged',
            allowed: 'meta.next_cursor of the previous page',
            got: sent.slice(0, 80),
            code: 'invalid_parameter',
          },
        ]);
        expect(variables).not.toHaveProperty('cursor');
      }
    });

    test('is not blamed for a parameter that is wrong beside it', () => {
      const endpoint = PAGED[0] as Endpoint;
      expect(read(endpoint, { limit: 0, cursor: cursorOf(endpoint) }).problems.map(({ param }) => param)).toEqual(['limit']);
    });
  });

  const TEXTS = ENDPOINTS.flatMap(({ name, parameters }) =>
    parameters.flatMap((one) => (one.type === 'String' && one.choices === null ? [[name, one.name] as const] : [])),
  );
  test.each(TEXTS)('%s: a blank %s', (name, param) => {
    for (const blank of ['', ' ', '\u3000'])
      expect(post(name, { ...sampleInput(endpointNamed(name)), [param]: blank }).problems).toMatchObject([
        { param, issue: 'is empty', got: blank },
      ]);
  });

  test.each([
    ['🐋', 256, []],
    ['🐋', 257, [{ param: 'query', issue: 'must have 1 to 256 characters' }]],
    ['x', 257, [{ param: 'query', issue: 'must have 1 to 256 characters' }]],
  ])('a text of %s, %d times, has so many characters', (char, times, problems) =>
    expect(post('markets/search', { query: char.repeat(times) }).problems).toMatchObject(problems),
  );

  test('what is empty is called so, whatever it should be', () =>
    expect(get('markets/trending', 'limit=&category=&timeframe=').problems.map(({ issue }) => issue)).toEqual(Array(3).fill('is empty')));

  test.each(['x'.repeat(201), '1&limit='.repeat(60)])('of what was got two hundred characters are told: limit=%s', (value) =>
    expect(get('markets/trending', `limit=${value}`).problems).toMatchObject([{ got: expect.stringMatching(/^.{200}$/) }]),
  );

  test('a number that JSON cannot hold is told in words', () => {
    const body = JSON.parse(`{"wallet":"${WALLET}","trades_limit":1e400}`) as Record<string, unknown>;
    expect(post('wallets/profile', body).problems).toMatchObject([
      { param: 'trades_limit', issue: 'is not a whole number', got: 'Infinity' },
    ]);
  });

  test.each([
    ['perps/trades/feed', 'coin=BTC-USDC', { coin: 'BTC' }],
    ['perps/trades/feed', 'coin=eth/usd', { coin: 'ETH' }],
    ['perps/trades/feed', 'coin=XYZ:CL', { coin: 'xyz:CL' }],
    ['perps/trades/feed', 'coin=xyz:CL-USDC', { coin: 'xyz:CL' }],
    ['perps/trades/feed', 'coin=a:b:c', {}],
    // A list as a whole, or not at all.
    ['perps/pressure/pairs', 'coins=BTC-USDC,ETH,BTC', { coins: 'BTC,ETH' }],
    ['perps/pressure/pairs', 'coins=BTC-USDC,%C3%A4', {}],
    ['perps/pressure/pairs', 'coins=BTC,,ETH', { coins: 'BTC,ETH' }],
    ['perps/pressure/pairs', 'coins=,', {}],
    ['markets/capital-flow-comparison', 'timeframes=24h,7dd', {}],
    ['markets/trending', 'category=Politcs', { category: 'Politics' }],
    ['markets/trending', 'category=Pop+Culture', { category: 'Culture' }],
    ['markets/trending', 'category=Technolgy', { category: 'Tech' }],
    ['markets/trending', 'timeframe=7d&catgory=Sports', { catgory: 'category' }],
    ['markets/trending', 'fields=questoin', { fields: 'question' }],
    ['markets/trending', 'fields=condition_id,questoin,categry', { fields: 'condition_id,question,category' }],
    ['markets/trending', 'fields=condition_id,questoin,colour', {}],
    // Lists are written with spaces too, and values copied with them.
    ['perps/pressure/pairs', 'coins=BTC,+ETH', { coins: 'BTC,ETH' }],
    ['markets/trending', 'limit=10+', { limit: '10' }],
    ['markets/trending', 'fields=condition_id,+question', { fields: 'condition_id,question' }],
    ['markets/trending', 'fields=condition_id,+questoin', { fields: 'condition_id,question' }],
    ['perps/pressure/pairs', 'coins[]=BTC&coins[1]=ETH', { 'coins[]': 'coins', 'coins[1]': 'coins' }],
    // One letter is not another one mistyped.
    ['markets/trending', 'x=7', {}],
  ])('%s?%s is answered with a suggestion', (name, query, suggestion) => expect(get(name, query).suggestion).toEqual(suggestion));

  test('a JSON body must hold JSON types that fit', () => {
    const bad = post('wallets/profile', { wallet: 7, include_trades: 'perhaps', trades_limit: [1] });
    expect(bad.problems.map(({ param }) => param)).toEqual(['wallet', 'include_trades', 'trades_limit']);
    // Priced as if they had not been sent.
    expect(bad.variables).toEqual({ include_positions: true, include_trades: true, trades_limit: 50, explain: false });
  });

  test('a value that is said twice otherwise is as if absent', () =>
    expect(get('markets/trending', 'limit=1&n=2').variables.limit).toBe(20));

  test('a window that does not fit the others is as if absent', () => {
    for (const query of ['timeframe=1h', 'timeframe=7d&timeframes=24h,30d'])
      expect(get('markets/capital-flow-comparison', query).variables).not.toHaveProperty('timeframe');
  });

  test('windows that are no good are as if absent beside the longest', () =>
    expect(get('markets/capital-flow-comparison', 'timeframe=7d&timeframes=30d').variables).toMatchObject({
      timeframe: '7d',
      timeframes: ['12h', '24h', '7d'],
    }));

  test('what is missing is told apart from what is wrong', () => {
    expect(post('wallets/profile', {}).problems).toEqual([
      expect.objectContaining({
        param: 'wallet',
        issue: 'is required',
        code: 'missing_parameter',
        got: null,
        allowed: 'an address of 0x and 40 hex digits',
      }),
    ]);
    expect(post('wallets/compare', {}).problems).toEqual([
      expect.objectContaining({
        code: 'missing_parameter',
        allowed: { min_items: 2, max_items: 5, item: 'an address of 0x and 40 hex digits' },
      }),
    ]);
    expect(get('lp/positions/active', '').problems).toEqual([
      expect.objectContaining({ code: 'missing_parameter', allowed: ['pool_address', 'owner'] }),
    ]);
  });

  test.each([
    ['markets/price-history', { timeframe: '30d', bucket_size: '5m' }, '8640', '1h'],
    ['markets/sentiment', { timeframe: '365d', bucket_size: '1h' }, '8760', '12h'],
    ['markets/smart-flow', { timeframe: '90d', bucket_size: '1h' }, '2160', '4h'],
  ])('%s: buckets too fine for the window are refused beforehand, whatever the data', (name, body, count, fits) => {
    const market = { condition_id: `0x${'1'.repeat(64)}` };
    const reading = post(name, { ...market, ...body });
    // Which size there would be is told as if none had been sent.
    expect(reading.variables.bucket_size).toBe(post(name, market).variables.bucket_size);
    expect(reading.problems).toEqual([
      { param: 'bucket_size', issue: expect.stringContaining(`makes ${count} buckets`), allowed: fits, got: body.bucket_size, code: 'range_too_large' }, // prettier-ignore
    ]);
    expect([refusalOf(reading)?.code, reading.suggestion]).toEqual(['range_too_large', { bucket_size: fits }]);
  });

  test('cells count where a bucket has a row of each market, coin or pool; what depends on the data is left to the answer', () => {
    const codeOf = (name: string, query: string): string | undefined => refusalOf(get(name, query))?.code;
    for (const [name, rows] of [
      ['markets/volume-heatmap', 'group_by=market&limit='],
      ['perps/coins/volume-heatmap', 'limit='],
      ['lp/platform/volume-heatmap', 'group_by=pool&limit='],
    ] as const) {
      expect(codeOf(name, `timeframe=30d&bucket_size=1h&${rows}30`)).toBe('range_too_large');
      expect(codeOf(name, `timeframe=30d&bucket_size=1h&${rows}29`)).toBeUndefined();
      expect(codeOf(name, `timeframe=30d&${rows}30`)).toBeUndefined();
      expect(codeOf(name, `timeframe=all&bucket_size=1h&${rows}30`)).toBeUndefined();
    }
    expect(codeOf('markets/volume-heatmap', 'group_by=category&timeframe=30d&bucket_size=1h&limit=30')).toBeUndefined();
    expect(codeOf('wallets/insiders/trend', 'timeframe=90d&bucket_size=1h')).toBe('range_too_large');
    expect(codeOf('perps/trades/long-short-ratio', 'coin=BTC&timeframe=365d&bucket_size=4h')).toBe('range_too_large');
    const unread = get('markets/volume-heatmap', 'timeframe=365d&bucket_size=2h');
    expect(unread.problems.map(({ param, got }) => [param, got])).toEqual([['bucket_size', '2h']]);
    // Beside another problem it is one problem among others.
    expect(codeOf('perps/trades/long-short-ratio', 'timeframe=365d&bucket_size=4h')).toBe('invalid_parameter');
  });

  test('unknown names are told, not dropped', () =>
    expect(get('markets/trending', `colour=red&__proto__=1&constructor=2&${'x'.repeat(101)}=3`).ignored).toEqual([
      'colour',
      '__proto__',
      'constructor',
      'x'.repeat(100),
    ]));

  test('a flood of names is read in one go: all are told, what was meant is looked for in the first few', () => {
    // Each one letter away from a name that is known.
    const names = Array.from({ length: 4_000 }, (_, index) => `limit${String.fromCodePoint(0x4e00 + index)}`);
    const { ignored, suggestion } = get('markets/trending', names.join('&'));
    expect([ignored, Object.keys(suggestion)]).toEqual([names, names.slice(0, 10)]);
    // Copied at every repetition it would take minutes.
    expect(rawOfQuery(new URLSearchParams('a&'.repeat(300_000))).get('a')).toHaveLength(300_000);
  });
});

test.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint] as const))(
  '%s: its own sample and every bound and choice are read as declared',
  (_, endpoint) => {
    const sample = sampleInput(endpoint);
    const read = (change: Record<string, unknown>): ReturnType<typeof readParameters> =>
      readParameters(endpoint, rawOfBody({ ...sample, ...change }));
    expect(read({}).problems).toEqual([]);
    for (const parameter of endpoint.parameters) {
      const values = (change: unknown): number => read({ [parameter.name]: change }).problems.length;
      if (parameter.list) {
        expect(values(Array.from({ length: (parameter.max as number) + 1 }, (_unused, index) => String(index)))).toBeGreaterThan(0);
      } else if (parameter.type === 'Int' || parameter.type === 'Float') {
        const [min, max] = [parameter.min as number, parameter.max as number];
        expect([values(min), values(max), values(min - 1), values(max + 1)]).toEqual([0, 0, 1, 1]);
      } else if (parameter.choices) {
        expect(parameter.choices.map((choice) => values(choice.toUpperCase()))).toEqual(parameter.choices.map(() => 0));
        expect(values('no-such-choice')).toBe(1);
      }
    }
  },
);

test('no input makes the reader throw, and what it accepts is inside the bounds', () => {
  const value = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.integer(), fc.constant(null), fc.array(fc.anything()), fc.object());
  fc.assert(
    fc.property(fc.constantFrom(...ENDPOINTS), fc.dictionary(fc.string(), value), fc.array(value), (endpoint, junk, values) => {
      const sent = Object.fromEntries(endpoint.parameters.map((parameter, index) => [parameter.name, values[index]]));
      const reading = readParameters(endpoint, rawOfBody({ ...junk, ...sent }));
      for (const parameter of endpoint.parameters) {
        const read = reading.variables[parameter.name];
        if (typeof read === 'number') expect(read >= (parameter.min as number) && read <= (parameter.max as number)).toBe(true);
        if (parameter.choices && typeof read === 'string') expect(parameter.choices).toContain(read);
      }
    }),
    { numRuns: 2_000 },
  );
});
