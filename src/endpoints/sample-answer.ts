import {
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import { FORMS } from '../lib/forms';
import type { Endpoint, Value } from './endpoint';
import { choicesOf, rootOf, sampleInput } from './json-schema';
import { rawOfBody, readParameters } from './read';

/** One value of each scalar; of a closed list and of an enum it is the first. */
const VALUES: Readonly<Record<string, string | number | boolean>> = {
  Usd: 1250.5,
  Percent: 12.5,
  Ratio: 0.5,
  Price: 0.42,
  Quantity: 100,
  Score: 72.5,
  DateTime: '2026-01-01T00:00:00Z',
  Date: '2026-01-01',
  Int: 3,
  Float: 1.5,
  Boolean: true,
  ConditionId: `0x${'12ab'.repeat(16)}`,
  EvmAddress: `0x${'12ab'.repeat(10)}`,
  TokenId: '1234567890',
  Coin: 'BTC',
  Base58: 'So11111111111111111111111111111111111111112',
  String: '…',
};

/**
 * What stands under `data` of an answer to the sample request, in its shape: every field of the document with a value of its type, one row in each list. The
 * figures are made up; what was asked for is told as it was asked.
 */
export function sampleData(endpoint: Endpoint, schema: GraphQLSchema): unknown {
  const { field, selection } = rootOf(endpoint, schema);
  const { variables } = readParameters(endpoint, rawOfBody(sampleInput(endpoint)));
  const asked = new Map(endpoint.parameters.map(({ name, type }) => [`${name}:${type}`, variables[name]]));
  return valueOf(field.type, selection, { schema, asked });
}

interface Told {
  schema: GraphQLSchema;
  /** Values of the request by name and type. */
  asked: ReadonlyMap<string, Value | undefined>;
}

function valueOf(type: GraphQLOutputType, selection: SelectionSetNode | undefined, told: Told, name = ''): unknown {
  const given = getNullableType(type);
  if (isListType(given)) return [valueOf(given.ofType as GraphQLOutputType, selection, told, name)];
  const named = getNamedType(given);
  if (isLeafType(named)) return leafOf(named, name, told);
  const variant = selection?.selections.find((node) => node.kind === Kind.INLINE_FRAGMENT);
  if (variant === undefined) return objectOf(named, selection, told);
  return objectOf(told.schema.getType(variant.typeCondition?.name.value ?? '') as GraphQLNamedType, variant.selectionSet, told);
}

function leafOf(type: GraphQLNamedType, name: string, { asked }: Told): unknown {
  const own = asked.get(`${name}:${type.name}`);
  if (own !== undefined && !Array.isArray(own)) return own;
  if (isEnumType(type)) return type.getValues()[0]?.name;
  return FORMS[type.name]?.choices?.[0] ?? VALUES[type.name] ?? VALUES.String;
}

function objectOf(type: GraphQLNamedType, selection: SelectionSetNode | undefined, told: Told): Record<string, unknown> {
  if (!isObjectType(type)) throw new Error(`${type.name} is no object type`);
  const fields = type.getFields();
  const selected = (selection?.selections ?? []).filter((node): node is FieldNode => node.kind === Kind.FIELD);
  return Object.fromEntries(
    selected.flatMap((node) => {
      const field = fields[node.name.value];
      if (field === undefined) return [];
      const value = choicesOf(field, told.schema)?.[0] ?? valueOf(field.type, node.selectionSet, told, node.name.value);
      return [[node.alias?.value ?? node.name.value, value]];
    }),
  );
}
