import { getOperationAST, getIntrospectionQuery, parse, Kind } from 'graphql';
import { MOST_COST, costOf } from '../../src/graph/cost';
import { ENDPOINTS } from '../support/catalogue';
import { SCHEMA } from './explore';

function cost(source: string, variables: Record<string, unknown> = {}): number {
  const document = parse(source);
  const fragments = Object.fromEntries(
    document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [])),
  );
  const operation = getOperationAST(document);
  if (!operation) throw new Error('no operation');
  return costOf(SCHEMA, operation, fragments, variables);
}

const ID = `0x${'0'.repeat(64)}`;
const MARKET = `market(condition_id: "${ID}")`;

test.each([
  // A field of the root.
  [`{ ${MARKET} { question slug } }`, 50],
  // And an event: one object.
  [`{ ${MARKET} { event { slug } } }`, 51],
  // A page: the connection, then 7 times node and market, then the place of the page.
  [`{ ${MARKET} { trades(first: 7) { nodes { market { question } } page_info { end_cursor } } } }`, 50 + 1 + 7 * (1 + 1 + 1)],
  // Without `first` the schema's own default counts.
  [`{ ${MARKET} { trades { nodes { market { question } } } } }`, 50 + 1 + 20 * (1 + 1)],
  // A list that nothing bounds counts ten rows.
  [`{ ${MARKET} { outcomes { market { question } } } }`, 50 + 1 + 10 * 1],
  // A limit of a sold question.
  ['{ perpsTradesWhales(limit: 30) { trader_profile { trader } coin_info { coin } } }', 50 + 30 * 2],
  // A hundred values: one.
  ['{ perpsTradesWhales(limit: 50) { coin trader } }', 50 + 1],
  // The same under two names is paid twice.
  [`{ a: ${MARKET} { event { slug } } b: ${MARKET} { event { slug } } }`, 102],
] as const)('cost of %s', (source, expected) => {
  expect(cost(source)).toBe(expected);
});

test('fragments cost what they hold, as often as they are used', () => {
  const plain = cost(`{ ${MARKET} { trades(first: 5) { nodes { market { event { slug } } } } } }`);
  expect(
    cost(`{ ${MARKET} { trades(first: 5) { nodes { ...a } } } } fragment a on PmTrade { market { ... on Market { event { slug } } } }`),
  ).toBe(plain);
  expect(cost(`{ ${MARKET} { trades(first: 5) { nodes { ...a ...a } } } } fragment a on PmTrade { market { event { slug } } }`)).toBe(
    plain + 5 * 2,
  );
  // A page stays one: its list has the rows that were asked of it.
  expect(
    cost(
      `{ ${MARKET} { trades(first: 5) { ... on PmTradeConnection { ...page } } } } fragment page on PmTradeConnection { nodes { market { event { slug } } } }`,
    ),
  ).toBe(plain);
  // Refused elsewhere; here it must end.
  expect(cost(`{ ${MARKET} { ...a } } fragment a on Market { event { markets { nodes { ...a } } } }`)).toBeGreaterThan(0);
});

test('sizes sent as variables and as defaults of variables count alike', () => {
  const source = (declared: string): string => `query q(${declared}) { ${MARKET} { trades(first: $n) { nodes { market { question } } } } }`;
  expect(cost(source('$n: Int!'), { n: 90 })).toBe(50 + 1 + 90 * 2);
  expect(cost(source('$n: Int! = 90'))).toBe(50 + 1 + 90 * 2);
  expect(cost(source('$n: Int! = 90'), { n: 80 })).toBe(50 + 1 + 80 * 2);
});

test('fragments within fragments are walked once each', () => {
  const fan = Array.from({ length: 60 }, (_, index) => `fragment f${index} on Query { ...f${index + 1} ...f${index + 1} }`).join(' ');
  expect(cost(`{ ...f0 } ${fan} fragment f60 on Query { ${MARKET} { question } }`)).toBe(50.01 * 2 ** 60);
});

test('the same value under a thousand names is paid a thousand times, in introspection too', () => {
  const names = (field: string): string => Array.from({ length: 1_000 }, (_, index) => `a${index}: ${field}`).join(' ');
  expect(cost(`{ perpsTradesWhales(limit: 1000) { ${names('coin')} } }`)).toBe(50 + (1_000 * 1_000) / 100);
  expect(cost(`{ perpsTradesWhales(limit: 1000) { ...a ...a } } fragment a on PerpTrade { ${names('coin')} }`)).toBe(50 + 2 * 10_000);
  expect(cost(`{ __schema { types { fields { ${names('name')} } } } }`)).toBeGreaterThan(MOST_COST);
});

test('introspection may be asked for, not a hundred times at once, and every document that is sold could be asked for freely', () => {
  expect(cost(getIntrospectionQuery())).toBeLessThanOrEqual(MOST_COST);
  const many = Array.from({ length: 100 }, (_, index) => `a${index}: __schema { types { name } }`).join(' ');
  expect(cost(`{ ${many} }`)).toBeGreaterThan(MOST_COST);
  for (const endpoint of ENDPOINTS) {
    const operation = getOperationAST(endpoint.document);
    const defaults = Object.fromEntries(endpoint.parameters.map(({ name, default: value }) => [name, value]));
    expect(operation && costOf(SCHEMA, operation, {}, defaults)).toBeLessThanOrEqual(MOST_COST);
  }
});
