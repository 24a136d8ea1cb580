import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { GraphQLError, type GraphQLSchema, type ValidationRule } from 'graphql';
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

/** Refuses queries nested deeper than the limit (introspection is not counted: GraphiQL needs it). */
const depthLimit: ValidationRule = (context) => {
  let depth = 0;
  let introspecting = 0;
  return {
    Field: {
      enter(node) {
        if (node.name.value.startsWith('__')) introspecting += 1;
        depth += 1;
        if (depth > MOST_DEPTH && introspecting === 0)
          context.reportError(new GraphQLError(`The query is nested deeper than ${MOST_DEPTH} levels.`, { nodes: node }));
      },
      leave(node) {
        depth -= 1;
        if (node.name.value.startsWith('__')) introspecting -= 1;
      },
    },
  };
};

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
