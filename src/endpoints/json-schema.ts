import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionSetNode,
  Kind,
  getDirectiveValues,
  getNamedType,
  isListType,
  isNonNullType,
  isEnumType,
  isLeafType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import { FORMS } from '../lib/forms';
import { type Endpoint, formatsOf, type Parameter, sampleOf, toldOf } from './endpoint';
import { MOST_FIELDS } from './read';

/** A JSON Schema (2020-12). */
export type JsonSchema = Record<string, unknown>;

const INPUT_TYPES: Record<string, JsonSchema> = {
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  // Blank is empty.
  String: { type: 'string', pattern: '\\S' },
  ...Object.fromEntries(
    Object.entries(FORMS).map(([name, { choices, pattern }]) => [name, { type: 'string', ...(choices ? { enum: choices } : { pattern }) }]),
  ),
};

/** Figures are numbers on the wire, all other scalars texts. */
const NUMBERS = new Set(['Usd', 'Percent', 'Ratio', 'Price', 'Quantity', 'Score', 'Float']);

/** Schema of one parameter, bounds and default included. */
export function parameterSchema(parameter: Parameter, schema: GraphQLSchema): JsonSchema {
  const named = schema.getType(parameter.type);
  // The tokens of a closed list stand in its enum already.
  const plain = isSpecifiedScalarType(named as GraphQLNamedType) || FORMS[parameter.type]?.choices !== undefined || parameter.note !== null;
  const description = [toldOf(parameter), ...(plain ? [] : [named?.description ?? []])].flat().join(' ');
  const item: JsonSchema = {
    ...(INPUT_TYPES[parameter.type] ?? { type: 'string' }),
    ...(parameter.choices ? { enum: parameter.choices } : {}),
  };
  const { min, max } = parameter;
  const extra = { ...(parameter.default === undefined ? {} : { default: parameter.default }), description };
  if (parameter.list) return { type: 'array', items: item, minItems: min, maxItems: max, uniqueItems: true, ...extra };
  if (min === null || max === null) return { ...item, ...extra };
  return item.type === 'string' ? { ...item, minLength: min, maxLength: max, ...extra } : { ...item, minimum: min, maximum: max, ...extra };
}

/** Schemas of the parameters that every endpoint takes beside its own. */
export const presentationSchemas = (endpoint: Endpoint): Record<'fields' | 'format', JsonSchema> => ({
  fields: {
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    maxItems: MOST_FIELDS,
    description: 'Keep only these fields of data rows (dot paths allowed); ids are always kept.',
  },
  format: {
    type: 'string',
    enum: formatsOf(endpoint),
    default: 'json',
    description:
      'All but json hold the data alone: each field of `meta` is then a header, such as `X-Meta-next-cursor`, left out where it is null.',
  },
});

/** Schema of an endpoint's parameters as one object. */
export function inputSchema(endpoint: Endpoint, schema: GraphQLSchema): JsonSchema {
  const properties = Object.fromEntries(endpoint.parameters.map((parameter) => [parameter.name, parameterSchema(parameter, schema)]));
  return {
    type: 'object',
    properties: {
      ...properties,
      ...presentationSchemas(endpoint),
    },
    required: endpoint.parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name),
    ...(endpoint.oneOfRequired.length === 0
      ? {}
      : { allOf: endpoint.oneOfRequired.map((group) => ({ anyOf: group.map((name) => ({ required: [name] })) })) }),
  };
}

/** A request that works: every required parameter with its sample, and of each "one of" group the first that costs nothing extra. */
export function sampleInput(endpoint: Endpoint): Record<string, unknown> {
  const chosen = new Set(endpoint.oneOfRequired.map((group) => choiceOf(endpoint, group)));
  const wanted = endpoint.parameters.filter((parameter) => parameter.required || chosen.has(parameter));
  return Object.fromEntries(wanted.map((parameter) => [parameter.name, sampleOf(parameter)]));
}

/** Where a sample request goes: the path, with the query of a GET. */
export function sampleTarget(endpoint: Endpoint): string {
  if (endpoint.method === 'POST') return endpoint.path;
  const query = new URLSearchParams(Object.entries(sampleInput(endpoint)).map(([name, value]) => [name, String(value)])).toString();
  return query === '' ? endpoint.path : `${endpoint.path}?${query}`;
}

function choiceOf(endpoint: Endpoint, group: readonly string[]): Parameter | undefined {
  const members = endpoint.parameters.filter((parameter) => group.includes(parameter.name) && parameter.sample !== null);
  return members.find((parameter) => parameter.filter === null) ?? members[0];
}

/** The root field of an endpoint, and what its document selects of it. */
export function rootOf(
  endpoint: Endpoint,
  schema: GraphQLSchema,
): { field: GraphQLField<unknown, unknown>; selection: SelectionSetNode | undefined } {
  const [operation] = endpoint.document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`${endpoint.name}: no operation`);
  const field = schema.getQueryType()?.getFields()[endpoint.rootField];
  if (!field) throw new Error(`${endpoint.name}: no root field`);
  return { field, selection: (operation.selectionSet.selections[0] as FieldNode).selectionSet };
}

/** Schema of what stands under `data`, derived from the document's selection and the SDL's descriptions. */
export function outputSchema(endpoint: Endpoint, schema: GraphQLSchema): JsonSchema {
  const { field, selection } = rootOf(endpoint, schema);
  return typeSchema(field.type, selection, schema);
}

function typeSchema(type: GraphQLOutputType, selection: SelectionSetNode | undefined, schema: GraphQLSchema): JsonSchema {
  if (isNonNullType(type)) return typeSchema(type.ofType as GraphQLOutputType, selection, schema);
  if (isListType(type)) return { type: 'array', items: typeSchema(type.ofType as GraphQLOutputType, selection, schema) };
  if (isLeafType(type))
    return isEnumType(type) ? { type: 'string', enum: type.getValues().map((value) => value.name) } : leafSchema(type.name);
  const fragments = (selection?.selections ?? []).filter((node) => node.kind === Kind.INLINE_FRAGMENT);
  if (fragments.length > 0) {
    return {
      oneOf: fragments.map((fragment) =>
        objectSchema(fragment.typeCondition?.name.value ?? getNamedType(type).name, fragment.selectionSet, schema),
      ),
    };
  }
  return objectSchema(type.name, selection, schema);
}

function leafSchema(name: string): JsonSchema {
  if (NUMBERS.has(name)) return { type: 'number' };
  if (name === 'Int') return { type: 'integer' };
  if (name === 'Boolean') return { type: 'boolean' };
  if (name === 'DateTime') return { type: 'string', format: 'date-time' };
  if (name === 'Date') return { type: 'string', format: 'date' };
  const choices = FORMS[name]?.choices;
  return { type: 'string', ...(choices && { enum: choices }) };
}

function objectSchema(typeName: string, selection: SelectionSetNode | undefined, schema: GraphQLSchema): JsonSchema {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(`${typeName} is no object type`);
  const fields = type.getFields();
  const properties: Record<string, JsonSchema> = {};
  for (const node of selection?.selections ?? []) {
    const field = node.kind === Kind.FIELD ? fields[node.name.value] : undefined;
    if (node.kind !== Kind.FIELD || field === undefined) continue;
    const choices = choicesOf(field, schema);
    const value = { ...typeSchema(field.type, node.selectionSet, schema), ...(choices && { enum: choices }) };
    const described = field.description ? { ...value, description: field.description } : value;
    properties[node.alias?.value ?? node.name.value] = isNonNullType(field.type) ? described : nullable(described);
  }
  return { type: 'object', properties, required: Object.keys(properties) };
}

/** All texts that a field may hold, where @choices tells them. */
export function choicesOf({ astNode }: GraphQLField<unknown, unknown>, schema: GraphQLSchema): readonly string[] | undefined {
  const directive = schema.getDirective('choices');
  return directive && astNode ? (getDirectiveValues(directive, astNode)?.values as string[] | undefined) : undefined;
}

/** Unknown values are null, never left out. */
function nullable(schema: JsonSchema): JsonSchema {
  if (typeof schema.type === 'string') {
    const choices = Array.isArray(schema.enum) ? { enum: [...(schema.enum as unknown[]), null] } : {};
    return { ...schema, type: [schema.type, 'null'], ...choices };
  }
  const { description, ...rest } = schema;
  return { anyOf: [rest, { type: 'null' }], ...(description === undefined ? {} : { description }) };
}
