import {
  type ASTNode,
  type DocumentNode,
  type ExecutionArgs,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationRule,
  getOperationAST,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { MOST_COST, costOf } from './cost';

const MOST_DEPTH = 8;
const tooDeep = (nodes?: ASTNode): GraphQLError =>
  new GraphQLError(`The query is nested deeper than ${MOST_DEPTH} levels.`, {
    nodes,
    extensions: { code: 'query_too_deep', most: MOST_DEPTH },
  });
/** GraphiQL's own introspection has some 300; every name, bracket and value is one. */
const MOST_TOKENS = 5_000;

/** A document's fragments by name. */
const fragmentsOf = ({ definitions }: DocumentNode): (readonly [string, FragmentDefinitionNode])[] =>
  definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : []));

/** Levels of fields below a selection, fragments followed once each; introspection is not counted: GraphiQL needs it. */
function depthOf(
  set: SelectionSetNode | undefined,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  known: Map<string, number>,
): number {
  const depths = (set?.selections ?? []).map((node) => {
    if (node.kind === Kind.FIELD) return node.name.value.startsWith('__') ? 0 : 1 + depthOf(node.selectionSet, fragments, known);
    if (node.kind === Kind.INLINE_FRAGMENT) return depthOf(node.selectionSet, fragments, known);
    const name = node.name.value;
    if (!known.has(name)) {
      // A fragment inside itself is refused by another rule; here it only must not go round for ever.
      known.set(name, 0);
      known.set(name, depthOf(fragments.get(name)?.selectionSet, fragments, known));
    }
    return known.get(name) as number;
  });
  return Math.max(0, ...depths);
}

/** Refuses queries nested deeper than the limit. */
const depthLimit: ValidationRule = (context) => ({
  Document(document) {
    const fragments = new Map(fragmentsOf(document));
    for (const node of document.definitions) {
      if (node.kind !== Kind.OPERATION_DEFINITION || depthOf(node.selectionSet, fragments, new Map()) <= MOST_DEPTH) continue;
      context.reportError(tooDeep(node));
    }
  },
});

/** Why an operation is refused before it runs; null when it may. */
function refusal(tell: () => number): GraphQLError | null {
  let cost: number;
  try {
    cost = tell();
  } catch (error) {
    return error as GraphQLError;
  }
  if (cost <= MOST_COST) return null;
  const [is, most] = [cost.toLocaleString('en'), MOST_COST.toLocaleString('en')];
  return new GraphQLError(
    `The query costs ${is}; at most ${most} is allowed. What lies below a list costs as often as rows are asked of it: ask for fewer rows (first, limit) or fewer levels.`,
    { extensions: { code: 'query_too_expensive', cost, most: MOST_COST } },
  );
}

/** What free questions are held to: 5,000 tokens, 8 levels, 1,000 rows a list (100 a page), a cost of 5,000; sizes sent as variables are known only before the run. */
export const limits: Plugin = {
  onParse({ parseFn, setParseFn }) {
    setParseFn((source, options) => {
      try {
        return parseFn(source, { ...options, maxTokens: MOST_TOKENS });
      } catch (error) {
        // The parser calls itself for each level: thousands are more than the stack holds.
        throw error instanceof RangeError ? tooDeep() : error;
      }
    });
  },
  onValidate({ addValidationRule }) {
    addValidationRule(depthLimit);
  },
  onExecute({ args, setResultAndStopExecution }) {
    const { schema, document, operationName, variableValues } = args as ExecutionArgs;
    const operation = getOperationAST(document, operationName);
    if (!operation) return;
    const fragments = Object.fromEntries(fragmentsOf(document));
    const refused = refusal(() => costOf(schema, operation, fragments, variableValues ?? {}));
    if (refused) setResultAndStopExecution({ errors: [refused] });
  },
};
