import { GraphQLError, GraphQLScalarType, type ValueNode, valueFromASTUntyped } from 'graphql';
import { LONGEST_CURSOR } from '../lib/cursor';
import { FORMS, type Form } from '../lib/forms';
import { roundDecimal, roundTo } from '../lib/statistics';
import { isoSecond } from '../lib/time';

/** A number from what the store holds (numeric columns come as strings or Decimal objects), to so many places; null: all it has. */
function numberOf(value: unknown, places: number | null): number {
  const held = typeof value === 'number' ? value : String(value);
  const number = places === null ? Number(held) : typeof held === 'number' ? roundTo(held, places) : roundDecimal(held, places);
  if (!Number.isFinite(number)) throw new Error('A figure is not a number.');
  return number + 0;
}

const numeric = (name: string, places: number | null): GraphQLScalarType =>
  new GraphQLScalarType({ name, serialize: (value) => numberOf(value, places), parseValue: (value) => numberOf(value, null) });

/** An instant with second precision (milliseconds are dropped, not rounded up into the future). */
function instant(value: unknown): string {
  const date = value instanceof Date ? value : new Date(String(value));
  if (Number.isNaN(date.getTime())) throw new Error('An instant cannot be read.');
  return isoSecond(date);
}

/** A scalar of one form. What is refused is told with where it stands, and with the schema's own words for what would be right. */
function textual(name: string, { canonical, meant }: Pick<Form, 'canonical' | 'meant'>): GraphQLScalarType {
  const read = (value: unknown, { description }: GraphQLScalarType, nodes?: ValueNode): string => {
    const text = typeof value === 'string' ? canonical(value) : undefined;
    if (text !== undefined) return text;
    const suggested = typeof value === 'string' ? meant?.(value) : undefined;
    const question = suggested === undefined ? '' : ` Did you mean "${suggested}"?`;
    throw new GraphQLError(`Not a valid ${name}: ${String(value).slice(0, 100)} (${description})${question}`, { nodes });
  };
  return new GraphQLScalarType({
    name,
    serialize: (value) => String(value),
    // Called as methods of the schema's own scalar, which has the words.
    parseValue(this: GraphQLScalarType, value) {
      return read(value, this);
    },
    parseLiteral(this: GraphQLScalarType, node) {
      return read(valueFromASTUntyped(node), this, node);
    },
  });
}

/** The scalars of base.graphql: the one place where figures are rounded and instants written. */
export const SCALARS: Record<string, GraphQLScalarType> = {
  Usd: numeric('Usd', 6),
  Percent: numeric('Percent', 6),
  Ratio: numeric('Ratio', 6),
  Price: numeric('Price', 6),
  Quantity: numeric('Quantity', null),
  Score: numeric('Score', 1),
  DateTime: new GraphQLScalarType({ name: 'DateTime', serialize: instant, parseValue: instant }),
  Date: new GraphQLScalarType({
    name: 'Date',
    serialize: (value) => instant(value).slice(0, 10),
    parseValue: (value) => instant(value).slice(0, 10),
  }),
  ...Object.fromEntries(Object.entries(FORMS).map(([name, form]) => [name, textual(name, form)])),
  Cursor: textual('Cursor', { canonical: (text) => (text.length > 0 && text.length <= LONGEST_CURSOR ? text : undefined) }),
};
