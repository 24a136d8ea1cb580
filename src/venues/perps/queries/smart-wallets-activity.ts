import type { Timeframe, Window } from '../../../lib/timeframe';
import { AppError } from '../../../errors';
import type { GraphContext } from '../../venue';
import { sideFilter } from '../side';
import type { FillRow } from './fills';
import { getCoinIfAny, getDayScoredFrom, isNewest, isScoreTold, openWindow, spanUpToNow, widerTimeframe, without } from './scope';
import { SMART_SCORE } from '../tier';
import { smartActiveIn } from './active';
import { scoredLives } from './lives';
import { VOLUME_COLUMNS, scoredRows, smartRows, sumsOf } from './span';
import { openTradePage, tradePage } from './trade-page';

export interface SmartActivityArgs {
  timeframe: Timeframe;
  min_score: number;
  limit: number;
  coin?: string | null;
  side?: string | null;
  cursor?: string | null;
}

/** Figures are exact decimals as text. */
interface SummaryRow {
  trade_count: number;
  total_volume: string;
  unique_traders: number;
  long_volume: string;
  short_volume: string;
  long_short_ratio: string | null;
  realized_pnl: string;
  top_coins: { coin: string; volume: string; net_volume: string }[] | null;
}

const TOP_COINS = 5;
const COLUMNS = ['fills', 'buys', 'open_longs', 'open_shorts', 'close_longs', 'close_shorts', 'open_long_usd', 'open_short_usd', 'close_long_usd', 'close_short_usd', 'long_pnl', 'short_pnl'] as const; // prettier-ignore

// What a side keeps of an hour; a flip is one fill, and a row of each of two sides. PnL belongs to what closes.
const SIDES = {
  any: {
    count: 'fills',
    bought: ['open_long_usd', 'close_short_usd'],
    sold: ['open_short_usd', 'close_long_usd'],
    pnl: ['long_pnl', 'short_pnl'],
  },
  BUY: { count: 'buys', bought: ['open_long_usd', 'close_short_usd'], sold: [], pnl: ['short_pnl'] },
  SELL: { count: 'fills - buys', bought: [], sold: ['open_short_usd', 'close_long_usd'], pnl: ['long_pnl'] },
  'Open Long': { count: 'open_longs', bought: ['open_long_usd'], sold: [], pnl: [] },
  'Open Short': { count: 'open_shorts', bought: [], sold: ['open_short_usd'], pnl: [] },
  'Close Long': { count: 'close_longs', bought: [], sold: ['close_long_usd'], pnl: ['long_pnl'] },
  'Close Short': { count: 'close_shorts', bought: ['close_short_usd'], sold: [], pnl: ['short_pnl'] },
} as const;
type Side = keyof typeof SIDES;

/** What the columns come to together. */
const summed = (columns: readonly string[]): string => sumsOf(columns) || '0';

const TOLD_COLUMNS = ['fills', ...VOLUME_COLUMNS, 'long_pnl', 'short_pnl'] as const;

/** How the window is told: by sums over all smart accounts, or account by account, by whole lives or not. */
interface By {
  life: boolean;
  sums: boolean;
  is_told: boolean;
}

// First the window: $1 to $4, or $1 alone, its end, where whole lives tell it account by account. Then: day of the score run; least score; the coin, where there is one.
function text(side: Side, hasCoin: boolean, { life, sums, is_told }: By): string {
  const [day, least, coin] = [1, 2, 3].map((place) => `$${place + (life ? 1 : 4)}`) as [string, string, string];
  const scored = { day, least, is_told };
  const { count, bought, sold, pnl } = SIDES[side];
  const narrowed = hasCoin ? { coin } : {};
  const byAccount = life ? scoredLives(COLUMNS, scored, narrowed, '$1') : scoredRows(COLUMNS, scored, narrowed);
  const rows = sums ? smartRows(TOLD_COLUMNS, scored, narrowed) : byAccount;
  const active = sums
    ? smartActiveIn(scored, narrowed)
    : 'SELECT count(*)::int FROM (SELECT trader FROM piece GROUP BY trader HAVING sum(trades) > 0) own';
  return `
WITH piece AS MATERIALIZED (
  SELECT ${['coin', 'trader', `${count} AS trades`, ...bought, ...sold, ...pnl].join(', ')} FROM ${rows} r
),
by_coin AS (
  SELECT coin, sum(trades) AS trades, ${summed(bought)} AS bought, ${summed(sold)} AS sold, ${summed(pnl)} AS pnl FROM piece GROUP BY coin HAVING sum(trades) > 0
),
top AS (
  SELECT coin, bought + sold AS volume, bought - sold AS net_volume FROM by_coin ORDER BY round(bought + sold, 6) DESC, coin COLLATE "C" LIMIT ${TOP_COINS}
)
SELECT coalesce(sum(trades), 0)::int AS trade_count, coalesce(sum(bought + sold), 0) AS total_volume, 
  (${active}) AS unique_traders,
  coalesce(sum(bought), 0) AS long_volume, coalesce(sum(sold), 0) AS short_volume, sum(bought) / nullif(sum(sold), 0) AS long_short_ratio,
  coalesce(sum(pnl), 0) AS realized_pnl,
  (SELECT json_agg(json_build_object('coin', coin, 'volume', volume::text, 'net_volume', net_volume::text) ORDER BY round(volume, 6) DESC, coin COLLATE "C") FROM top) AS top_coins
FROM by_coin`;
}

/** What accounts with at least a score did: the window in figures, and their fills, newest first. Throws not_found (coin), empty_result. */
export async function smartActivity(
  args: SmartActivityArgs,
  context: GraphContext,
): Promise<{ period_summary: SummaryRow; trades: FillRow[] }> {
  const coin = await getCoinIfAny(context, args.coin);
  const opened = openTradePage('perps/smart-wallets/activity', args, context, true);
  const { then } = opened;
  const window = openWindow(args.timeframe, then);
  const whose = { day: await getDayScoredFrom(then, args.min_score), least: args.min_score };
  const filter = { window, coin, min_usd: null, ...sideFilter(args.side), is_long: null, whose };
  const [trades, summary] = await Promise.all([
    tradePage(opened, filter, widerTimeframe(args.timeframe) ?? without(args, { coin: null, side: null })),
    summaryOf((args.side ?? 'any') as Side, args.timeframe, window, whose, coin, then),
  ]);
  return { period_summary: { ...summary, top_coins: summary.top_coins ?? [] }, trades };
}

async function summaryOf(
  side: Side,
  timeframe: Timeframe,
  window: Window,
  { day, least }: { day: string; least: number },
  coin: string | null,
  context: GraphContext,
): Promise<SummaryRow> {
  const is_told = await isScoreTold(context, least);
  // Sums are of all who are smart, and know no sides.
  const sums = is_told && least === SMART_SCORE && side === 'any';
  const life = timeframe === 'all' && !sums;
  const by = { life, is_told, sums };
  const name = [
    'perps_smart_activity',
    side.toLowerCase().replace(' ', '_'),
    ...(coin === null ? [] : ['coin']),
    ...(life ? ['life'] : []),
    ...(is_told ? ['told'] : []),
    ...(by.sums ? ['sums'] : []),
  ].join('_');
  const values = [...(life ? [window.to] : await spanUpToNow(window, context)), day, least, ...(coin === null ? [] : [coin])];
  const [row] = await context.sql.query<SummaryRow>(
    { name, text: text(side, coin !== null, by), keyed: by.sums && (await isNewest(context)) },
    values,
  );
  if (row === undefined) throw new AppError('internal');
  return row;
}
