import { AppError } from '../../../errors';
import { CURSOR_FORMS, listScope } from '../../../lib/cursor';
import type { GraphContext } from '../../venue';
import { nextScoredCursor, openScoredList, openSettledList } from '../../venue-lists';
import { makeLoaders } from '../loaders';
import { lowerScore, reachOf } from './scope';
import { lifeRows } from './lives';
import { VOLUME, VOLUME_COLUMNS } from './span';
import { type TraderLife, lastBefore, listLives } from './trader-lives';
import { lifeTrips } from './trip-counts';
import { wilsonSql } from './wilson';

export interface SmartListArgs {
  sort_by: 'score' | 'pnl' | 'volume' | 'win_rate' | 'last_trade';
  limit: number;
  min_score: number;
  cursor?: string | null;
}

export type SmartWalletRow = TraderLife & { score: string; tags: string[] };

interface RankedRow {
  trader: string;
  score: string;
  tags: string[];
  metric: string;
}

const METRIC = {
  score: 'scored.score',
  pnl: 'coalesce(life.own, 0)',
  volume: 'coalesce(life.own, 0)',
  win_rate: `coalesce(${wilsonSql('trips.won', 'trips.closed')}, 0)`,
  // Seconds since 1970, exactly.
  last_trade: 'coalesce(extract(epoch FROM life.own), -1)',
} as const;
const TYPE = { score: 'numeric', pnl: 'numeric', volume: 'numeric', win_rate: 'float8', last_trade: 'numeric' } as const;
const SUMMED = ['long_pnl', 'short_pnl', ...VOLUME_COLUMNS] as const;
/** Only the lives of accounts that are listed are read. */
const LISTED = { scored: { day: '$1', least: '$2' } };

const lifeOf = (metric: string): string =>
  `LEFT JOIN (SELECT r.trader, sum(${metric}) AS own FROM ${lifeRows(SUMMED, LISTED, '$6')} r GROUP BY r.trader) life ON life.trader = scored.trader`;

/** What each order but that by score needs; $6 is the list's instant. */
const ADDED: Partial<Record<SmartListArgs['sort_by'], string>> = {
  pnl: lifeOf('long_pnl + short_pnl'),
  volume: lifeOf(VOLUME),
  win_rate: `LEFT JOIN (SELECT t.trader, sum(closed) AS closed, sum(won) AS won FROM ${lifeTrips(LISTED, '$6')} t GROUP BY t.trader) trips
    ON trips.trader = scored.trader`,
  last_trade: `LEFT JOIN LATERAL (SELECT ${lastBefore('$6')} AS own FROM perp_trader p WHERE p.trader = scored.trader) life ON true`,
};

// $1: day of the score run; $2: least score; $3, $4: the last row sent; $5: how many; $6: the list's instant, where its order needs it.
const text = (sort_by: SmartListArgs['sort_by']): string => `
WITH scored AS (SELECT trader, score, tags FROM perp_score WHERE day = $1::date AND score >= $2::numeric),
ranked AS (SELECT scored.trader, scored.score, scored.tags, ${METRIC[sort_by]} AS metric FROM scored ${ADDED[sort_by] ?? ''})
SELECT trader, score, tags, metric::text AS metric FROM ranked
WHERE $3::text IS NULL OR metric < $3::${TYPE[sort_by]} OR (metric = $3::${TYPE[sort_by]} AND trader > $4::text)
ORDER BY ranked.metric DESC, trader LIMIT $5`;

/**
 * Accounts with at least a score, with lifetime figures. All pages of a list are as of the instant of its first one, and by its score run,
 * so that what is traded and scored meanwhile moves nobody. Throws empty_result, invalid_parameter (cursor).
 */
export async function smartWalletsList(args: SmartListArgs, context: GraphContext): Promise<SmartWalletRow[]> {
  const scope = listScope('perps/smart-wallets/list', args);
  const open = ADDED[args.sort_by] === undefined ? openScoredList : openSettledList.bind(null, 'perps');
  const { page, then } = open(context, args.cursor, scope, [CURSOR_FORMS.number, CURSOR_FORMS.evm_address]);
  const { sql, meta, now: instant } = then;
  const run = await then.loaders(makeLoaders).scoreRun();
  meta.score_version = run?.version ?? null;
  const ranked = await sql.query<RankedRow>({ name: `perps_smart_list_${args.sort_by}`, text: text(args.sort_by) }, [
    run?.day ?? null,
    args.min_score,
    ...(page.after ?? [null, null]),
    args.limit + 1,
    ...(ADDED[args.sort_by] === undefined ? [] : [instant]),
  ]);
  if (ranked.length === 0) throw new AppError('empty_result', { suggestion: page.after === null ? lowerScore(args.min_score) : undefined });
  const shown = ranked.slice(0, args.limit);
  const last = shown.at(-1) as RankedRow;
  const lives = await listLives(then, shown.map(({ trader }) => trader), await reachOf(instant, then)); // prettier-ignore
  meta.count = shown.length;
  meta.next_cursor = ranked.length > shown.length ? nextScoredCursor(page, run?.day ?? null, [last.metric, last.trader], scope) : null;
  return shown.flatMap(({ trader, score, tags }) => {
    const own = lives.get(trader);
    return own === undefined ? [] : [{ ...own, score, tags }];
  });
}
