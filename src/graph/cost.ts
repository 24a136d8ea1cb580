import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  getNamedType,
  getNullableType,
  getVariableValues,
  isCompositeType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isObjectType,
  valueFromAST,
} from 'graphql';
import { MOST_FIRST } from '../lib/connection';

/** What a free question may cost. */
export const MOST_COST = 5_000;
/** A field of the root: most are analytics over many rows. */
const ROOT_COST = 50;
/** Rows assumed of a list of objects that no argument bounds. */
const ASSUMED_ROWS = 10;
/** Rows that can be asked of one answer; a page of a link has its own bound. */
const MOST_ROWS = 1_000;
const SIZES = /(^|_)(first|limit)$/;
/** Whether an argument tells how many rows a list has. */
export const isSize = (argument: string): boolean => SIZES.test(argument);
/** The schema is some 100 KB each time it is told. */
const INTROSPECTION_COST = 1_000;
/** Values that cost as much as an object: each is little, but one can be asked under a thousand names of a thousand rows. */
const VALUES = 100;

interface Walk {
  schema: GraphQLSchema;
  fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  variables: Readonly<Record<string, unknown>>;
  /** Costs of fragments that were walked: thirty that each spread the next one twice are thirty walks, not a thousand million. */
  known: Map<string, number>;
}

/**
 * What an operation costs: each field of objects 1 (of the root 50), a hundred values 1, and what is below it times the rows asked of the
 * lists around it (`first`, `limit`; 10 where nothing says), introspection 1,000 beside its values. Throws GraphQLError for more rows of one list than it may have.
 */
export function costOf(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
  variables: Readonly<Record<string, unknown>>,
): number {
  const root = schema.getRootType(operation.operation);
  // What is sent has no defaults yet; what cannot be read is refused by whoever runs the operation.
  const { coerced = variables } = getVariableValues(schema, operation.variableDefinitions ?? [], variables, { maxErrors: 1 });
  const walk: Walk = { schema, fragments, variables: coerced, known: new Map() };
  const values = root ? selectionCost(operation.selectionSet, root, walk, false) : 0;
  return Math.floor(values / VALUES);
}

/** In values, as all that is added up below. */
function selectionCost(set: SelectionSetNode, parent: GraphQLOutputType, walk: Walk, bounded: boolean): number {
  let cost = 0;
  for (const node of set.selections) {
    if (node.kind === Kind.FIELD) cost += fieldCost(node, parent, walk, bounded);
    else if (node.kind === Kind.INLINE_FRAGMENT)
      cost += selectionCost(node.selectionSet, typeNamed(node.typeCondition?.name.value, walk) ?? parent, walk, bounded);
    else cost += fragmentCost(node.name.value, walk, bounded);
  }
  return cost;
}

function fragmentCost(name: string, walk: Walk, bounded: boolean): number {
  const key = `${name} ${bounded}`;
  const known = walk.known.get(key);
  if (known !== undefined) return known;
  // A fragment inside itself is refused by a rule of GraphQL; here it only must not go round for ever.
  walk.known.set(key, 0);
  const fragment = walk.fragments[name];
  const type = typeNamed(fragment?.typeCondition.name.value, walk);
  const cost = fragment && type ? selectionCost(fragment.selectionSet, type, walk, bounded) : 0;
  walk.known.set(key, cost);
  return cost;
}

const typeNamed = (name: string | undefined, { schema }: Walk): GraphQLOutputType | undefined =>
  name === undefined ? undefined : (schema.getType(name) as GraphQLOutputType | undefined);

function fieldCost(node: FieldNode, parent: GraphQLOutputType, walk: Walk, bounded: boolean): number {
  if (node.selectionSet === undefined) return 1;
  const told = INTROSPECTION.find(({ name }) => name === node.name.value);
  if (told) return INTROSPECTION_COST * VALUES + selectionCost(node.selectionSet, getNamedType(told.type), walk, false);
  const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
  if (field === undefined) return 0;
  const type = getNamedType(field.type);
  if (!isCompositeType(type)) return 0;
  // Of the schema nothing is looked up: its objects are values too.
  if (isIntrospectionType(type)) return 1 + rowsTold(field.name, walk) * selectionCost(node.selectionSet, type, walk, false);
  const asked = rowsAsked(field, node, walk);
  const isList = isListType(getNullableType(field.type));
  const rows = asked ?? (isList && !bounded ? ASSUMED_ROWS : 1);
  // A page's list has the length that its own field asked for.
  const isPage = asked !== null && !isList;
  const own = parent === walk.schema.getQueryType() ? ROOT_COST : 1;
  return own * VALUES + rows * selectionCost(node.selectionSet, type, walk, isPage);
}

const INTROSPECTION = [SchemaMetaFieldDef, TypeMetaFieldDef];

/** Rows of a list of the schema: all types, some fields of each; arguments and choices are fewer. */
const rowsTold = (list: string, { schema }: Walk): number =>
  list === 'types' ? Object.keys(schema.getTypeMap()).length : list === 'fields' ? ASSUMED_ROWS : 1;

/** The largest of a field's `first` and `limit` arguments; null where it has none. Throws GraphQLError for less than a row and for more than a list may hold. */
function rowsAsked(field: GraphQLField<unknown, unknown>, node: FieldNode, { variables }: Walk): number | null {
  const sizes = field.args.filter(({ name }) => isSize(name));
  if (sizes.length === 0) return null;
  const asked = sizes.map(({ name, type, defaultValue }) => {
    const sent = node.arguments?.find((argument) => argument.name.value === name);
    const rows = Number((sent && valueFromAST(sent.value, type, variables)) ?? defaultValue ?? 1);
    const most = name === 'first' ? MOST_FIRST : MOST_ROWS;
    if (!(rows >= 1 && rows <= most))
      throw new GraphQLError(`${name} must be 1 to ${most}.`, { nodes: node, extensions: { code: 'invalid_parameter' } });
    return rows;
  });
  return Math.max(1, ...asked);
}

const WEIGHTS = new WeakMap<readonly FieldNode[], number>();

/** As how many objects one counts of which this is asked: the executor has the same nodes for all rows of a list. */
export function weightOf({ fieldNodes, fragments }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>): number {
  const fieldsOf = (set: SelectionSetNode | undefined): number => {
    let fields = 0;
    for (const node of set?.selections ?? [])
      fields +=
        node.kind === Kind.FIELD
          ? 1
          : fieldsOf(node.kind === Kind.INLINE_FRAGMENT ? node.selectionSet : fragments[node.name.value]?.selectionSet);
    return fields;
  };
  const known = WEIGHTS.get(fieldNodes);
  if (known !== undefined) return known;
  const fields = fieldNodes.reduce((sum, { selectionSet }) => sum + fieldsOf(selectionSet), 0);
  const weight = Math.max(1, fields / VALUES);
  WEIGHTS.set(fieldNodes, weight);
  return weight;
}
