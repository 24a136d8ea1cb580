import type { Sql, Statement } from '../../../db/sql';
import { SMART_SCORE } from '../scoring/tiers';
import { Parameters } from './parameters';
import { type Cut, type SmartRule, partOf, smartPieces } from './pieces';

const TOLD: Statement = {
  name: 'pm_told_hours',
  text: `SELECT (SELECT count(*)::int FROM pm_told_hour WHERE hour >= $1 AND hour < $2) AS told,
  ARRAY(SELECT hour FROM generate_series(GREATEST($1::timestamptz, (SELECT min(hour) FROM pm_token_hour)::timestamptz), $2::timestamptz - interval '1 hour', interval '1 hour') AS series(hour)
    WHERE NOT EXISTS (SELECT FROM pm_told_hour AS told WHERE told.hour = series.hour)) AS untold`,
};

/** Which whole hours of a cut are told, and which must be added up. */
export interface ToldHours {
  told: number;
  untold: Date[];
}

/** Untold hours are worth it while they are few. */
const MOST_UNTOLD = 72;

/** What is told of a cut for such a rule; null where it is of no use. */
export async function loadTold(sql: Sql, cut: Cut, rule: SmartRule): Promise<ToldHours | null> {
  if (rule.min_score !== SMART_SCORE || cut.shift !== null || rule.spans.length === 0) return null;
  const [found] = await sql.query<ToldHours & Record<string, unknown>>(TOLD, [cut.whole.from, cut.whole.to]);
  return found === undefined || found.told === 0 || found.untold.length > MOST_UNTOLD ? null : found;
}

/**
 * SQL of what smart wallets did within a cut, by category: category, at, part, buys, sells, buy_usdc, sell_usdc; told hours as they are told, all else added up.
 * `told` says how many hours are: another number than in `hours` means that some were taken out since, and the rows are not whole.
 */
export function toldPieces(cut: Cut, rule: SmartRule, hours: ToldHours, category: string | null, parameters: Parameters): string {
  const [from, to] = [parameters.add(cut.whole.from, 'timestamptz'), parameters.add(cut.whole.to, 'timestamptz')];
  const torn = cut.edges.map((edge) => edge.from);
  const untold = parameters.add([...hours.untold, ...torn], 'timestamptz[]');
  const part = partOf(cut, parameters)('hour::timestamptz');
  const chosen = category === null ? null : parameters.add(category, 'text');
  const only = (column: string): string => (chosen === null ? '' : ` AND ${column} = ${chosen}`);
  const rest = smartPieces(untoldOf(cut, hours), rule, parameters);
  return `SELECT category, hour::timestamptz AS at, ${part} AS part, buys, sells, buy_usdc, sell_usdc, (SELECT count(*)::int FROM pm_told_hour WHERE hour >= ${from} AND hour < ${to}) AS told
FROM pm_smart_hour WHERE hour >= ${from} AND hour < ${to} AND hour <> ALL (${untold})${only('category')}
UNION ALL
SELECT market.category, at, part, buys, sells, buy_usdc, sell_usdc, (SELECT count(*)::int FROM pm_told_hour WHERE hour >= ${from} AND hour < ${to})
FROM (${rest}) AS rest JOIN pm_market AS market ON market.condition_id = rest.condition_id${only('market.category')}`;
}

/** The cut without its told hours. */
function untoldOf(cut: Cut, { untold }: ToldHours): Cut {
  const [first, last] = [untold[0] ?? cut.whole.to, untold.at(-1)];
  const to = last === undefined ? first : new Date(last.getTime() + 3_600_000);
  return { ...cut, whole: { from: first, to }, only: untold };
}
