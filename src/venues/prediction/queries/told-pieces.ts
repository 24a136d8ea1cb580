import type { Sql, Statement } from '../../../db/sql';
import { HOUR_MS, isoDay } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';
import { SMART_SCORE } from '../scoring/tiers';
import { Parameters } from './parameters';
import { type Cut, OWN_SUMS, type SmartRule, ceilHour, edgesOf, floorHour, partOf, smartPieces } from './pieces';

/** SQL of where the hours of a window from $1 begin: not before the first there is. */
export const BEGUN = 'GREATEST($1::timestamptz, (SELECT min(hour) FROM pm_token_hour)::timestamptz)';

/** SQL of the hours between two instants that are not told, each looked up. */
const untoldBetween = (from: string, to: string): string =>
  `SELECT hour FROM generate_series(${from}, ${to} - interval '1 hour', interval '1 hour') AS series(hour) WHERE (SELECT told.hour FROM pm_told_hour AS told WHERE told.hour = series.hour) IS NULL`;

const FORGOTTEN = 'COALESCE(max(forgotten), 0)';

const TOLD: Statement = {
  name: 'pm_told_hours',
  keyed: true,
  text: `WITH whole AS (SELECT COALESCE(max(since), $1)::timestamptz AS since, COALESCE(max(until), $1)::timestamptz AS until, ${FORGOTTEN} AS forgotten FROM pm_told_whole)
SELECT (SELECT forgotten FROM whole) AS told, EXISTS (SELECT 1 FROM pm_told_hour WHERE hour >= $1 AND hour < $2) AS any,
  (SELECT to_char(day, 'YYYY-MM-DD') FROM pm_smart_run) AS run, (SELECT to_char(prior, 'YYYY-MM-DD') FROM pm_smart_run) AS prior,
  ARRAY(${untoldBetween(BEGUN, 'LEAST($2::timestamptz, (SELECT since FROM whole))')} UNION ALL ${untoldBetween(`GREATEST(${BEGUN}, (SELECT until FROM whole))`, '$2::timestamptz')}) AS untold`,
};

interface Found {
  /** As of which state of what is told. */
  told: number;
  /** Whether any hour is. */
  any: boolean;
  /** Run from whose day on whatever writes hours keeps those of smart wallets, and the run that judges the hours of that day. */
  run: string | null;
  prior: string | null;
  untold: Date[];
}

/** Of which hours of a cut, whole or torn, it is known what smart wallets did. */
export interface ToldHours {
  within: Window;
  /** As of which state of what is told: another one once hours are taken out. */
  told: number;
  /** Not told, but kept by whatever writes them, from the day of this run on; null: none is. */
  kept: Date[];
  run: string | null;
  /** Neither: they must be added up. */
  untold: Date[];
}

/** Untold hours are worth it while they are few. */
const MOST_UNTOLD = 72;

/** The hours that a cut lies in. */
const hoursOf = ({ bounds }: Cut): Window => ({
  from: new Date(floorHour((bounds[0] as Date).getTime())),
  to: new Date(ceilHour((bounds.at(-1) as Date).getTime())),
});

async function readTold(sql: Sql, cut: Cut): Promise<Found | undefined> {
  const { from, to } = hoursOf(cut);
  return (await sql.query<Found>(TOLD, [from, to]))[0];
}

/** What is of use of the hours of a cut for such a rule: hours are told of smart wallets alone, and kept as the runs judge them that are known to whoever writes. */
function usable(found: Found | undefined, cut: Cut, rule: SmartRule): ToldHours | null {
  if (found === undefined || rule.min_score < SMART_SCORE || cut.shift !== null) return null;
  const { told, any, run, prior } = found;
  const judgeOf = (hour: Date): string | undefined => rule.spans.find(({ from, to }) => hour >= from && hour < to)?.day;
  const isKept = (hour: Date): boolean => run !== null && isoDay(hour) >= run && judgeOf(hour) === (isoDay(hour) === run ? prior : run);
  const kept = found.untold.filter(isKept);
  const untold = found.untold.filter((hour) => !isKept(hour));
  if (rule.spans.length === 0 || (!any && kept.length === 0) || untold.length > MOST_UNTOLD) return null;
  return { within: hoursOf(cut), told, kept, run: kept.length === 0 ? null : run, untold };
}

/** What is told of a cut for such a rule; null where it is of no use. */
export const loadTold = async (sql: Sql, cut: Cut, rule: SmartRule): Promise<ToldHours | null> =>
  rule.spans.length === 0 ? null : usable(await readTold(sql, cut), cut, rule);

/** The same with the rule, which may still be on its way. */
export async function loadToldAndRule(
  sql: Sql,
  cut: Cut,
  ruled: SmartRule | Promise<SmartRule>,
): Promise<{ rule: SmartRule; hours: ToldHours | null }> {
  const [rule, found] = await Promise.all([ruled, readTold(sql, cut)]);
  return { rule, hours: usable(found, cut, rule) };
}

/** How the name of a statement ends that reads told hours: by what else it reads. */
export const toldName = (hours: ToldHours | null): string => (hours === null ? '' : hours.untold.length === 0 ? '_told' : '_told_rest');

/**
 * SQL of what smart wallets did within a cut, by category: category, at, part, buys, sells, buy_usdc, sell_usdc; told hours as they are told, all else added up.
 * `told` says as of which state: another one than in `hours` means that some were taken out since, and the rows are not whole.
 */
export function toldPieces(cut: Cut, rule: SmartRule, hours: ToldHours, category: string | null, parameters: Parameters): string {
  const part = partOf(cut, parameters)('hour::timestamptz');
  const only = category === null ? '' : ` AND category = ${parameters.add(category, 'text')}`;
  const apart = parameters.add([...hours.kept, ...hours.untold, ...tornOf(cut)], 'timestamptz[]');
  const kept = `hour = ANY (${parameters.add(hours.kept.filter(isWholeIn(cut)), 'timestamptz[]')})`;
  const rest = walletPiecesOf(kept, cut, rule, hours, { category }, parameters);
  return `SELECT category, hour::timestamptz AS at, ${part} AS part, buys, sells, buy_usdc, sell_usdc, ${stateOf(hours, parameters)} AS told
FROM pm_smart_hour WHERE ${wholeOf(cut, parameters)} AND hour <> ALL (${apart})${only}
UNION ALL SELECT category, at, part, buys, sells, buy_usdc, sell_usdc, told FROM (${rest}) AS rest`;
}

const COLUMNS = 'token_id, wallet, hour, score, buys, sells, buy_usdc, sell_usdc, buy_shares, sell_shares, first_at, last_at, first_buy_at';

/** Which markets: of a category or all, by a condition on condition_id; `markets`, a select of the ids that fulfil it, finds hours that are not told. */
export interface ToldScope {
  category: string | null;
  filter?: string;
  markets?: string;
}

/** SQL of what each smart wallet did within a cut, from told hours as toldPieces: category, `told`, part, and columns of smartPieces. */
export function toldWalletPieces(cut: Cut, rule: SmartRule, hours: ToldHours, scope: ToldScope, parameters: Parameters): string {
  const apart = parameters.add([...hours.untold, ...tornOf(cut)], 'timestamptz[]');
  return walletPiecesOf(`${wholeOf(cut, parameters)} AND hour <> ALL (${apart})`, cut, rule, hours, scope, parameters);
}

/**
 * SQL of the same, told or kept whole hours by a condition. Of a torn hour most wallets did all they did on one side of the bound, as the first and the last of it
 * say: the fills of the others alone are looked up.
 */
function walletPiecesOf(
  whole: string,
  cut: Cut,
  rule: SmartRule,
  hours: ToldHours,
  { category, filter = 'true', markets }: ToldScope,
  parameters: Parameters,
): string {
  const chosen = category === null ? null : parameters.add(category, 'text');
  const only = (column: string): string => (chosen === null ? '' : ` AND ${column} = ${chosen}`);
  const told = stateOf(hours, parameters);
  const part = partOf(cut, parameters);
  const own = `score >= ${parameters.add(rule.min_score, 'numeric')}${only('category')} AND ${filter}`;
  const torn = parameters.add(tornOf(cut).filter((hour) => !isAmong(hours.untold, hour)), 'timestamptz[]'); // prettier-ignore
  const known = `WITH torn AS MATERIALIZED (
  SELECT condition_id, category, ${COLUMNS}, ${part('first_at')} AS first_part, ${part('last_at')} AS last_part FROM pm_smart_wallet_hour WHERE hour = ANY (${torn}) AND ${own}
)
SELECT condition_id, category, ${COLUMNS}, hour::timestamptz AS at, ${part('hour::timestamptz')} AS part, ${told} AS told FROM pm_smart_wallet_hour WHERE ${whole} AND ${own}
UNION ALL SELECT condition_id, category, ${COLUMNS}, hour::timestamptz, first_part, ${told} FROM torn WHERE first_part = last_part AND first_part BETWEEN 1 AND ${cut.bounds.length - 1}
UNION ALL SELECT condition_id, category, token_id, wallet, hour, score, fill.buys, fill.sells, fill.buy_usdc, fill.sell_usdc, fill.buy_shares, fill.sell_shares, fill.first_at, fill.last_at, fill.first_buy_at,
  hour::timestamptz, fill.part, ${told}
FROM torn CROSS JOIN LATERAL (
  SELECT ${part('"timestamp"')} AS part, ${OWN_SUMS} FROM pm_trade AS trade
  WHERE trade.condition_id = torn.condition_id AND trade.wallet = torn.wallet AND trade.token_id = torn.token_id AND side IN ('BUY', 'SELL')
    AND "timestamp" >= torn.hour AND "timestamp" < torn.hour + interval '1 hour' AND ${edgesOf(cut, parameters).torn} GROUP BY trade.condition_id, 1
) AS fill WHERE first_part <> last_part`;
  if (hours.untold.length === 0) return known;
  const untold = untoldOf(cut, hours);
  const rest =
    markets === undefined ? smartPieces(untold, rule, parameters, filter) : smartPieces(untold, rule, parameters, 'true', markets);
  return `${known}
UNION ALL SELECT rest.condition_id, market.category, ${COLUMNS}, at, part, ${told} FROM (${rest}) AS rest JOIN pm_market AS market ON market.condition_id = rest.condition_id${only('market.category')}`;
}

/** SQL of the markets on which smart wallets did anything in the told and kept hours that a cut lies in, each once. */
export const toldMarkets = ({ within }: ToldHours, parameters: Parameters): string =>
  `SELECT DISTINCT condition_id FROM pm_smart_wallet_hour WHERE hour >= ${parameters.add(within.from, 'timestamptz')} AND hour < ${parameters.add(within.to, 'timestamptz')}`;

const wholeOf = ({ whole }: Cut, parameters: Parameters): string =>
  `hour >= ${parameters.add(whole.from, 'timestamptz')} AND hour < ${parameters.add(whole.to, 'timestamptz')}`;

/** SQL of the state of what is told; none that there is where what `hours` have of others is no longer kept. */
export function stateOf({ run }: ToldHours, parameters: Parameters): string {
  const kept_for = parameters.add(run, 'date');
  return `(SELECT CASE WHEN ${kept_for} IS NULL OR EXISTS (SELECT 1 FROM pm_smart_run WHERE day = ${kept_for}) THEN ${FORGOTTEN} ELSE -1 END FROM pm_told_whole)`;
}

/**
 * SQL of the rows of `found`, a table, with `told`: as of which state of what is told, 0 where none of it is made use of. There is always a row, of nulls where nothing is
 * found: that nothing is has to be as of the same hours.
 */
export const withState = (found: string, hours: ToldHours | null, parameters: Parameters): string =>
  `SELECT found.*, state.told FROM (SELECT ${hours === null ? '0' : stateOf(hours, parameters)} AS told) AS state LEFT JOIN ${found} AS found ON true`;

/** Reads with told hours; without them where one was taken out meanwhile, or nothing says that none was. */
export async function withTold<Row extends { told: number }>(
  hours: ToldHours | null,
  read: (hours: ToldHours | null) => Promise<Row[]>,
): Promise<Row[]> {
  const rows = await read(hours);
  return hours === null || rows[0]?.told === hours.told ? rows : read(null);
}

/** The hours that the bounds of a cut tear. */
const tornOf = ({ edges }: Cut): Date[] => edges.filter(({ from, to }) => from < to).map(({ from }) => new Date(floorHour(from.getTime())));

const isAmong = (hours: readonly Date[], hour: Date): boolean => hours.some((one) => one.getTime() === hour.getTime());

const isWholeIn = (cut: Cut): ((hour: Date) => boolean) => {
  const torn = tornOf(cut);
  return (hour) => hour >= cut.whole.from && hour < cut.whole.to && !isAmong(torn, hour);
};

/** The cut without hours that are told or kept. */
function untoldOf(cut: Cut, { untold }: ToldHours): Cut {
  const whole = untold.filter(isWholeIn(cut));
  const [first, last] = [whole[0] ?? cut.whole.to, whole.at(-1)];
  const to = last === undefined ? first : new Date(last.getTime() + HOUR_MS);
  const end = cut.bounds.at(-1) as Date;
  const edges = cut.edges.map((edge) => (isAmong(untold, new Date(floorHour(edge.from.getTime()))) ? edge : { from: end, to: end }));
  return { ...cut, whole: { from: first, to }, edges, only: whole };
}
