import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import { type Plugin, type YogaServerInstance, createYoga } from 'graphql-yoga';
import { runUntil } from '../db/cancel';
import type { Statements } from '../db/client';
import { AppError } from '../errors';
import type { Clock } from '../lib/clock';
import type { GraphContext } from '../venues/venue';
import { makeContext } from './context';
import { limits } from './limits';

const DEADLINE_MS = 30_000;

/** What GraphiQL opens with. */
export const WELCOME = `# Explore wallets, markets, coins and pools. This server is for analysts on this machine: read-only, nothing is charged.
query BiggestTrades {
  tradesWhales(timeframe: "7d", min_usdc: 1000, smart_money_only: false, aggregate: fill, limit: 5) {
    wallet
    question
    outcome
    side
    usdc_size
    timestamp
    market { status outcomes { outcome current_price } }
    wallet_profile { tier positions(first: 3, status: open) { nodes { question outcome shares } } }
  }
}
`;

/** What the answer says about itself, beside the data: GraphQL answers have no `meta`. */
const metaExtension: Plugin<GraphContext> = {
  onExecute({ args }) {
    return {
      onExecuteDone({ result, setResult }) {
        if (Symbol.asyncIterator in result) return;
        const { meta, now } = args.contextValue as unknown as GraphContext;
        // Which parameters were sent is known only where they are sold.
        const { ineffective: _, ...told } = meta;
        setResult({ ...result, extensions: { ...result.extensions, meta: { ...told, as_of: meta.as_of ?? now } } });
      },
    };
  },
};

/** Statements end with their request; what Prisma says of its own being cut off is the deadline's doing too. */
const untilDeadline: Plugin<GraphContext> = {
  onExecute({ executeFn, setExecuteFn }) {
    setExecuteFn(async (args) => {
      const { signal } = args.contextValue as GraphContext;
      const result = (await runUntil(signal, () => executeFn(args) as unknown)) as ExecutionResult;
      if (signal?.aborted !== true || result.errors === undefined) return result;
      const [first] = result.errors;
      return { ...result, errors: [new GraphQLError('late', { path: first?.path, originalError: signal.reason as Error })] };
    });
  },
};

export interface ExplorerOptions {
  deadlineMs?: number;
  /** Told of errors that are nobody's words: the analyst reads "Unexpected error." */
  onBug?: (error: unknown) => void;
}

/** The analysts' GraphQL server with GraphiQL, served without any CDN. To be bound to loopback only. */
export function makeExplorer(
  schema: GraphQLSchema,
  db: Statements,
  clock: Clock,
  { deadlineMs = DEADLINE_MS, onBug }: ExplorerOptions = {},
): YogaServerInstance<object, GraphContext> {
  return createYoga<object, GraphContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    // A page from elsewhere must not read for free by way of an analyst's browser.
    cors: false,
    logging: false,
    renderGraphiQL: (options) => renderGraphiQL({ ...options, title: 'Smart money explorer' }),
    graphiql: { defaultQuery: WELCOME },
    context: () => makeContext(db, clock.now(), AbortSignal.timeout(deadlineMs)),
    maskedErrors: {
      maskError: (error, message) => {
        const cause = error instanceof GraphQLError ? error.originalError : error;
        if ((cause as Error | undefined)?.name === 'TimeoutError')
          return new GraphQLError(`The query took longer than ${deadlineMs / 1_000} seconds.`, { extensions: { code: 'query_timeout' } });
        if (cause instanceof AppError)
          return new GraphQLError(cause.message, {
            extensions: { code: cause.code, ...(cause.context.suggestion && { suggestion: cause.context.suggestion }) },
          });
        // GraphQL's own words, those about a variable of the wrong type included: their cause is of its kind too.
        if (error instanceof GraphQLError && (cause === undefined || cause instanceof GraphQLError)) return error;
        onBug?.(cause);
        return new GraphQLError(message);
      },
    },
    plugins: [limits, untilDeadline as Plugin, metaExtension as Plugin],
  });
}
