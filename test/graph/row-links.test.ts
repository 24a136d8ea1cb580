import {
  type DocumentNode,
  Kind,
  type SelectionSetNode,
  TypeInfo,
  graphql,
  isObjectType,
  parse,
  print,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { makeContext } from '../../src/graph/context';
import { ENDPOINTS } from '../support/catalogue';
import { defaultInput, loosestInput } from '../support/subjects';
import { type ThreeWorlds, threeWorlds } from '../support/three-worlds';
import { SCHEMA } from './explore';

/** What a row names, the field that leads there, and the name it has there. */
const LINKS = [
  ['condition_id', 'market', 'condition_id'],
  ['wallet', 'wallet_profile', 'wallet'],
  ['trader', 'trader_profile', 'trader'],
  ['coin', 'coin_info', 'coin'],
  ['pool_address', 'pool', 'pool_address'],
  ['PoolAddress', 'pool', 'pool_address'],
  ['owner', 'provider', 'owner'],
  ['Owner', 'provider', 'owner'],
  ['token_mint', 'token', 'mint'],
] as const;

const selected = (set: SelectionSetNode, name: string): boolean =>
  set.selections.some((node) => node.kind === Kind.FIELD && node.name.value === name && node.alias === undefined);

/** The document with what its rows lead to, and the links added, each by its type. */
function withLinks(document: DocumentNode): { source: string; added: Set<string> } {
  const added = new Set<string>();
  const types = new TypeInfo(SCHEMA);
  const grown = visit(
    document,
    visitWithTypeInfo(types, {
      SelectionSet(set) {
        const type = types.getParentType();
        if (!isObjectType(type) || type === SCHEMA.getQueryType()) return undefined;
        const extra = LINKS.filter(([key, link]) => selected(set, key) && link in type.getFields());
        for (const [key] of extra) added.add(`${type.name}.${key}`);
        const fields = extra.flatMap(([key, link, there]) => (parse(`{ to_${key}: ${link} { ${there} } }`).definitions[0] as { selectionSet: SelectionSetNode }).selectionSet.selections); // prettier-ignore
        const named = (parse('{ row_type: __typename }').definitions[0] as { selectionSet: SelectionSetNode }).selectionSet.selections;
        return extra.length === 0 ? undefined : { ...set, selections: [...set.selections, ...named, ...fields] };
      },
    }),
  );
  return { source: print(grown), added };
}

/** Notes each link of an answer that leads somewhere; throws where it leads elsewhere than the row says. */
function follow(value: unknown, led: Set<string>): void {
  if (Array.isArray(value)) return value.forEach((one) => follow(one, led));
  if (value === null || typeof value !== 'object') return;
  const row = value as Record<string, unknown>;
  for (const [key, , there] of LINKS) {
    const target = row[`to_${key}`] as Record<string, unknown> | null | undefined;
    if (target === null || target === undefined) continue;
    expect([row.row_type, key, target[there]]).toEqual([row.row_type, key, row[key]]);
    led.add(`${String(row.row_type)}.${key}`);
  }
  for (const [key, inner] of Object.entries(row)) if (!key.startsWith('to_')) follow(inner, led);
}

/** Rows that a world this small has none of, or that are asked for in lp-links.test.ts. */
const RARE = [
  'ActivePosition',
  'DcaTokenPressure',
  'ConvictionMarket',
  'Opportunity',
  'SmartSignal',
  'DumbConsensus',
  'PortfolioConsensus',
  'PortfolioConflict',
];

let worlds: ThreeWorlds;
beforeAll(async () => {
  worlds = await threeWorlds(3_000, 20);
});
afterAll(() => worlds.close());

test('rows of all answers lead to what they name', async () => {
  const [added, led] = [new Set<string>(), new Set<string>()];
  for (const endpoint of ENDPOINTS) {
    const { source, added: links } = withLinks(endpoint.document);
    links.forEach((link) => added.add(link));
    const subjects = worlds.subjects[endpoint.venue];
    // What the default leaves out: several wallets together, one set of names for events, a pool, a token.
    const further: Record<string, unknown> = {
      field_case: 'snake',
      wallets: subjects.wallet?.slice(0, 5),
      pool_address: subjects.pool_address?.[0],
      token: subjects.token?.[0],
    };
    const wider = endpoint.parameters.filter(({ name }) => further[name] !== undefined).map(({ name }) => [name, further[name]] as const);
    for (const variableValues of [
      loosestInput(endpoint, subjects),
      defaultInput(endpoint, subjects),
      { ...loosestInput(endpoint, subjects), ...Object.fromEntries(wider) },
    ]) {
      const { data, errors } = await graphql({
        schema: SCHEMA,
        source,
        variableValues,
        contextValue: makeContext(worlds.database, worlds.now),
      });
      // A small world leaves some questions without an answer; links must never be what fails.
      expect([endpoint.name, (errors ?? []).filter(({ path }) => path !== undefined && path.length > 1).map(({ message }) => message)]).toEqual([endpoint.name, []]); // prettier-ignore
      follow(JSON.parse(JSON.stringify(data ?? null)), led);
    }
  }
  expect(added.size).toBeGreaterThan(80);
  expect([...added].filter((link) => !led.has(link) && !RARE.some((type) => link.startsWith(`${type}.`)))).toEqual([]);
});
