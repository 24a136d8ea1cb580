import { type GraphQLObjectType, buildSchema, parse } from 'graphql';
import { AppError } from '../../src/errors';
import { compile } from '../../src/graph/execute';
import type { GraphContext } from '../../src/venues/venue';

const DOCUMENT = parse('query q($limit: Int) { data: row(limit: $limit) { a b } }');

/** What a question throws whose fields are resolved so. */
async function thrownBy(fields: Partial<Record<'a' | 'b', () => unknown>>, variables = {}): Promise<unknown> {
  const schema = buildSchema('type Query { row(limit: Int): Row } type Row { a: Int b: Int }');
  schema.getQueryType()!.getFields().row!.resolve = () => ({});
  for (const field of Object.values((schema.getType('Row') as GraphQLObjectType).getFields()))
    field.resolve = fields[field.name as 'a' | 'b'];
  return compile(schema, DOCUMENT)(variables, {} as GraphContext).catch((error: unknown) => error);
}

const failing = (error: Error) => () => {
  throw error;
};

test('an answer of which a part fails is none: thrown is what is meant for the consumer, else what failed first', async () => {
  const [bug, told] = [new Error('a bug'), new AppError('not_found')];
  expect(await thrownBy({ a: failing(bug), b: failing(told) })).toBe(told);
  expect(await thrownBy({ a: () => 1, b: failing(bug) })).toBe(bug);
  expect(await thrownBy({ a: () => 1, b: () => null })).toEqual({ a: 1, b: null });
});

test('a document that names nothing to run cannot be compiled', () => {
  const schema = buildSchema('type Query { a: Int }');
  expect(() => compile(schema, parse('fragment f on Query { a }'))).toThrow(/^Cannot compile: ./);
});

test.each([
  [{ limit: 5 }, undefined],
  [{ limit: 5, category: null }, undefined],
  [{ limit: 6 }, { limit: 6 }],
  [
    { limit: 5, category: 'Sports' },
    { limit: 5, category: 'Sports' },
  ],
])('what is suggested where five were asked for, %j, is told as %j: what changes nothing is no suggestion', async (suggestion, told) => {
  const error = (await thrownBy({ a: failing(new AppError('empty_result', { reason: 'why', suggestion })) }, { limit: 5 })) as AppError;
  expect([error.code, error.context.reason, error.context.suggestion]).toEqual(['empty_result', 'why', told]);
});
