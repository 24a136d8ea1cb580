import { AppError } from '../../../errors';
import type { Category } from '../../../lib/category';
import { CURSOR_FORMS, type CursorPosition, listScope, orNull } from '../../../lib/cursor';
import { groupedBy } from '../../../lib/grouped';
import { DAY_MS, isoDay } from '../../../lib/time';
import { type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { nextScoredCursor, openScoredList, openSettledList } from '../../venue-lists';
import { compareAmounts, less, total } from '../exact';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { readSearch } from '../market-search';
import { winnerOf } from '../market-state';
import { type ResolvedMarket, listMarkets, listNewestResolved } from '../queries/market-lists';
import { type SettledStance, countFlagged, listSettledStances } from '../queries/market-resolutions';
import { listMeasuredMarkets } from '../queries/market-rankings';
import { listTakenVolumes } from '../queries/market-volumes';
import { PM_TAGS } from '../scoring/tags';
import { SMART_SCORE } from '../scoring/tiers';
import { looser } from './looser';
import { timeframeWith } from './paging';

interface Args {
  category?: Category | null;
  query?: string | null;
  sort_by: 'resolved_recently' | 'volume' | 'smart_money_accuracy';
  limit: number;
  timeframe?: Timeframe | null;
  cursor?: string | null;
}

interface Verdict {
  correct: number;
  wrong: number;
}

/** A resolved market with what it is ordered by; what the order does not need is 0 and null. */
interface Row {
  condition_id: string;
  resolved_at: Date;
  volume: string;
  accuracy: number | null;
}

/** Volumes, verdicts and numbers of flagged wallets of the markets shown. */
type Told = Promise<[ReadonlyMap<string, string>, ReadonlyMap<string, Verdict>, (condition_id: string) => number | null]>;

/** Smaller net positions, USDC, are no opinion. */
const SMALLEST_NET_USDC = 10;

/** markets/resolutions: resolved markets, and whether smart money was right. Throws empty_result for none in scope. */
export const marketsResolutions: Resolver<unknown, Args> = async (_, { cursor, ...args }, asked) => {
  const scope = listScope('markets/resolutions', args);
  // When markets were resolved stays as it is.
  const open = args.sort_by === 'resolved_recently' ? openScoredList : openSettledList.bind(null, 'prediction');
  const { page, then: context } = open(asked, cursor, scope, KEY_FORMS);
  if (args.timeframe) Object.assign(context.meta, { timeframe: args.timeframe, window: windowOf(args.timeframe, page.as_of) });
  const after = page.after && rowOf(page.after);
  const ordered = (await listRows(context, args, after)).sort(ORDERS[args.sort_by]);
  const behind = after === null ? ordered : ordered.filter((row) => ORDERS[args.sort_by](row, after) > 0);
  // Behind the last page nothing is to be found.
  if (behind.length === 0) throw new AppError('empty_result', after === null ? { suggestion: await suggestionOf(args, context) } : {});
  const shown = behind.slice(0, args.limit);
  context.meta.count = shown.length;
  const ids = shown.map((row) => row.condition_id);
  const run = await context.loaders(makeLoaders).scoreRun();
  context.meta.next_cursor =
    behind.length > shown.length ? nextScoredCursor(page, run?.day ?? null, keyOf(shown.at(-1) as Row), scope) : null;
  context.meta.score_version = run?.version ?? null;
  const told = Promise.all([
    listTakenVolumes(context.sql, ids, page.as_of),
    judge(context, shown),
    // The scan for patterns is part of the daily run.
    run === null ? () => null : countFlagged(context.sql, ids, PM_TAGS.insider_score, context.now),
  ]);
  return Promise.all(shown.map((row) => describe(row, told, context)));
};

/** Rows in scope; of the newest first no more than are shown behind `after`, and one that says there are more. */
async function listRows(context: GraphContext, { category, query, timeframe, sort_by, limit }: Args, after: Row | null): Promise<Row[]> {
  const { now } = context;
  const text = readSearch(query);
  if (text.words?.length === 0) return [];
  const resolved_from = timeframe ? windowOf(timeframe, now).from : null;
  const rowOfMarket = ({ condition_id, resolved_at }: ResolvedMarket): Row => ({ condition_id, resolved_at, volume: '0', accuracy: null });
  if (sort_by === 'resolved_recently' && !query) {
    const newest = await listNewestResolved(context.sql, { category: category ?? null, resolved_from }, after, limit + 1, now);
    return newest.map(rowOfMarket);
  }
  const scope = { status: 'resolved', category: category ?? null, ...text, resolved_from } as const;
  if (sort_by === 'volume') {
    const measured = await listMeasuredMarkets(context.sql, scope, null, now);
    return measured.map((market) => ({ ...rowOfMarket(market as ResolvedMarket), volume: market.volume }));
  }
  const rows = (await listMarkets(context.sql, scope, now)).map((market) => rowOfMarket(market as ResolvedMarket));
  if (sort_by !== 'smart_money_accuracy') return rows;
  const verdicts = await judge(context, rows);
  return rows.map((row) => ({ ...row, accuracy: accuracyOf(verdicts.get(row.condition_id)) }));
}

/** The shortest window with a market, whatever is asked for, all categories: what brings resolved markets. */
const suggestionOf = (args: Omit<Args, 'cursor'>, context: GraphContext): Promise<Record<string, unknown>> =>
  looser(args, [{ timeframe: args.timeframe && 'all' }, { query: null }, { category: null }], async (asked) => {
    const rows = await listRows(context, { ...asked, sort_by: 'resolved_recently', limit: 1 }, null);
    const [newest] = rows.sort(byTime);
    if (newest === undefined) return undefined;
    return asked.timeframe === args.timeframe ? {} : { timeframe: timeframeWith(newest.resolved_at, context.now) };
  });

const byTime = (a: Row, b: Row): number =>
  b.resolved_at.getTime() - a.resolved_at.getTime() || (a.condition_id < b.condition_id ? -1 : a.condition_id > b.condition_id ? 1 : 0);
const ORDERS: Record<Args['sort_by'], (a: Row, b: Row) => number> = {
  resolved_recently: byTime,
  volume: (a, b) => compareAmounts(b.volume, a.volume) || byTime(a, b),
  // Markets nobody smart was in come last.
  smart_money_accuracy: (a, b) => (b.accuracy ?? -1) - (a.accuracy ?? -1) || byTime(a, b),
};

const keyOf = ({ resolved_at, volume, accuracy, condition_id }: Row): CursorPosition => [
  resolved_at.getTime(),
  volume,
  accuracy,
  condition_id,
];

const KEY_FORMS = [CURSOR_FORMS.instant, CURSOR_FORMS.number, orNull(CURSOR_FORMS.number), CURSOR_FORMS.condition_id];

const rowOf = ([time, volume, accuracy, condition_id]: CursorPosition): Row => ({
  condition_id: String(condition_id),
  resolved_at: new Date(Number(time)),
  volume: String(volume),
  accuracy: accuracy as number | null,
});

const accuracyOf = (verdict: Verdict | undefined): number | null =>
  verdict === undefined || verdict.correct + verdict.wrong === 0 ? null : verdict.correct / (verdict.correct + verdict.wrong);

/** Smart wallets that were right and wrong on each market, by scores of the newest run of a day before it was resolved; never by a later one. */
async function judge(context: GraphContext, rows: readonly Row[]): Promise<Map<string, Verdict>> {
  const { market, outcomes } = context.loaders(makeLoaders);
  const { days } = await context.loaders(makeLoaders).state();
  const judged = rows.flatMap(({ condition_id, resolved_at }) => {
    const ended = isoDay(resolved_at);
    const day = days.findLast((run) => run < ended);
    return day === undefined ? [] : [{ condition_id, day }];
  });
  const stances = groupedBy(await listSettledStances(context.sql, judged, SMART_SCORE), (stance) => stance.condition_id);
  const verdicts = await Promise.all(
    [...stances].map(async ([id, own]): Promise<[string, Verdict]> => {
      const [record, tokens] = await Promise.all([market.load(id), outcomes.load(id)]);
      const winner = record?.is_voided ? undefined : tokens.find((token) => token.outcome === record?.winning_outcome);
      return [id, winner === undefined ? { correct: 0, wrong: 0 } : verdictOf(own, winner.token_id)];
    }),
  );
  return new Map(verdicts);
}

/** A wallet is right when its largest position, less its others, is on the winner. */
function verdictOf(stances: readonly SettledStance[], winner: string): Verdict {
  const verdict = { correct: 0, wrong: 0 };
  for (const own of groupedBy(stances, (stance) => stance.wallet).values()) {
    const [largest, ...others] = own.sort((a, b) => compareAmounts(b.cost, a.cost) || (a.token_id < b.token_id ? -1 : 1)) as [
      SettledStance,
      ...SettledStance[],
    ];
    const net = less(largest.cost, total(others.map((other) => other.cost)));
    if (Number(net) < SMALLEST_NET_USDC) continue;
    verdict[largest.token_id === winner ? 'correct' : 'wrong'] += 1;
  }
  return verdict;
}

async function describe({ condition_id, resolved_at }: Row, told: Told, context: GraphContext): Promise<Record<string, unknown>> {
  const { prices, shown } = context.loaders(makeMarketLoaders);
  const [[taken, verdicts, flagged], record, before] = await Promise.all([
    told,
    shown.load(condition_id),
    prices.load({ condition_id, at: new Date(resolved_at.getTime() - DAY_MS), traded: true }),
  ]);
  const verdict = verdicts.get(condition_id) ?? { correct: 0, wrong: 0 };
  const closing_price = record.is_voided ? null : (before.find((outcome) => outcome.outcome === record.winning_outcome)?.price ?? null);
  return {
    ...record,
    winning_outcome: winnerOf(record, context.now),
    total_volume_usdc: taken.get(condition_id) ?? '0',
    smart_money_correct: verdict.correct,
    smart_money_wrong: verdict.wrong,
    smart_money_accuracy: accuracyOf(verdict),
    resolved_at,
    closing_price,
    market_brier: closing_price === null ? null : (1 - closing_price) ** 2,
    insider_flagged_wallets: flagged(condition_id),
  };
}
