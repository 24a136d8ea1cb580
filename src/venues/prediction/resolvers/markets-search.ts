import { AppError } from '../../../errors';
import type { Category } from '../../../lib/category';
import { CURSOR_FORMS, type CursorPosition, listScope, orNull } from '../../../lib/cursor';
import { roundTo } from '../../../lib/statistics';
import type { GraphContext, Resolver } from '../../venue';
import { nextScoredCursor, openScoredList } from '../../venue-lists';
import { compareAmounts } from '../exact';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { leaderOf } from '../market-prices';
import { type SearchText, readSearch, relevanceOf } from '../market-search';
import { isResolved, statusOf, winnerOf } from '../market-state';
import { type ListScope, type ListedStatus, hasMarkets } from '../queries/market-lists';
import { type MeasuredMarket, listMeasuredMarkets } from '../queries/market-rankings';
import { looser } from './looser';
import { isContrarian, loadSmartViews } from './signals-views';

interface Args {
  query?: string | null;
  category?: Category | null;
  status: ListedStatus;
  has_smart_money_signal?: boolean | null;
  sort_by: 'relevance' | 'end_date' | 'volume';
  limit: number;
  cursor?: string | null;
}

interface Match {
  market: MeasuredMarket;
  relevance: number | null;
}

/** Smart wallets on one outcome that make a signal. */
const SIGNAL_WALLETS = 3;

/** markets/search: markets by words, id, slug or address. Throws empty_result without a match. */
export const marketsSearch: Resolver<unknown, Args> = async (_, { cursor, ...args }, asked) => {
  const scope = listScope('markets/search', args);
  // As of now, though late trades may order it anew: as of some seconds ago, what came since is taken off every volume, which takes twice the time.
  const { page, then: context } = openScoredList(asked, cursor, scope, KEY_FORMS);
  const after = page.after && matchOf(page.after);
  const text = readSearch(args.query);
  const matches = await listMatches(context, args, text, after);
  const ordered = matches.sort(ORDERS[args.sort_by]);
  const behind = after === null ? ordered : ordered.filter((match) => ORDERS[args.sort_by](match, after) > 0);
  // Behind the last page nothing is to be found.
  if (behind.length === 0)
    throw new AppError('empty_result', after === null ? { suggestion: await suggestionOf(args, text, context) } : {});
  const shown = behind.slice(0, args.limit);
  const last = shown.at(-1) as Match;
  context.meta.count = shown.length;
  const run = await context.loaders(makeLoaders).scoreRun();
  context.meta.next_cursor = behind.length > shown.length ? nextScoredCursor(page, run?.day ?? null, keyOf(last), scope) : null;
  const views = loadSmartViews(context, shown.map((match) => match.market.condition_id)); // prettier-ignore
  return Promise.all(shown.map((match) => describe(match, views, context)));
};

function scopeOf({ status, category }: Pick<Args, 'status' | 'category'>, text: SearchText): ListScope {
  // A market that is named is found whatever became of it.
  return { status: text.exactly === null ? status : 'all', category: category ?? null, ...text, resolved_from: null };
}

/** Matches; where what the store knows orders them, no more than are shown behind `after`, and one that says there are more. */
async function listMatches(context: GraphContext, args: Omit<Args, 'cursor'>, text: SearchText, after: Match | null): Promise<Match[]> {
  const scope = scopeOf(args, text);
  const { words, exactly } = scope;
  if (words?.length === 0) return [];
  const wanted = args.has_smart_money_signal ?? null;
  const ranked = wanted === null && (words === null || args.sort_by !== 'relevance');
  const order = args.sort_by === 'end_date' ? 'end_date' : 'volume';
  const ranking = ranked ? ({ order, after: after?.market ?? null, limit: args.limit + 1 } as const) : null;
  const listed = await listMeasuredMarkets(context.sql, scope, ranking, context.now);
  const kept = wanted === null ? listed : await withSignal(context, listed, wanted);
  return kept.map((market) => ({
    market,
    relevance: exactly !== null ? 1 : words === null ? null : roundTo(relevanceOf(market, words), 6),
  }));
}

async function withSignal(context: GraphContext, markets: readonly MeasuredMarket[], wanted: boolean): Promise<MeasuredMarket[]> {
  const views = await loadSmartViews(context, markets.map((market) => market.condition_id)); // prettier-ignore
  return markets.filter((market) => views(market.condition_id).wallets >= SIGNAL_WALLETS === wanted);
}

const byId = (a: Match, b: Match): number =>
  a.market.condition_id < b.market.condition_id ? -1 : a.market.condition_id > b.market.condition_id ? 1 : 0;
const byVolume = (a: Match, b: Match): number => compareAmounts(b.market.volume, a.market.volume) || byId(a, b);
const endOf = ({ market }: Match): number => market.end_date?.getTime() ?? Number.MAX_SAFE_INTEGER;
const ORDERS: Record<Args['sort_by'], (a: Match, b: Match) => number> = {
  // Without a query nothing is relevant, and volume decides.
  relevance: (a, b) => (b.relevance ?? 0) - (a.relevance ?? 0) || byVolume(a, b),
  end_date: (a, b) => endOf(a) - endOf(b) || byId(a, b),
  volume: byVolume,
};

const keyOf = (match: Match): CursorPosition => [
  match.relevance,
  match.market.volume,
  match.market.end_date?.getTime() ?? null,
  match.market.condition_id,
];

const KEY_FORMS = [orNull(CURSOR_FORMS.number), CURSOR_FORMS.number, orNull(CURSOR_FORMS.instant), CURSOR_FORMS.condition_id];

function matchOf([relevance, volume, end, condition_id]: CursorPosition): Match {
  const market = { condition_id, end_date: end === null ? null : new Date(Number(end)), volume: String(volume) } as MeasuredMarket;
  return { market, relevance: relevance as number | null };
}

/** With or without a signal, of any status, all categories: what brings markets. */
async function suggestionOf(args: Omit<Args, 'cursor'>, text: SearchText, context: GraphContext): Promise<Record<string, unknown>> {
  // Whether a market has a signal is not looked at again.
  const signal = { has_smart_money_signal: null };
  const changes = [signal, { ...signal, status: 'all' as const }, { ...signal, category: null }];
  return looser(args, changes, async (asked) => {
    const scope = scopeOf(asked, text);
    const found = scope.words?.length !== 0 && (await hasMarkets(context.sql, scope, context.now));
    return found ? {} : undefined;
  });
}

async function describe(
  { market, relevance }: Match,
  views: ReturnType<typeof loadSmartViews>,
  context: GraphContext,
): Promise<Record<string, unknown>> {
  const { condition_id } = market;
  const [view, priced] = await Promise.all([
    views.then((viewOf) => viewOf(condition_id)),
    context.loaders(makeMarketLoaders).prices.load({ condition_id, at: context.now }),
  ]);
  const leader = leaderOf(priced);
  const favoured = priced.find((outcome) => outcome.token_id === view.token_id);
  return {
    ...market,
    status: statusOf(market, context.now),
    total_volume_usdc: market.volume,
    smart_money_outcome: favoured?.outcome ?? null,
    smart_money_wallets: view.wallets,
    has_contrarian_signal: !isResolved(market, context.now) && isContrarian(view.strength, favoured?.price ?? null),
    leader_price: leader?.price ?? null,
    leader_outcome: leader?.outcome ?? null,
    token_ids: priced,
    winning_outcome: winnerOf(market, context.now),
    relevance,
  };
}
