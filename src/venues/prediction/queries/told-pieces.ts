import type { Sql, Statement } from '../../../db/sql';
import { HOUR_MS } from '../../../lib/time';
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

const readTold = async (sql: Sql, { whole }: Cut): Promise<ToldHours | undefined> =>
  (await sql.query<ToldHours & Record<string, unknown>>(TOLD, [whole.from, whole.to]))[0];

/** Hours are told of smart wallets alone, and are whole. */
const isTold = (cut: Cut, rule: SmartRule): boolean => rule.min_score >= SMART_SCORE && cut.shift === null && rule.spans.length > 0;

const usable = (found: ToldHours | undefined): ToldHours | null =>
  found === undefined || found.told === 0 || found.untold.length > MOST_UNTOLD ? null : found;

/** What is told of a cut for such a rule; null where it is of no use. */
export const loadTold = async (sql: Sql, cut: Cut, rule: SmartRule): Promise<ToldHours | null> =>
  isTold(cut, rule) ? usable(await readTold(sql, cut)) : null;

/** The same with the rule, which may still be on its way. */
export async function loadToldAndRule(
  sql: Sql,
  cut: Cut,
  ruled: SmartRule | Promise<SmartRule>,
): Promise<{ rule: SmartRule; hours: ToldHours | null }> {
  const [rule, found] = await Promise.all([ruled, readTold(sql, cut)]);
  return { rule, hours: isTold(cut, rule) ? usable(found) : null };
}

/**
 * SQL of what smart wallets did within a cut, by category: category, at, part, buys, sells, buy_usdc, sell_usdc; told hours as they are told, all else added up.
 * `told` says how many hours are: another number than in `hours` means that some were taken out since, and the rows are not whole.
 */
export function toldPieces(cut: Cut, rule: SmartRule, hours: ToldHours, category: string | null, parameters: Parameters): string {
  const { within, told } = placesOf(cut, hours, parameters);
  const part = partOf(cut, parameters)('hour::timestamptz');
  const chosen = category === null ? null : parameters.add(category, 'text');
  const only = (column: string): string => (chosen === null ? '' : ` AND ${column} = ${chosen}`);
  const rest = smartPieces(untoldOf(cut, hours), rule, parameters);
  return `SELECT category, hour::timestamptz AS at, ${part} AS part, buys, sells, buy_usdc, sell_usdc, ${told} AS told FROM pm_smart_hour WHERE ${within}${only('category')}
UNION ALL
SELECT market.category, at, part, buys, sells, buy_usdc, sell_usdc, ${told} FROM (${rest}) AS rest JOIN pm_market AS market ON market.condition_id = rest.condition_id${only('market.category')}`;
}

const COLUMNS = 'token_id, wallet, hour, score, buys, sells, buy_usdc, sell_usdc, buy_shares, sell_shares, first_at, last_at, first_buy_at';

/** Which markets: of a category or all, by a condition on condition_id; `markets`, a select of the ids that fulfil it, finds hours that are not told. */
export interface ToldScope {
  category: string | null;
  filter?: string;
  markets?: string;
}

/** SQL of what each smart wallet did within a cut, from told hours as toldPieces: category, `told`, and columns of smartPieces. */
export function toldWalletPieces(
  cut: Cut,
  rule: SmartRule,
  hours: ToldHours,
  { category, filter = 'true', markets }: ToldScope,
  parameters: Parameters,
): string {
  const { within, told } = placesOf(cut, hours, parameters);
  const chosen = category === null ? null : parameters.add(category, 'text');
  const only = (column: string): string => (chosen === null ? '' : ` AND ${column} = ${chosen}`);
  const untold = untoldOf(cut, hours);
  const rest =
    markets === undefined ? smartPieces(untold, rule, parameters, filter) : smartPieces(untold, rule, parameters, 'true', markets);
  return `SELECT condition_id, category, ${COLUMNS}, hour::timestamptz AS at, ${told} AS told FROM pm_smart_wallet_hour
WHERE ${within} AND score >= ${parameters.add(rule.min_score, 'numeric')}${only('category')} AND ${filter}
UNION ALL SELECT rest.condition_id, market.category, ${COLUMNS}, at, ${told} FROM (${rest}) AS rest JOIN pm_market AS market ON market.condition_id = rest.condition_id${only('market.category')}`;
}

const wholeOf = ({ whole }: Cut, parameters: Parameters): string =>
  `hour >= ${parameters.add(whole.from, 'timestamptz')} AND hour < ${parameters.add(whole.to, 'timestamptz')}`;

/** SQL of how many hours of a cut are told. */
const countOf = (whole: string): string => `(SELECT count(*)::int FROM pm_told_hour WHERE ${whole})`;

/** SQL of where told hours of a cut are read, and of how many they are. */
function placesOf(cut: Cut, { untold }: ToldHours, parameters: Parameters): { within: string; told: string } {
  const whole = wholeOf(cut, parameters);
  const apart = parameters.add([...untold, ...cut.edges.map((edge) => edge.from)], 'timestamptz[]');
  return { within: `${whole} AND hour <> ALL (${apart})`, told: countOf(whole) };
}

/**
 * SQL of the rows of `found`, a table, with `told`: how many hours of the cut are, 0 where none is made use of. There is always a row, of nulls where nothing is
 * found: that nothing is has to be as of the same hours.
 */
export const withCount = (found: string, cut: Cut, hours: ToldHours | null, parameters: Parameters): string =>
  `SELECT found.*, state.told FROM (SELECT ${hours === null ? '0' : countOf(wholeOf(cut, parameters))} AS told) AS state LEFT JOIN ${found} AS found ON true`;

/** Reads with told hours; without them where one was taken out meanwhile, or nothing says that none was. */
export async function withTold<Row extends { told: number }>(
  hours: ToldHours | null,
  read: (hours: ToldHours | null) => Promise<Row[]>,
): Promise<Row[]> {
  const rows = await read(hours);
  return hours === null || rows[0]?.told === hours.told ? rows : read(null);
}

/** The cut without its told hours. */
function untoldOf(cut: Cut, { untold }: ToldHours): Cut {
  const [first, last] = [untold[0] ?? cut.whole.to, untold.at(-1)];
  const to = last === undefined ? first : new Date(last.getTime() + HOUR_MS);
  return { ...cut, whole: { from: first, to }, only: untold };
}
