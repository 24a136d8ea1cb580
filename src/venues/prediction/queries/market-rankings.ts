import type { Sql } from '../../../db/sql';
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

const END = `COALESCE(end_date, 'infinity')`;
const KEYS: Record<Ranking['order'], string> = { volume: 'volume DESC', end_date: END };

/** Markets in scope as of `now` with their volume before it: all in no order, or the first of a ranking. */
export function listMeasuredMarkets(sql: Sql, scope: ListScope, ranking: Ranking | null, now: Date): Promise<MeasuredMarket[]> {
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
  const behind = after === null ? '' : ` WHERE ${behindOf(order, after, parameters)}`;
  return `${behind} ORDER BY ${KEYS[order]}, condition_id COLLATE "C" LIMIT ${parameters.add(limit, 'int')}`;
}

function behindOf(order: Ranking['order'], after: NonNullable<Ranking['after']>, parameters: Parameters): string {
  const id = parameters.add(after.condition_id, 'text');
  const [value, farther] =
    order === 'volume'
      ? ['volume', `volume < ${parameters.add(after.volume, 'numeric')}`]
      : [END, `${END} > ${parameters.add(after.end_date ?? 'infinity', 'timestamptz')}`];
  return `(${farther} OR (${value} = $${parameters.values.length} AND condition_id COLLATE "C" > ${id}))`;
}
