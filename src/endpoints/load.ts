import fs from 'node:fs';
import path from 'node:path';
import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
  Kind,
  Source,
  getLocation,
  isEnumType,
  parse,
  validate,
  valueFromASTUntyped,
} from 'graphql';
import type { VenueName } from '../lib/venue-name';
import { answerShape } from './answer-shape';
import type { Endpoint, Parameter, Tier, Value } from './endpoint';
import { isReadable } from './values';

/** A document that cannot be sold: says which file, which line, and what is wrong. */
class DocumentError extends Error {
  constructor(file: string, line: number | null, problem: string) {
    super(line === null ? `${file}: ${problem}` : `${file}:${line}: ${problem}`);
    this.name = 'DocumentError';
  }
}

/** All endpoints below `folder`, in path order. Throws DocumentError at the first document that is wrong. */
export function loadEndpoints(folder: string, schema: GraphQLSchema): Endpoint[] {
  return fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.graphql'))
    .sort()
    .map((file) => endpointOf(path.join(folder, file), file.slice(0, -'.graphql'.length).split(path.sep).join('/'), schema));
}

interface Draft {
  fail(node: ASTNode | null, problem: string): never;
}

function endpointOf(file: string, name: string, schema: GraphQLSchema): Endpoint {
  const document = parseFile(file);
  const draft: Draft = {
    fail: (node, problem) => {
      const line = node?.loc ? getLocation(node.loc.source, node.loc.start).line : null;
      throw new DocumentError(file, line, problem);
    },
  };
  for (const error of validate(schema, document)) throw fromGraphQL(file, error);
  const operation = onlyOperation(document, draft);
  const root = onlyRoot(operation, draft);
  const sold = directive(operation, 'endpoint') ?? draft.fail(operation, 'the operation needs @endpoint(method, tier, summary, fresh)');
  const expected = camelCase(name);
  if (root.name.value !== expected) draft.fail(root, `the file's path asks for the root field ${expected}, not ${root.name.value}`);
  if (operation.name?.value !== name.replace(/[/-]/g, '_'))
    draft.fail(operation, `the operation must be named ${name.replace(/[/-]/g, '_')}`);
  const parameters = (operation.variableDefinitions ?? []).map((definition) => parameterOf(definition, root, schema, draft));
  if (parameters.filter((parameter) => parameter.pricedLimit).length > 1)
    draft.fail(operation, 'only one parameter can be the priced limit');
  return {
    name,
    path: `/api/v1/${name}`,
    method: sold.method as Endpoint['method'],
    venue: venueOf(name),
    tier: sold.tier as Tier,
    summary: sold.summary as string,
    fresh: sold.fresh as number,
    rootField: root.name.value,
    document,
    answer: answerShape(root, rootFieldOf(root, schema).type),
    parameters,
    oneOfRequired: groups(operation, parameters, draft),
  };
}

/** The field that a valid document asks. */
const rootFieldOf = (root: FieldNode, schema: GraphQLSchema): GraphQLField<unknown, unknown> =>
  (schema.getQueryType() as GraphQLObjectType).getFields()[root.name.value]!;

function parseFile(file: string): DocumentNode {
  try {
    return parse(new Source(fs.readFileSync(file, 'utf8'), file));
  } catch (error) {
    throw error instanceof GraphQLError ? fromGraphQL(file, error) : error;
  }
}

const fromGraphQL = (file: string, error: GraphQLError): DocumentError =>
  new DocumentError(file, error.locations?.[0]?.line ?? null, error.message);

function onlyOperation(document: DocumentNode, draft: Draft): OperationDefinitionNode {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  if (operation === undefined || operations.length > 1 || operation.operation !== 'query')
    return draft.fail(operations[1] ?? null, 'a document holds exactly one query');
  return operation;
}

function onlyRoot(operation: OperationDefinitionNode, draft: Draft): FieldNode {
  const [root, ...others] = operation.selectionSet.selections;
  if (root?.kind !== Kind.FIELD || others.length > 0 || root.alias?.value !== 'data')
    return draft.fail(operation.selectionSet, 'a document selects exactly one root field, aliased `data`');
  return root;
}

/** Arguments of a directive on a node as plain values, or undefined when it is not there. */
function directive(node: OperationDefinitionNode | VariableDefinitionNode, name: string): Record<string, unknown> | undefined {
  const found = node.directives?.find((candidate) => candidate.name.value === name);
  return (
    found &&
    Object.fromEntries(
      (found.arguments ?? []).map((argument) => [
        argument.name.value,
        argument.value.kind === Kind.FLOAT ? argument.value.value : valueFromASTUntyped(argument.value),
      ]),
    )
  );
}

function parameterOf(definition: VariableDefinitionNode, root: FieldNode, schema: GraphQLSchema, draft: Draft): Parameter {
  const name = definition.variable.name.value;
  const passed = root.arguments?.find((argument) => argument.name.value === name);
  if (passed?.value.kind !== Kind.VARIABLE || passed.value.name.value !== name)
    draft.fail(definition, `$${name} must be passed to the argument of the same name`);
  const argument = rootFieldOf(root, schema).args.find((candidate) => candidate.name === name);
  const required = definition.type.kind === Kind.NON_NULL_TYPE && definition.defaultValue === undefined;
  const nullable = definition.type.kind === Kind.NON_NULL_TYPE ? definition.type.type : definition.type;
  const list = nullable.kind === Kind.LIST_TYPE;
  const type = namedType(definition.type);
  const range = directive(definition, 'range');
  const filter = directive(definition, 'filter');
  const doc = directive(definition, 'doc');
  const parameter: Parameter = {
    name,
    type,
    list,
    required,
    default: definition.defaultValue && (valueFromASTUntyped(definition.defaultValue) as Value),
    min: numberOrNull(range?.min),
    max: numberOrNull(range?.max),
    choices: choicesOf(definition, type, schema),
    filter: filter ? { factor: String(filter.factor), unless: (filter.unless as string | undefined) ?? null } : null,
    pricedLimit: directive(definition, 'priced_limit') !== undefined,
    aliases: (directive(definition, 'alias')?.names as string[] | undefined) ?? [],
    meaning: argument?.description ?? draft.fail(definition, `the argument ${name} of the root field needs a description`),
    note: (doc?.note as string | undefined) ?? null,
    sample: (doc?.sample as string | undefined) ?? null,
  };
  checkParameter(parameter, definition, draft);
  return parameter;
}

const numberOrNull = (value: unknown): number | null => (value === undefined || value === null ? null : Number(value));

function namedType(node: VariableDefinitionNode['type']): string {
  return node.kind === Kind.NAMED_TYPE ? node.name.value : namedType(node.type);
}

function choicesOf(definition: VariableDefinitionNode, type: string, schema: GraphQLSchema): readonly string[] | null {
  const listed = directive(definition, 'choices')?.values as string[] | undefined;
  if (listed) return listed;
  const named = schema.getType(type);
  return isEnumType(named) ? named.getValues().map((value) => value.name) : null;
}

function checkParameter(parameter: Parameter, node: VariableDefinitionNode, draft: Draft): void {
  if (parameter.choices === null && !isReadable(parameter.type))
    draft.fail(node, `no request can be read for the type ${parameter.type} of $${parameter.name}`);
  const numeric = parameter.type === 'Int' || parameter.type === 'Float';
  if ((numeric || parameter.list) && (parameter.min === null || parameter.max === null))
    draft.fail(node, `$${parameter.name} needs both bounds: @range(min, max)`);
  if (parameter.min !== null && parameter.max !== null && parameter.min > parameter.max)
    draft.fail(node, `@range of $${parameter.name} is empty`);
  if (
    typeof parameter.default === 'number' &&
    (parameter.default < (parameter.min as number) || parameter.default > (parameter.max as number))
  ) {
    draft.fail(node, `the default of $${parameter.name} is outside its @range`);
  }
  if (parameter.choices && typeof parameter.default === 'string' && !parameter.choices.includes(parameter.default))
    draft.fail(node, `the default of $${parameter.name} is not among its choices`);
  if (parameter.filter && !(Number(parameter.filter.factor) > 0 && Number(parameter.filter.factor) <= 1))
    draft.fail(node, `the factor of $${parameter.name} must be above 0 and at most 1`);
  if (parameter.pricedLimit && (parameter.type !== 'Int' || typeof parameter.default !== 'number'))
    draft.fail(node, 'the priced limit must be an Int with a default');
  if (parameter.required && parameter.sample === null)
    draft.fail(node, `$${parameter.name} is required: give a sample with @doc(sample: "…")`);
}

function groups(operation: OperationDefinitionNode, parameters: readonly Parameter[], draft: Draft): string[][] {
  const found = (operation.directives ?? []).filter((candidate) => candidate.name.value === 'one_of_required');
  return found.map((node) => {
    const names = node.arguments?.[0] ? (valueFromASTUntyped(node.arguments[0].value) as string[]) : [];
    for (const name of names)
      if (!parameters.some((parameter) => parameter.name === name))
        draft.fail(node, `@one_of_required names ${name}, which is no parameter`);
    return names;
  });
}

const camelCase = (name: string): string => name.replace(/[/-](.)/g, (_, letter: string) => letter.toUpperCase());

function venueOf(name: string): VenueName {
  const first = name.split('/')[0];
  return first === 'perps' || first === 'lp' ? first : 'prediction';
}
