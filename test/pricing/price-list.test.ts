import type { Value } from '../../src/endpoints/endpoint';
import { docsPage } from '../../src/gateway/pages/reference';
import { makeSchema } from '../../src/graph/schema';
import { lengthOf, type Timeframe } from '../../src/lib/timeframe';
import { priceList } from '../../src/pricing/catalog';
import { quote } from '../../src/pricing/quote';
import { ENDPOINTS } from '../support/catalogue';
import { ROOT } from '../support/root';

// Whoever has the price list alone can compute what a request costs.

type Variables = Record<string, Value>;

const list = priceList(ENDPOINTS);
const row = (path: string) => list.endpoints.find((one) => one.path === path) as (typeof list.endpoints)[number];
const lengthIn = (variables: Variables, name: string): number => (variables[name] as readonly string[]).length;

/** What the rules of single endpoints say, by their words: of the special factor, and of the window's. */
const SPECIAL: Record<string, (variables: Variables) => number> = {
  'number of wallets / 2': (variables) => lengthIn(variables, 'wallets') / 2,
  'number of traders / 2': (variables) => lengthIn(variables, 'traders') / 2,
  'number of owners / 2': (variables) => lengthIn(variables, 'owners') / 2,
  'max(1, number of wallets / 10)': (variables) => Math.max(1, lengthIn(variables, 'wallets') / 10),
  'include_positions and include_trades: both 1.0, one 0.7, none 0.4': (variables) =>
    [0.4, 0.7, 1][Number(variables.include_positions) + Number(variables.include_trades)] as number,
  'without category: 2.0': (variables) => (variables.category === undefined ? 2 : 1),
};
const multiplierOf = (token: unknown): number => list.timeframe_multipliers[token as Timeframe] as number;
const WINDOW: Record<string, (variables: Variables) => number> = {
  'timeframe: min(1, multiplier)': ({ timeframe }) => (timeframe === undefined ? 1 : Math.min(1, multiplierOf(timeframe))),
  'timeframes: multiplier of the longest': ({ timeframe, timeframes }) =>
    multiplierOf(timeframe ?? [...(timeframes as Timeframe[])].sort((a, b) => lengthOf(b) - lengthOf(a))[0]),
};

function computed(path: string, variables: Variables): number {
  const { base_price, limit_param, default_limit, filters } = row(path);
  const rules = list.special_rules.filter(({ endpoints }) => endpoints.includes(path)).map(({ rule }) => rule);
  expect(rules.filter((rule) => !(rule in SPECIAL) && !(rule in WINDOW))).toEqual([]);
  const windowed = rules.map((rule) => WINDOW[rule]).find((factor) => factor !== undefined);
  const window = windowed?.(variables) ?? (variables.timeframe === undefined ? 1 : multiplierOf(variables.timeframe));
  const limit = limit_param === null ? 1 : Math.max(1, (variables[limit_param] as number) / (default_limit as number));
  const counts: Record<string, (value: Value | undefined) => boolean> = {
    'always present': () => true,
    sent: (value) => value !== undefined,
    true: (value) => value === true,
    'sent and not all': (value) => value !== 'all',
  };
  const active = filters.filter(({ param, condition }) => counts[condition]?.(variables[param]));
  const special = rules.map((rule) => SPECIAL[rule]?.(variables) ?? 1);
  const price = [base_price, window, limit, ...active.map(({ factor }) => factor), ...special].reduce((all, one) => all * one, 1);
  return Math.max(list.bounds.floor, Math.min(price, list.caps[path] ?? 1, list.bounds.ceiling));
}

/** The defaults, and what differs from them in one parameter: every window, filter and choice, the longest lists. */
function requestsOf({ path }: (typeof ENDPOINTS)[number]): Variables[] {
  const { params } = row(path);
  const items = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));
  const plain = Object.fromEntries(
    params.flatMap(({ name, type, default: usual, min, required }): [string, Value][] => {
      if (usual !== null) return [[name, usual]];
      return required ? [[name, type.endsWith('[]') ? items(min as number) : 'x']] : [];
    }),
  );
  const changes = params.flatMap(({ name, type, allowed, max }): Value[][] => {
    if (type === 'Boolean') return [[name, true], [name, false]]; // prettier-ignore
    if (type.endsWith('[]')) return allowed === null ? [[name, items(max as number)]] : [[name, ['1h', '90d']]];
    return [...(allowed ?? []), ...(max === null ? [] : [max])].map((value) => [name, value]);
  });
  return [plain, ...changes.map(([name, value]) => ({ ...plain, [name as string]: value as Value }))];
}

test.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint] as const))('%s', (_, endpoint) => {
  for (const variables of requestsOf(endpoint))
    expect([variables, Number(quote(endpoint, variables).amount) / 1e6]).toEqual([
      variables,
      expect.closeTo(computed(endpoint.path, variables), 6),
    ]);
});

test('the reference says so too: windows that only narrow, and when a filter counts', () => {
  const reference = docsPage(ENDPOINTS, makeSchema(`${ROOT}/graphql/schema`, []), 'https://api.example', { unpaid: 0, uncharged: 0 });
  const effectOf = (name: string, parameter: string): string | undefined =>
    new RegExp(
      `<h3 id="${name}">.*?<td><code>${parameter}</code></td><td>[^<]*</td><td>.*?</td><td><span class="price">([^<]*)<`,
      's',
    ).exec(reference)?.[1];
  expect(effectOf('markets-trending', 'timeframe')).toBe('× window');
  expect(effectOf('markets-resolutions', 'timeframe')).toBe('× window, at most 1');
  expect(effectOf('markets-trending', 'category')).toBe('× 0.7');
  expect(effectOf('trades-whales', 'smart_money_only')).toBe('× 0.7 if true');
  expect(effectOf('lp-pools-top', 'pool_type')).toBe('× 0.7 if not all');
});
