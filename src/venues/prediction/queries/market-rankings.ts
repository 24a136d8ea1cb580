import type { Sql } from '../../../db/sql';
import { NEWEST_FILL } from './latest-wallets';
import { type ListScope, type ListedMarket, listedMarkets } from './market-lists';
import { Parameters } from './parameters';
import { piecesSince } from './taken-pieces';

/** A market with the USDC taken on it ever, an exact decimal text. */
export interface MeasuredMarket extends ListedMarket {
  volume: string;
}

/** The rows that stand behind `after`, most volume or next end first (none last), ties by id: at most `limit`. */
export interface Ranking {
  order: 'volume' | 'end_date';
  after: Pick<MeasuredMarket, 'condition_id' | 'end_date' | 'volume'> | null;
  limit: number;
}

/** SQL of what was taken on a market ever, as its index has it. */
const VOLUME = '(buy_usdc + sell_usdc)';
const END = `COALESCE(end_date, 'infinity')`;
const KEYS: Record<Ranking['order'], string> = { volume: 'volume DESC', end_date: END };

/** Markets in scope as of `now` with their volume before it: all in no order, or the first of a ranking. */
export async function listMeasuredMarkets(sql: Sql, scope: ListScope, ranking: Ranking | null, now: Date): Promise<MeasuredMarket[]> {
  if (ranking?.order === 'volume' && scope.words === null && scope.exactly === null) {
    const first = await listMostTraded(sql, scope, ranking, now);
    if (first.length === ranking.limit) return first;
  }
  return listMeasured(sql, scope, ranking, now);
}

/**
 * The first of a ranking by volume among markets with volume: of tens of thousands of active ones some hundreds are looked at, in the order of their volume. Too
 * few where not as many have any, and none where there are fills from `now` on, which every volume would be lessened by.
 */
function listMostTraded(sql: Sql, scope: ListScope, { after, limit }: Ranking, now: Date): Promise<MeasuredMarket[]> {
  const parameters = new Parameters();
  const listed = listedMarkets(scope, now, parameters);
  const behind =
    after === null
      ? ''
      : ` AND ${VOLUME} <= ${parameters.add(after.volume, 'numeric')} AND ${behindOf('volume', VOLUME, after, parameters)}`;
  const text = `SELECT listed.*, volume FROM (SELECT condition_id, ${VOLUME} AS volume FROM pm_market_total WHERE ${NEWEST_FILL} < $1 AND ${VOLUME} > 0${behind}) AS kept
JOIN (${listed}) AS listed USING (condition_id) ORDER BY volume DESC, condition_id COLLATE "C" LIMIT ${parameters.add(limit, 'int')}`;
  return sql.query<MeasuredMarket>({ name: `pm_most_traded_${scope.status}${after === null ? '' : '_after'}`, text }, parameters.values);
}

function listMeasured(sql: Sql, scope: ListScope, ranking: Ranking | null, now: Date): Promise<MeasuredMarket[]> {
  const parameters = new Parameters();
  const text = `SELECT * FROM (
  SELECT listed.*, COALESCE(kept.buy_usdc + kept.sell_usdc, 0) - COALESCE(later.usdc, 0) AS volume FROM (${listedMarkets(scope, now, parameters)}) AS listed
  LEFT JOIN pm_market_total AS kept USING (condition_id)
  LEFT JOIN (SELECT condition_id, sum(buy_usdc + sell_usdc) AS usdc FROM (${piecesSince(now, parameters)}) AS piece GROUP BY 1) AS later USING (condition_id)
) AS measured${ranking === null ? '' : rankedBy(ranking, parameters)}`;
  const name = `pm_measured_${scope.status}${ranking === null ? '' : `_by_${ranking.order}${ranking.after === null ? '' : '_after'}`}`;
  return sql.query<MeasuredMarket>({ name, text }, parameters.values);
}

function rankedBy({ order, after, limit }: Ranking, parameters: Parameters): string {
  const behind = after === null ? '' : ` WHERE ${behindOf(order, 'volume', after, parameters)}`;
  return `${behind} ORDER BY ${KEYS[order]}, condition_id COLLATE "C" LIMIT ${parameters.add(limit, 'int')}`;
}

function behindOf(order: Ranking['order'], volume: string, after: NonNullable<Ranking['after']>, parameters: Parameters): string {
  const id = parameters.add(after.condition_id, 'text');
  const [value, farther] =
    order === 'volume'
      ? [volume, `${volume} < ${parameters.add(after.volume, 'numeric')}`]
      : [END, `${END} > ${parameters.add(after.end_date ?? 'infinity', 'timestamptz')}`];
  return `(${farther} OR (${value} = $${parameters.values.length} AND condition_id COLLATE "C" > ${id}))`;
}
