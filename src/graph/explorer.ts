import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { type FragmentDefinitionNode, GraphQLError, type GraphQLSchema, Kind, type SelectionSetNode, type ValidationRule } from 'graphql';
import { type Plugin, type YogaServerInstance, createYoga } from 'graphql-yoga';
import type { Database } from '../db/client';
import { AppError } from '../errors';
import type { Clock } from '../lib/clock';
import type { GraphContext } from '../venues/venue';
import { makeContext } from './context';

const MOST_DEPTH = 8;
const DEADLINE_MS = 30_000;
/** Rows an analyst can ask of one list. */
const MOST_ROWS = 1_000;

const WELCOME = `# Explore wallets, markets, coins and pools. This server is for analysts on this machine: read-only, nothing is charged.
query BiggestTrades {
  tradesWhales(timeframe: "7d", min_usdc: 1000, limit: 5) {
    wallet
    question
    outcome
    side
    usdc_size
    timestamp
  }
}
`;

/** Levels of fields below a selection, fragments followed; introspection is not counted: GraphiQL needs it. */
function depthOf(
  set: SelectionSetNode | undefined,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  within: readonly string[],
): number {
  const depths = (set?.selections ?? []).map((node) => {
    if (node.kind === Kind.FIELD) return node.name.value.startsWith('__') ? 0 : 1 + depthOf(node.selectionSet, fragments, within);
    if (node.kind === Kind.INLINE_FRAGMENT) return depthOf(node.selectionSet, fragments, within);
    // A fragment inside itself is refused by another rule; here it only must not go round for ever.
    const name = node.name.value;
    return within.includes(name) ? 0 : depthOf(fragments.get(name)?.selectionSet, fragments, [...within, name]);
  });
  return Math.max(0, ...depths);
}

/** Refuses queries nested deeper than the limit. */
const depthLimit: ValidationRule = (context) => ({
  Document(document) {
    const fragments = new Map(
      document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [])),
    );
    for (const node of document.definitions) {
      if (node.kind !== Kind.OPERATION_DEFINITION || depthOf(node.selectionSet, fragments, []) <= MOST_DEPTH) continue;
      context.reportError(new GraphQLError(`The query is nested deeper than ${MOST_DEPTH} levels.`, { nodes: node }));
    }
  },
});

/** Refuses literal limits beyond what a list may hold; variables are checked where they are read. */
const rowLimit: ValidationRule = (context) => ({
  Argument(node) {
    if (!/(^|_)limit$/.test(node.name.value) || node.value.kind !== 'IntValue') return;
    const rows = Number(node.value.value);
    if (rows < 1 || rows > MOST_ROWS)
      context.reportError(new GraphQLError(`${node.name.value} must be 1 to ${MOST_ROWS}.`, { nodes: node }));
  },
});

const limits: Plugin = {
  onValidate({ addValidationRule }) {
    addValidationRule(depthLimit);
    addValidationRule(rowLimit);
  },
};

/** What the answer says about itself, beside the data: GraphQL answers have no `meta`. */
const metaExtension: Plugin<GraphContext> = {
  onExecute({ args }) {
    return {
      onExecuteDone({ result, setResult }) {
        if (Symbol.asyncIterator in result) return;
        const { meta } = args.contextValue as unknown as GraphContext;
        setResult({ ...result, extensions: { ...result.extensions, meta } });
      },
    };
  },
};

/** The analysts' GraphQL server with GraphiQL, served without any CDN. To be bound to loopback only. */
export function makeExplorer(
  schema: GraphQLSchema,
  db: Pick<Database, 'pool' | 'prisma'>,
  clock: Clock,
): YogaServerInstance<object, GraphContext> {
  return createYoga<object, GraphContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    logging: false,
    renderGraphiQL: (options) => renderGraphiQL({ ...options, title: 'Smart money explorer' }),
    graphiql: { defaultQuery: WELCOME },
    context: () => makeContext(db, clock.now(), AbortSignal.timeout(DEADLINE_MS)),
    maskedErrors: {
      maskError: (error, message) => {
        const cause = error instanceof GraphQLError ? error.originalError : error;
        if (cause instanceof AppError)
          return new GraphQLError(cause.message, {
            extensions: { code: cause.code, ...(cause.context.suggestion && { suggestion: cause.context.suggestion }) },
          });
        return error instanceof GraphQLError && cause === undefined ? error : new GraphQLError(message);
      },
    },
    plugins: [limits, metaExtension as Plugin],
  });
}
