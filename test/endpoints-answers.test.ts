import http from 'node:http';
import { type DocumentNode, print } from 'graphql';
import { loadCatalogue } from '../src/catalogue';
import type { Endpoint, Parameter } from '../src/endpoints/endpoint';
import { rawOfBody, readParameters } from '../src/endpoints/read';
import { sampleMeta } from '../src/gateway/meta-schema';
import { makeExplorer } from '../src/graph/explorer';
import { standingClock } from '../src/lib/clock';
import { brokenRules } from './support/answer-rules';
import { type Input, type Told, ask, requestOf } from './support/ask';
import { ENDPOINTS } from './support/catalogue';
import { ROOT } from './support/root';
import { type OpenGateway, startOpenGateway } from './support/open-gateway';
import { type Unstated, statedBy } from './support/stated-answers';
import { SORT_ORDERS, outOfOrder, sortedRows } from './support/sort-orders';
import { defaultInput, loosestInput } from './support/subjects';
import { type ThreeWorlds, commonWorlds } from './support/three-worlds';

// The contract of all 74 answers, over small scored worlds: every choice, every bound, units by name, orders, counts, that each is as
// OpenAPI states it, and that REST and GraphQL say the same.

let worlds: ThreeWorlds;
let gateway: OpenGateway;
let unstated: Unstated;
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });

beforeAll(async () => {
  worlds = await commonWorlds();
  gateway = await startOpenGateway(worlds.database, worlds.now);
  unstated = statedBy((await (await fetch(`${gateway.url}/openapi.json`)).json()) as Record<string, unknown>);
});
afterAll(async () => {
  agent.destroy();
  await gateway.close();
  await worlds.close();
});

const standard = (endpoint: Endpoint): Input => defaultInput(endpoint, worlds.subjects[endpoint.venue]);
/** Small worlds hold little that passes the default bounds. */
const loosest = (endpoint: Endpoint): Input => loosestInput(endpoint, worlds.subjects[endpoint.venue]);

async function send(endpoint: Endpoint, input: Input): Promise<Told & { json: Answer }> {
  const { path, body } = requestOf(endpoint, input);
  const told = await ask(gateway.url, agent, endpoint.method, path, body);
  const json = JSON.parse(told.body) as Answer;
  // Whatever is asked here: what comes back is as OpenAPI states it for the path and the status.
  const differing = unstated(endpoint.method, endpoint.path, told.status, json);
  expect([endpoint.name, told.status, differing]).toEqual([endpoint.name, told.status, []]);
  return { ...told, json };
}

interface Answer {
  data: unknown;
  meta: {
    timeframe: string | null;
    count: number | null;
    limit: number | null;
    ignored_params: string[];
    endpoint: string;
    as_of: string;
    warnings: string[];
  };
  code: string;
  suggestion: Record<string, string> | null;
  charged: unknown;
  details: { param: string; got?: unknown }[];
  fallback: { path: string } | null;
}

/** Identifiers that stand for nothing, by type: what comes before their last digit. */
const STRANGERS: Record<string, string> = {
  ConditionId: `0x${'9'.repeat(63)}`,
  EvmAddress: `0x${'9'.repeat(39)}`,
  Coin: 'NOSUCHCOIN',
  Base58: '1'.repeat(31),
};

/** Values at which a parameter turns: its choices, true and false, both bounds. */
function turns({ choices, type, list, min, max }: Parameter): unknown[] {
  if (list) return [];
  if (choices) return [...choices];
  if (type === 'Boolean') return [true, false];
  if (type === 'Timeframe' || type === 'DcaTimeframe') return ['1h', 'today', '7d', 'all', ...(type === 'DcaTimeframe' ? ['1m'] : [])];
  return type === 'Int' || type === 'Float' ? [min, max] : [];
}

/** What is wrong with an answer, by the rules that hold for all. */
function wrongIn(endpoint: Endpoint, input: Input, { status, json }: { status: number; json: Answer }): string[] {
  if (status === 404)
    return [...(json.charged === false ? [] : ['an answer without data was charged']), ...repeated(endpoint, input, json)];
  // Of an old subject `all` has more buckets of the default size than are sent: refused, with a size that fits.
  if (json.code === 'range_too_large' && input.timeframe === 'all') return json.suggestion?.bucket_size ? [] : ['suggests no bucket_size'];
  // Nothing shorter is left to compare an hour with.
  if (endpoint.name === 'markets/capital-flow-comparison' && input.timeframe === '1h') return status === 400 ? [] : [`${status}`];
  if (status !== 200) return [`${status} ${json.code}`];
  const wrong = brokenRules(json.data, endpoint.venue);
  const { count, limit } = json.meta;
  if (limit !== null && count !== null && count > limit) wrong.push(`${count} rows beside a limit of ${limit}`);
  const order = endpoint.parameters.find(({ name }) => name === 'sort_by' || name === 'metric');
  if (order === undefined || input.sort_order === 'asc') return wrong;
  const sorted = sortedRows(endpoint.name, String(input[order.name] ?? order.default), json.data);
  const amiss = sorted === null ? null : outOfOrder(descendingOf(endpoint, input, sorted));
  return amiss === null ? wrong : [...wrong, amiss];
}

/** A suggestion that changes nothing of what was asked. */
function repeated(endpoint: Endpoint, input: Input, { suggestion }: Answer): string[] {
  const asked = resolved(endpoint, input);
  const changes = Object.entries(suggestion ?? {}).some(([name, value]) => (asked[name] ?? null) !== value);
  return suggestion === null || changes ? [] : [`suggests ${JSON.stringify(suggestion)}, which was asked`];
}

/** Where the order can be turned round, the field's own direction is that of `asc`. */
function descendingOf(endpoint: Endpoint, input: Input, sorted: NonNullable<ReturnType<typeof sortedRows>>): typeof sorted {
  return endpoint.name === 'markets/closing-soon' && input.sort_order === 'desc' ? { ...sorted, ascending: false } : sorted;
}

describe.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint] as const))('%s', (_, endpoint) => {
  test('every choice and every bound is answered, in the units of its names, in the order asked for', async () => {
    const found: string[] = [];
    const changes = endpoint.parameters.flatMap((parameter) => turns(parameter).map((value) => ({ [parameter.name]: value })));
    for (const change of ['default', {}, ...changes]) {
      const input = change === 'default' ? standard(endpoint) : { ...loosest(endpoint), ...(change as Input) };
      const told = await send(endpoint, input);
      found.push(...wrongIn(endpoint, input, told).map((one) => `${JSON.stringify(change)} ${one}`));
      // Some change what is listed, or leave the list out.
      const listed = change === 'default' && told.status === 200 && told.json.meta.limit !== null;
      if (listed && told.json.meta.count === null) found.push('the length of the list that the limit bounds is not told');
      if (change !== 'default' || told.status !== 200) continue;
      const { timeframe, limit } = sampleMeta(endpoint);
      expect({ timeframe, limit }).toEqual({ timeframe: told.json.meta.timeframe, limit: told.json.meta.limit });
    }
    expect(found).toEqual([]);
  });

  test('just outside a bound, without what is required and with an unknown name', async () => {
    const input = standard(endpoint);
    for (const { name, type, list, min, max } of endpoint.parameters) {
      if (list || (type !== 'Int' && type !== 'Float')) continue;
      for (const value of [(min as number) - 1, (max as number) + 1]) {
        const { status, json } = await send(endpoint, { ...input, [name]: value });
        expect([name, value, status, json.code, json.details.map(({ param }) => param)]).toEqual([
          name,
          value,
          400,
          'invalid_parameter',
          [name],
        ]);
      }
    }
    for (const { name } of endpoint.parameters.filter(({ required }) => required)) {
      const { status, json } = await send(endpoint, Object.fromEntries(Object.entries(input).filter(([other]) => other !== name)));
      expect([status, json.code, json.details[0]?.param]).toEqual([400, 'missing_parameter', name]);
    }
    const { status, json } = await send(endpoint, { ...input, colour: 'red' });
    if (status === 200) expect(json.meta.ignored_params).toEqual(['colour']);
  });
});

const asking = ENDPOINTS.flatMap((endpoint) =>
  endpoint.parameters.filter(({ type }) => type in STRANGERS).map((parameter) => ({ name: endpoint.name, asked: parameter.name, endpoint, parameter })),
); // prettier-ignore

test.each(asking)('$name: a stranger in the place of $asked', async ({ endpoint, asked, parameter: { type, list, min } }) => {
  const items = Array.from({ length: list ? (min as number) : 1 }, (_, index) => `${STRANGERS[type]}${index + 2}`);
  const { status, json } = await send(endpoint, { ...standard(endpoint), [asked]: list ? items : items[0] });
  expect([status, json.charged]).toEqual([404, false]);
  // A stranger is named, with where those that are known are listed; a filter may find nothing instead.
  if (json.code !== 'not_found') return expect(json.suggestion?.timeframe ?? null).toBeNull();
  expect(json.details).toEqual([expect.objectContaining({ param: asked, got: items.join(',') })]);
  expect(ENDPOINTS.map(({ path }) => path)).toContain(json.fallback?.path);
});

test('every endpoint that sorts has its order told', () => {
  const sorting = ENDPOINTS.filter(({ parameters }) => parameters.some(({ name }) => name === 'sort_by' || name === 'metric'));
  expect(Object.keys(SORT_ORDERS).sort()).toEqual(sorting.map(({ name }) => name).sort());
});

test('REST and GraphQL say the same, all 74', async () => {
  const { schema, endpoints } = loadCatalogue(ROOT);
  const explorer = makeExplorer(schema, worlds.database, standingClock(worlds.now));
  const graph = async (document: DocumentNode, variables: Input): Promise<{ data: { data: unknown } | null; errors?: unknown[] }> => {
    const request = { query: print(document), variables };
    const response = await explorer.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(request),
    });
    return (await response.json()) as { data: { data: unknown } | null; errors?: unknown[] };
  };
  const unanswered: string[] = [];
  for (const endpoint of endpoints) {
    // The whole life of an old subject is refused by some; the default window is not.
    const refused = (await send(endpoint, loosest(endpoint))).status === 400;
    const input = refused ? standard(endpoint) : loosest(endpoint);
    const rest = await send(endpoint, input);
    const { data, errors } = await graph(endpoint.document, resolved(endpoint, input));
    if (rest.status === 200) {
      expect([endpoint.name, errors ?? [], data?.data]).toEqual([endpoint.name, [], rest.json.data]);
    } else {
      unanswered.push(endpoint.name);
      expect([endpoint.name, rest.status, rest.json.code]).toEqual([endpoint.name, 404, codeOf(errors)]);
    }
  }
  // A world this small has few copiers and few markets on which skilled wallets agree.
  expect(unanswered.length).toBeLessThan(12);
});

/** The variables a request stands for: a timeframe to compare by stands for three of them, which GraphQL is told one by one. */
const resolved = (endpoint: Endpoint, input: Input): Input => readParameters(endpoint, rawOfBody(input)).variables;

const codeOf = (errors: unknown[] | undefined): unknown =>
  (errors?.[0] as { extensions?: { code?: string } } | undefined)?.extensions?.code;

test('what has no effect is said of what was sent alone, and nothing of it is left in meta', async () => {
  const warned = async (path: string, input: Input): Promise<string[]> => {
    const { json } = await send(ENDPOINTS.find(({ name }) => name === path) as Endpoint, input);
    expect(Object.keys(json.meta)).not.toContain('ineffective');
    return json.meta.warnings.filter((text) => text.includes('effect') || text.includes('limit'));
  };
  expect(await warned('markets/categories', { include_stats: false })).toEqual([]);
  expect(await warned('markets/categories', { include_stats: false, timeframe: '7d' })).toEqual([
    'timeframe: has no effect with include_stats=false',
  ]);
  expect(await warned('markets/categories', { timeframe: '7d' })).toEqual([]);
  const hours = { timeframe: '7d', group_by: 'hour_of_day' };
  expect(await warned('markets/volume-heatmap', hours)).toEqual([]);
  for (const limit of [3, 50])
    expect(await warned('markets/volume-heatmap', { ...hours, limit })).toEqual(['limit: has no effect with group_by=hour_of_day']);
  const category = 'Politics';
  const grouped = { timeframe: '30d', group_by: 'category', limit: 3 };
  for (const path of ['markets/volume-heatmap', 'markets/volume-by-group']) {
    expect(await warned(path, grouped)).toEqual([]);
    expect(await warned(path, { ...grouped, category })).toEqual(['limit: has no effect with one category']);
  }
  for (const path of ['markets/capital-flow', 'markets/capital-flow-comparison'])
    expect(await warned(path, { timeframe: '30d', category, top_n_categories: 5 })).toEqual(['top_n_categories: has no effect with one category']); // prettier-ignore
  const wallet = worlds.subjects.prediction.wallet?.[0] as string;
  expect(await warned('wallets/profile', { wallet, trades_limit: 5 })).toEqual([]);
  expect(await warned('wallets/profile', { wallet, include_trades: false, trades_limit: 5 })).toEqual(['trades_limit: has no effect with include_trades=false']); // prettier-ignore
  expect(await warned('wallets/portfolio', { wallets: [wallet], include_positions: false, limit: 5 })).toEqual(['limit: has no effect with include_positions=false']); // prettier-ignore
});
