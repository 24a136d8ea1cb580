import {
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  defaultFieldResolver,
  execute,
  getNamedType,
  isCompositeType,
  isIntrospectionType,
  isObjectType,
} from 'graphql';
import { type Plugin, type YogaServerInstance, createYoga } from 'graphql-yoga';
import { runUntil } from '../db/cancel';
import type { Statements } from '../db/client';
import { AppError } from '../errors';
import { type Clock, secondOf } from '../lib/clock';
import { withDeadline } from '../lib/deadline';
import { isoSecond } from '../lib/time';
import type { AnswerMeta, GraphContext } from '../venues/venue';
import { emptyMeta, makeContext } from './context';
import { isSize, weightOf } from './cost';
import { limits } from './limits';
import { copyOf } from './schema';

const DEADLINE_MS = 30_000;
/** Rows cost nothing by themselves, and lists that no argument bounds can be longer than their cost assumes: so many objects are found in all. */
const MOST_FOUND = 50_000;

/** What GraphiQL opens with. */
export const WELCOME = `# Explore wallets, markets, coins and pools. This server is for analysts on this machine: read-only, nothing is charged.
query LargeTrades {
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

/** GraphiQL stores a query once it is edited; who comes again without having done so would find an empty tab in front of the first one. */
const REMEMBERED = `localStorage['graphiql:query'] ??= ${JSON.stringify(WELCOME)}`;

type Arguments = Readonly<Record<string, unknown>>;

/** How arguments of a question are read: those that are said otherwise than it takes them, as it does. Throws AppError where they are refused. */
export type ReadArguments = (question: string, args: Arguments) => Arguments;

/** What resolvers are handed, what each question of the request has told about its answer, by its name there, and how much more may be found. */
interface Asked extends GraphContext {
  told: Record<string, AnswerMeta>;
  left: number;
}

type Field = GraphQLField<unknown, Asked, Record<string, unknown>>;

/** A copy of the schema whose questions are read by `read`, each with a meta of its own. How many rows are asked for is a matter of cost. */
function heldTo(read: ReadArguments, schema: GraphQLSchema): GraphQLSchema {
  const held = copyOf(schema);
  for (const type of Object.values(held.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields()) as Field[]) {
      if (!isCompositeType(getNamedType(field.type))) continue;
      const { name, resolve = defaultFieldResolver } = field;
      const question: typeof resolve = (source, args, context, info) => {
        const said = read(name, Object.fromEntries(Object.entries(args).filter(([argument]) => !isSize(argument))));
        const meta = (context.told[info.path.key] = emptyMeta());
        return resolve(source, { ...args, ...said }, telling(meta, context), info);
      };
      field.resolve = counted(type === held.getQueryType() ? question : resolve);
    }
  }
  return held;
}

/** The request, as of whichever instant, telling this meta. */
const telling = <Context extends GraphContext>(meta: AnswerMeta, context: Context): Context => ({
  ...context,
  meta,
  at: (...instant) => telling(meta, context.at(...instant)),
});

/** Counts what is found, each object and each row of a list, by how much is asked of it. */
const counted =
  (resolve: NonNullable<Field['resolve']>): NonNullable<Field['resolve']> =>
  (source, args, context, info) => {
    const count = (found: unknown): unknown => {
      spend(context, weightOf(info) * (Array.isArray(found) ? found.length : 1));
      return found;
    };
    const found: unknown = resolve(source, args, context, info);
    return found instanceof Promise ? found.then(count) : count(found);
  };

function spend(context: Asked, objects: number): void {
  context.left -= objects;
  if (context.left < 0) throw tooMuch();
}

const tooMuch = (): GraphQLError =>
  new GraphQLError(
    `The query leads to more than ${MOST_FOUND.toLocaleString('en')} objects: ask for fewer rows (first, limit), longer buckets or fewer levels.`,
    { extensions: { code: 'query_too_expensive', most: MOST_FOUND } },
  );

/** What the answers say about themselves, beside the data: GraphQL answers have no `meta`. By name, where several questions were asked. */
function metaOf({ told, meta: shared, now }: Asked): Record<string, unknown> {
  const metas = Object.entries(told).map(([name, meta]) => {
    // Which parameters were sent is known only where they are sold, and nothing is kept here.
    const { ineffective: _, good_for_s: __, window, ...rest } = meta;
    return [
      name,
      {
        ...rest,
        window: window && { from: isoSecond(window.from), to: isoSecond(window.to) },
        // Perps name their run wherever a score is looked up, below a question too.
        score_version: meta.score_version ?? shared.score_version,
        as_of: isoSecond(meta.as_of ?? now),
      },
    ] as const;
  });
  return metas.length === 1 ? (metas[0] as (typeof metas)[number])[1] : Object.fromEntries(metas);
}

/**
 * Runs a question with a context of its own until it is late or whoever asked has left: its statements end with it, and what Prisma says of
 * its own being cut off is the deadline's doing too. GraphQL's own executor keeps fields in the order in which they were asked.
 */
const running = (contextOf: (signal: AbortSignal) => GraphContext, deadlineMs: number): Plugin => ({
  onExecute({ args, setExecuteFn }) {
    const { request } = args.contextValue;
    const run = async (late: AbortSignal): Promise<ExecutionResult> => {
      const end = new AbortController();
      const pass = (): void => end.abort(late.reason);
      if (late.aborted) pass();
      else late.addEventListener('abort', pass, { once: true });
      const contextValue: Asked = { ...contextOf(end.signal), told: {}, left: MOST_FOUND };
      const result = await runUntil(end.signal, () => execute({ ...(args as ExecutionArgs), contextValue }));
      // One part that fails can be the whole answer: the others are waited for by nobody.
      end.abort();
      if (contextValue.left < 0) return { errors: [tooMuch()] };
      const answer = { ...result, extensions: { meta: metaOf(contextValue) } };
      if (!late.aborted || result.errors === undefined) return answer;
      const message = `The query took longer than ${deadlineMs / 1_000} seconds.`;
      return { ...answer, errors: [new GraphQLError(message, { path: result.errors[0]?.path, extensions: { code: 'query_timeout' } })] };
    };
    setExecuteFn(() => withDeadline(deadlineMs, run, request.signal));
  },
});

/** What of a GET is JSON and cannot be read is its sender's mistake, as it is in a body; Yoga takes it for ours. */
const readable: Plugin = {
  onRequestParse({ request, url }) {
    for (const name of request.method === 'GET' ? ['variables', 'extensions'] : []) {
      try {
        JSON.parse(url.searchParams.get(name) || '{}');
      } catch {
        throw new GraphQLError(`${name} must be JSON.`, { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } });
      }
    }
  },
};

export interface ExplorerOptions {
  deadlineMs?: number;
  /** Told of errors that are nobody's words: the analyst reads "Unexpected error." */
  onBug?: (error: unknown) => void;
  /** How arguments are read beside their types: as they are, unless said. */
  read?: ReadArguments;
  /** Before which instant no more facts of a venue come: nothing is waited for, unless said. */
  settled?: GraphContext['settled'];
}

/** The analysts' GraphQL server with GraphiQL, served without any CDN. To be bound to loopback only. */
export function makeExplorer(
  schema: GraphQLSchema,
  db: Statements,
  clock: Clock,
  { deadlineMs = DEADLINE_MS, onBug, read = () => ({}), settled }: ExplorerOptions = {},
): YogaServerInstance<object, object> {
  return createYoga({
    schema: heldTo(read, schema),
    graphqlEndpoint: '/graphql',
    landingPage: false,
    // A page from elsewhere must not read for free by way of an analyst's browser.
    cors: false,
    logging: false,
    // Nine megabytes of JavaScript, read when the page is first asked for.
    renderGraphiQL: async (options) => {
      const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
      return renderGraphiQL({ ...options, title: 'Smart money explorer' }).replace('</head>', `<script>${REMEMBERED}</script></head>`);
    },
    graphiql: { defaultQuery: WELCOME },
    maskedErrors: {
      maskError: (error, message) => {
        const cause = error instanceof GraphQLError ? error.originalError : error;
        if (cause instanceof AppError) {
          const { details, suggestion } = cause.context;
          return new GraphQLError(cause.message, {
            extensions: { code: cause.code, ...(details && { details }), ...(suggestion && { suggestion }) },
          });
        }
        // GraphQL's own words, those about a variable of the wrong type included: their cause is of its kind too.
        if (error instanceof GraphQLError && (cause === undefined || cause instanceof GraphQLError)) {
          error.extensions.code ??= 'BAD_USER_INPUT';
          return error;
        }
        onBug?.(cause);
        return new GraphQLError(message, { extensions: { code: 'internal' } });
      },
    },
    plugins: [
      readable,
      limits,
      running((signal) => makeContext(db, secondOf(clock), signal, (_part, error) => onBug?.(error), settled), deadlineMs),
    ],
  });
}
