import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildSchema, printSchema } from 'graphql';
import { loadEndpoints } from '../../src/endpoints/load';
import { makeSchema } from '../../src/graph/schema';
import { ROOT } from '../support/root';

const schema = makeSchema(path.join(ROOT, 'graphql/schema'), []);

/** Loads one document as the file `platform/stats.graphql` and returns what the start would say. */
function complaint(document: string, over = schema): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'documents-'));
  fs.mkdirSync(path.join(folder, 'platform'));
  fs.writeFileSync(path.join(folder, 'platform/stats.graphql'), document);
  try {
    loadEndpoints(folder, over);
    return 'loads';
  } catch (error) {
    return (error as Error).message.replace(folder, '');
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

const HEAD = '@endpoint(method: GET, tier: light, summary: "s", fresh: 60)';
const good = `query platform_stats($timeframe: Timeframe! = "24h") ${HEAD} {
  data: platformStats(timeframe: $timeframe) { total_trades }
}`;

test('a right document loads', () => expect(complaint(good)).toBe('loads'));

test.each([
  ['broken syntax', good.replace('{ total_trades }', '{ total_trades'), ':3: '],
  ['an unknown field', good.replace('total_trades', 'total_cheese'), ':2: Cannot query field "total_cheese"'],
  ['an unknown argument', good.replace('(timeframe: $timeframe)', '(timeframes: $timeframe)'), ':2: Unknown argument "timeframes"'],
  ['no @endpoint', good.replace(HEAD, ''), ':1: the operation needs @endpoint'],
  ['an unknown tier', good.replace('light', 'golden'), ':1: Value "golden" does not exist'],
  ['a wrong operation name', good.replace('platform_stats', 'stats'), ':1: the operation must be named platform_stats'],
  ['a root without the alias', good.replace('data: ', ''), ':1: a document selects exactly one root field, aliased `data`'],
  [
    'two roots',
    good.replace('{ total_trades }', '{ total_trades } more: platformStats(timeframe: $timeframe) { total_trades }'),
    ':1: a document selects exactly one',
  ],
  [
    'the root field of another path',
    good.replace('platformStats', 'perpsPlatformStats'),
    ":2: the file's path asks for the root field platformStats",
  ],
  [
    'two operations',
    `${good}\nquery other { data: platformStats(timeframe: "24h") { total_trades } }`,
    ':4: a document holds exactly one query',
  ],
  [
    'a group with no parameter',
    good.replace('@endpoint', '@one_of_required(params: ["wallet"]) @endpoint'),
    '@one_of_required names wallet, which is no parameter',
  ],
  [
    'a number without bounds',
    good.replace('"24h")', '"24h", $limit: Int! = 3)').replace('$timeframe)', '$timeframe, limit: $limit)'),
    'Unknown argument "limit"',
  ],
])('%s stops the start with file and line', (_, document, expected) => {
  const said = complaint(document);
  expect(said).toMatch(/^\/platform\/stats\.graphql:\d+: /);
  expect(said).toContain(expected);
});

test('bounds, defaults, factors and samples are checked where they stand', () => {
  const feed = fs.readFileSync(path.join(ROOT, 'graphql/endpoints/perps/trades/feed.graphql'), 'utf8');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'documents-'));
  fs.mkdirSync(path.join(folder, 'perps/trades'), { recursive: true });
  const tryOut = (document: string): string => {
    fs.writeFileSync(path.join(folder, 'perps/trades/feed.graphql'), document);
    try {
      loadEndpoints(folder, schema);
      return 'loads';
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(tryOut(feed)).toBe('loads');
  expect(tryOut(feed.replace(/\$limit: Int! = 100/, '$limit: Int! = 5000'))).toMatch(
    /feed\.graphql:\d+: the default of \$limit is outside its @range/,
  );
  expect(tryOut(feed.replace(/@range\(min: 1, max: 500\)/, ''))).toMatch(/needs both bounds/);
  expect(tryOut(feed.replace(/@doc\(sample: "[^"]*"\)/, ''))).toMatch(/\$coin is required: give a sample/);
  expect(tryOut(feed.replace(/\$limit: Int! = 100/, '$limit: Int!'))).toMatch(/the priced limit must be an Int with a default/);
  fs.rmSync(folder, { recursive: true });
});

test('a parameter of a type that no request can be read for stops the start', () => {
  const coloured = buildSchema(
    `${printSchema(schema).replace('platformStats(', 'platformStats("Of the figures." colour: Colour, ')}\nscalar Colour`,
  );
  const document = good.replace('"24h")', '"24h", $colour: Colour)').replace('$timeframe)', '$timeframe, colour: $colour)');
  expect(complaint(document, coloured)).toContain('no request can be read for the type Colour of $colour');
});
