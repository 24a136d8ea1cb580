import type { lp_pool as PoolRecord, lp_token as TokenRecord } from '../../../generated/prisma/client';
import { type Connection, type PageArgs, mapPage } from '../../../lib/connection';
import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { makeLinkLoaders } from '../loaders-links';
import type { EventParent } from '../queries/linked-events';
import type { OrderParent, OrderRow } from '../queries/linked-orders';
import type { LinkedPositionRow } from '../queries/linked-positions';
import type { ScoreRow } from '../queries/linked-providers';
import type { PoolEventRow, PoolSwapRow } from '../queries/pools-events';
import type { EventKind } from '../store/rows';
import { isSwap, shownEvent, type ShownEvent, symbolsOf } from './pool-event';
import { summaryOf } from './positions';
import { scoreNow } from './score-now';

interface EventsArgs extends PageArgs {
  action?: EventKind | 'swap' | null;
  field_case: 'native' | 'snake';
}

type Provider = { owner: string };

const pool = async (pool_address: string | null, context: GraphContext): Promise<PoolRecord | null> =>
  pool_address === null ? null : context.loaders(makeLoaders).pool.load(pool_address);
const provider = (owner: string | null): Provider | null => (owner === null ? null : { owner });

/** Rows of events as their pools' types show them. */
const shown = (page: Connection<PoolEventRow | PoolSwapRow>, snake: boolean, context: GraphContext): Promise<Connection<ShownEvent>> =>
  mapPage(page, (rows) =>
    Promise.all(
      rows.map(async (row) => {
        const of = await pool(row.pool_address, context);
        const symbols = of === null ? { token_x: null, token_y: null } : await symbolsOf(of, context);
        return shownEvent(row, symbols, snake);
      }),
    ),
  );

const events =
  <Source>(of: EventParent, keyOf: (source: Source) => string): Resolver<Source, EventsArgs> =>
  async (source, { first, after, action, field_case }, context) => {
    const key = { parent: keyOf(source), first, after };
    const loaders = context.loaders(makeLinkLoaders);
    const page: Connection<PoolEventRow | PoolSwapRow> =
      action === 'swap' && of === 'pool_address'
        ? await loaders.swaps.load({ ...key, filter: null })
        : await loaders.events[of].load({ ...key, filter: { kind: (action as EventKind | null) ?? null } });
    return shown(page, field_case === 'snake', context);
  };

const positions =
  <Source>(by: 'pool_address' | 'owner', keyOf: (source: Source) => string): Resolver<Source, PageArgs & { status?: string | null }> =>
  (source, { first, after, status }, context) =>
    context.loaders(makeLinkLoaders).positions[by].load({
      parent: keyOf(source),
      first,
      after,
      filter: { is_open: status == null ? null : status === 'open' },
    });

const orders =
  <Source>(by: OrderParent, keyOf: (source: Source) => string): Resolver<Source, PageArgs & { open_only: boolean }> =>
  (source, { first, after, open_only }, context) =>
    context.loaders(makeLinkLoaders).orders[by].load({ parent: keyOf(source), first, after, filter: { open_only } });

const pools: Resolver<TokenRecord, PageArgs> = async ({ mint }, { first, after }, context) => {
  const page = await context.loaders(makeLinkLoaders).pools.load({ parent: mint, first, after, filter: null });
  return mapPage(page, (rows) => Promise.all(rows.map(({ pool_address }) => pool(pool_address, context))));
};

/** The rest of a position in the words of LpPosition: its sums and results. */
const summary = (row: LinkedPositionRow, { now }: GraphContext): Record<string, unknown> => summaryOf([row], now);
const summed =
  (field: string): Resolver<LinkedPositionRow> =>
  (row, _args, context) =>
    summary(row, context)[field];

const scores: Resolver<Provider, PageArgs> = ({ owner }, { first, after }, context) =>
  context.loaders(makeLinkLoaders).scores.load({ parent: owner, first, after, filter: null });

/** An amount of the order's input token in its own units; null while its decimals are unknown. */
const inputAmount =
  (field: 'in_amount_per_cycle' | 'remaining'): Resolver<OrderRow> =>
  async (order, _args, context) => {
    const decimals = (await context.loaders(makeLoaders).token.load(order.input_mint))?.decimals ?? null;
    return decimals === null ? null : Number(`${order[field]}e-${decimals}`);
  };

const poolOf: Resolver<{ pool_address: string | null }> = ({ pool_address }, _args, context) => pool(pool_address, context);
const providerOf = ({ owner }: { owner: string | null }): Provider | null => provider(owner);
const positionOf: Resolver<Pick<ShownEvent, 'position_key'>> = ({ position_key }, _args, context) =>
  position_key === null ? null : context.loaders(makeLinkLoaders).position.load(position_key);
const actorOf = (event: ShownEvent): Provider | null => (isSwap(event) ? null : provider(event.owner));
const ofEvent = { pool: poolOf, provider: actorOf, position: positionOf };
const ofPool = ({ pool_address }: { pool_address: string }): string => pool_address;
const ofOwner = ({ owner }: Provider): string => owner;
const ofMint = ({ mint }: TokenRecord): string => mint;

/** Fields of the wing's records that lead to other records. */
export const links = {
  Pool: {
    events: events('pool_address', ofPool),
    lps: (({ pool_address }, { first, after }, context) =>
      context.loaders(makeLinkLoaders).providers.load({ parent: pool_address, first, after, filter: null })) as Resolver<
      PoolRecord,
      PageArgs
    >,
    positions: positions('pool_address', ofPool),
  },
  LpProvider: {
    lp_score: (({ owner }, _args, context) => scoreNow(owner, context)) as Resolver<Provider>,
    events: events('owner', ofOwner),
    positions: positions('owner', ofOwner),
    score_history: scores,
    recurring_orders: orders('owner', ofOwner),
  },
  LpPosition: {
    status: summed('status'),
    fees_claimed_usd: ({ claimed_usd }: LinkedPositionRow) => claimed_usd,
    realized_pnl_usd: summed('realized_pnl_usd'),
    realized_pnl_pct: summed('realized_pnl_pct'),
    hodl_value_usd: summed('hodl_value_usd'),
    il_usd: summed('il_usd'),
    last_event: ({ last_at }: LinkedPositionRow) => last_at,
    pool: poolOf,
    provider: providerOf,
    events: events('position_address', ({ position_address }: LinkedPositionRow) => position_address),
  },
  LpScore: { date: ({ day }: ScoreRow) => day, provider: providerOf },
  LpToken: { pools, sell_orders: orders('input_mint', ofMint), buy_orders: orders('output_mint', ofMint) },
  RecurringOrder: {
    amount_per_cycle: inputAmount('in_amount_per_cycle'),
    remaining_amount: inputAmount('remaining'),
    cycle_seconds: ({ cycle_frequency }: OrderRow) => Number(cycle_frequency),
    is_open: (({ closed_at, remaining }, _args, { now }) =>
      (closed_at === null || closed_at >= now) && Number(remaining) > 0) as Resolver<OrderRow>,
    provider: providerOf,
    input_token: (({ input_mint }, _args, context) => context.loaders(makeLoaders).token.load(input_mint)) as Resolver<OrderRow>,
    output_token: (({ output_mint }, _args, context) => context.loaders(makeLoaders).token.load(output_mint)) as Resolver<OrderRow>,
  },
  DcaTokenPressure: {
    token: (({ token_mint }, _args, context) => context.loaders(makeLoaders).token.load(token_mint)) as Resolver<{ token_mint: string }>,
  },
  DlmmEvent: ofEvent,
  DammV2Event: ofEvent,
  LpEvent: ofEvent,
};

export const linkTargets = { poolOf, providerOf, positionOf };
