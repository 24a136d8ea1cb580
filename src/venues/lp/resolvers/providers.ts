import { type AppError, notKnown } from '../../../errors';
import { groupedBy } from '../../../lib/grouped';
import { roundTo } from '../../../lib/statistics';
import { earliestOf } from '../../../lib/time';
import { BEGINNING, type Timeframe, type Window, since, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolvers } from '../../venue';
import { sectionsOf } from '../../venue-sections';
import { type PoolType } from '../chain-addresses';
import { makeLoaders } from '../loaders';
import { listOwnerEvents } from '../queries/owner-events';
import { countOpen, knownOwners, listProviderPools, type ProviderPoolRow } from '../queries/providers';
import type { PoolIds } from '../queries/pool-ids';
import { listTopProviders, type LpsTopSort } from '../queries/providers-top';
import { pointsOf } from '../scoring/formula';
import { addDecimals, negated, sumDecimals } from '../sources/decimal';
import { nothingIn, type PoolTypeFilter, typeDropped, typeOf, unpricedOf, warnOfUnpriced, withIds } from './asked';
import { shownEvent, type ShownEvent } from './pool-event';
import { statusOf } from './positions';
import { nameScores, scoreNow } from './score-now';

interface LpsTopInput {
  sort_by: LpsTopSort;
  timeframe: Timeframe;
  pool_type: PoolTypeFilter;
  limit: number;
}

/** Providers ranked over a window. */
async function lpLpsTop(_root: unknown, { sort_by, timeframe, pool_type, limit }: LpsTopInput, context: GraphContext): Promise<unknown> {
  const window = windowOf(timeframe, context.now);
  const life = await isLife(window, context);
  const [rows] = await Promise.all([
    listTopProviders(context.sql, { sort: sort_by, window, life, pool_type: typeOf(pool_type), limit }),
    nameScores(context),
  ]);
  if (rows.length === 0) throw nothingIn(timeframe, typeDropped(pool_type));
  Object.assign(context.meta, { timeframe, window, count: rows.length });
  warnOfUnpriced(unpricedOf(rows), 'counted, left out of sums', context);
  return rows.map((row, i) => ({ ...row, rank: i + 1 }));
}

interface Summary {
  total_volume_usd: string;
  fees_claimed_usd: string;
  realized_pnl_usd: string | null;
  win_rate: number | null;
  pool_count: number;
  lp_score: string | null;
}

const sumOf = (values: readonly (string | null)[]): string => sumDecimals(values.filter((value) => value !== null));
const percent = (part: string | null, of: string | null): number | null =>
  part === null || of === null || Number(of) === 0 ? null : (100 * Number(part)) / Number(of);
const counted = (
  rows: readonly ProviderPoolRow[],
  key: 'event_count' | 'closed_positions' | 'known_positions' | 'wins' | 'held_positions',
): number => rows.reduce((sum, row) => sum + row[key], 0);

/** Totals of one provider over its pools. */
function summaryOf(rows: readonly ProviderPoolRow[], open: number | null, lp_score: string | null): Summary & Record<string, unknown> {
  const moved = rows.filter((row) => row.event_count > 0);
  const deposited = sumOf(rows.map((row) => row.deposited_usd));
  const withdrawn = sumOf(rows.map((row) => row.withdrawn_usd));
  const fees = sumOf(rows.map((row) => row.fees_claimed_usd));
  const known = counted(rows, 'known_positions');
  const realized = known === 0 ? null : sumOf(rows.map((row) => row.realized_pnl_usd));
  const held = counted(rows, 'held_positions');
  const times = (key: 'first_at' | 'last_at'): number[] => moved.map((row) => (row[key] as Date).getTime());
  return {
    total_volume_usd: sumOf(rows.map((row) => row.volume_usd)),
    pool_count: moved.length,
    event_count: counted(rows, 'event_count'),
    pool_types: [...new Set(moved.map((row) => row.pool_type))].sort().reverse(),
    deposited_usd: deposited,
    withdrawn_usd: withdrawn,
    fees_claimed_usd: fees,
    net_value_usd: addDecimals(deposited, negated(withdrawn)),
    realized_pnl_usd: realized,
    realized_pnl_pct: percent(realized, sumOf(rows.map((row) => row.realized_deposits_usd))),
    win_rate: known === 0 ? null : counted(rows, 'wins') / known,
    closed_positions: counted(rows, 'closed_positions'),
    open_positions: open,
    avg_hold_hours: held === 0 ? null : rows.reduce((sum, row) => sum + (row.held_hours ?? 0), 0) / held,
    fee_yield_pct: percent(fees, deposited),
    lp_score,
    lp_score_breakdown: null,
    first_event: moved.length === 0 ? null : new Date(Math.min(...times('first_at'))),
    last_event: moved.length === 0 ? null : new Date(Math.max(...times('last_at'))),
  };
}

/** How the newest score came about, by the figures stored with it. */
async function breakdownOf(owner: string, { prisma, now }: GraphContext): Promise<Record<string, unknown> | null> {
  const run = await prisma.lp_score.findFirst({ where: { day: { lte: now } }, orderBy: { day: 'desc' }, select: { day: true } });
  const row = run === null ? null : await prisma.lp_score.findUnique({ where: { owner_day: { owner, day: run.day } } });
  if (row === null) return null;
  const [win_rate_lb, deposited_usd, avg_pnl_pct] = [row.win_rate_lb, row.deposited_usd, row.avg_pnl_pct].map((value) =>
    value === null ? null : Number(value),
  );
  const { n, wins, version } = row;
  const record = { n, wins, win_rate_lb, deposited_usd, avg_pnl_pct, version };
  if (win_rate_lb == null || deposited_usd == null || avg_pnl_pct == null) return record;
  const points = Object.entries(pointsOf({ n, win_rate_lb, deposited_usd, avg_pnl_pct }));
  return { ...record, ...Object.fromEntries(points.map(([name, value]) => [name, roundTo(value, 6)])) };
}

/** The pools of a provider as answers show them. */
async function breakdown(rows: readonly ProviderPoolRow[], context: GraphContext): Promise<Record<string, unknown>[]> {
  const shown = await withIds(rows, context);
  return shown.map((row) => ({ ...row, status: statusOf(row) }));
}

interface ProfileInput {
  owner: string;
  pool_type: PoolTypeFilter;
  events_limit: number;
  timeframe: Timeframe | null;
  explain: boolean;
}

/** What is answered where no owner asked for ever provided. */
const unknownOwners = (param: 'owner' | 'owners', owners: readonly string[]): AppError =>
  notKnown(param, owners.join(','), 'never provided liquidity', {
    method: 'GET',
    path: '/api/v1/lp/lps/top',
    note: 'providers that did',
  });

/** What owners did, pool by pool: a window that begins before everything, with nothing newer than it, is told by whole lives. */
async function listPools(
  owners: readonly string[],
  pool_type: PoolType | null,
  window: Window,
  context: GraphContext,
): Promise<ProviderPoolRow[]> {
  return listProviderPools(context.sql, { owners, pool_type, window, life: await isLife(window, context) });
}

/** Whether a window holds all there is: it begins before everything, and nothing is newer than it. */
const isLife = async (window: Window, context: GraphContext): Promise<boolean> =>
  window.from.getTime() === BEGINNING.getTime() && (await context.loaders(makeLoaders).newestChange()) < window.to.getTime();

/** The newest events of a provider in a window, as answers show them; what it did there in each pool tells since when there are any. */
async function recentEvents(
  input: ProfileInput,
  window: Window,
  pools: Promise<ProviderPoolRow[]>,
  context: GraphContext,
): Promise<ShownEvent[]> {
  const { poolIds } = context.loaders(makeLoaders);
  const begins = (await pools).flatMap(({ first_at }) => first_at ?? []);
  if (begins.length === 0) return [];
  const life = since(window, earliestOf(begins));
  const events = await listOwnerEvents(context.sql, input.owner, life, typeOf(input.pool_type), input.events_limit);
  return Promise.all(events.map(async (row) => shownEvent(row, (await poolIds.load(row.pool_address)) as PoolIds, false)));
}

/** A provider's newest score, in an answer that names the formula of it. */
async function namedScore(owner: string, context: GraphContext): Promise<string | null> {
  await nameScores(context);
  return scoreNow(owner, context);
}

/**
 * A provider's dossier, whose sections stand by themselves; the figures must be there. Throws not_found for a stranger, empty_result for a known one
 * without anything in the window.
 */
async function lpLpsProfile(_root: unknown, input: ProfileInput, context: GraphContext): Promise<unknown> {
  const { sql, now, meta } = context;
  const { owner, explain } = input;
  const pool_type = typeOf(input.pool_type);
  const timeframe = input.timeframe ?? null;
  const window = windowOf(timeframe ?? 'all', now);
  const section = sectionsOf(context);
  const pools = listPools([owner], pool_type, window, context);
  const [known, rows, open, recent_events, lp_score] = await Promise.all([
    knownOwners(sql, [owner], now),
    pools,
    section('open_positions', countOpen(sql, [owner], pool_type, now)),
    section('recent_events', recentEvents(input, window, pools, context)),
    section('lp_score', namedScore(owner, context)),
  ]);
  if (!known.has(owner)) throw unknownOwners('owner', [owner]);
  if (rows.length === 0) throw nothingIn(timeframe, typeDropped(input.pool_type));
  Object.assign(meta, { timeframe, window: timeframe === null ? null : window, count: recent_events?.length ?? null });
  warnOfUnpriced(unpricedOf(rows), 'counted, left out of sums', context);
  const [pool_breakdown, lp_score_breakdown] = await Promise.all([
    section('pool_breakdown', breakdown(rows, context)),
    explain ? section('lp_score_breakdown', breakdownOf(owner, context)) : null,
  ]);
  const summary = summaryOf(rows, open === null ? null : (open.get(owner) ?? 0), lp_score);
  return { owner, summary: { ...summary, lp_score_breakdown }, pool_breakdown, recent_events };
}

const COMPARED_POOLS = 5;

/** Providers side by side, over their lives. Throws not_found when none is known, empty_result when none did anything in such pools. */
async function lpLpsCompare(
  _root: unknown,
  { owners, pool_type }: { owners: string[]; pool_type: PoolTypeFilter },
  context: GraphContext,
): Promise<unknown> {
  const { sql, now } = context;
  const type: PoolType | null = typeOf(pool_type);
  const [known, all, open] = await Promise.all([
    knownOwners(sql, owners, now),
    listPools([...new Set(owners)], type, windowOf('all', now), context),
    countOpen(sql, owners, type, now),
    nameScores(context),
  ]);
  if (known.size === 0) throw unknownOwners('owners', owners);
  const rows = all.filter((row) => known.has(row.owner));
  if (rows.length === 0) throw nothingIn(null, typeDropped(pool_type));
  warnOfUnpriced(unpricedOf(rows), 'counted, left out of sums', context);
  const compared = owners.map(async (owner) => {
    const own = rows.filter((row) => row.owner === owner);
    const found = known.has(owner);
    const [summary, pool_breakdown] = await Promise.all([
      found ? scoreNow(owner, context).then((lp_score) => summaryOf(own, open.get(owner) ?? 0, lp_score)) : null,
      breakdown(own.slice(0, COMPARED_POOLS), context),
    ]);
    return { owner, found, summary, pool_breakdown };
  });
  const [lps, shared_pools] = await Promise.all([Promise.all(compared), sharedPools(owners, rows, context)]);
  return { lps, shared_pools, comparison_winners: winnersOf(lps) };
}

/** Pools that at least two of the providers used, most volume of theirs first. */
async function sharedPools(owners: readonly string[], rows: readonly ProviderPoolRow[], context: GraphContext): Promise<unknown[]> {
  const used = groupedBy(
    rows.filter((row) => row.event_count > 0),
    (row) => row.pool_address,
  );
  const volume = (own: readonly ProviderPoolRow[]): number => own.reduce((sum, row) => sum + Number(row.volume_usd), 0);
  const shared = [...used]
    .filter(([, own]) => own.length > 1)
    .map(([address, own]) => ({ address, own, moved: volume(own) }))
    .sort((a, b) => b.moved - a.moved || (a.address < b.address ? -1 : 1));
  const { poolIds } = context.loaders(makeLoaders);
  return Promise.all(
    shared.map(async ({ address, own }) => ({
      ...((await poolIds.load(address)) as PoolIds),
      owners: [...own].sort((a, b) => owners.indexOf(a.owner) - owners.indexOf(b.owner)),
    })),
  );
}

const METRICS = ['total_volume_usd', 'fees_claimed_usd', 'realized_pnl_usd', 'win_rate', 'pool_count', 'lp_score'] as const;

/** Who leads in what; equal to the sixth decimal is a tie. Nobody leads where nobody has a value. */
function winnersOf(lps: readonly { owner: string; summary: Summary | null }[]): Record<string, string[]> {
  return Object.fromEntries(
    METRICS.map((metric) => {
      const values = lps.flatMap(({ owner, summary }) => {
        const value = summary?.[metric] ?? null;
        return value === null ? [] : [{ owner, value: Number(Number(value).toFixed(6)) }];
      });
      const best = Math.max(...values.map(({ value }) => value));
      return [metric, values.filter(({ value }) => value === best).map(({ owner }) => owner)];
    }),
  );
}

export const providersResolvers = { Query: { lpLpsTop, lpLpsProfile, lpLpsCompare } } satisfies Resolvers;
