import { listInHalves } from '../../../db/halves';
import type { Sql } from '../../../db/sql';
import { DAY_MS, HOUR_MS } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';
import { Parameters } from './parameters';
import { cutAt } from './pieces';

/** Stretches of time of which it is told how many different takers there were. */
const UNITS = {
  hour: { table: 'pm_told_hour', start: 'hour::timestamptz', length: HOUR_MS },
  day: { table: 'pm_told_day', start: `(day::timestamp AT TIME ZONE 'UTC')`, length: DAY_MS },
} as const;

export type TakerUnit = keyof typeof UNITS;

/** Different takers of a UTC hour or day, by its start. */
export interface TakerCount {
  at: Date;
  traders: number;
}

type Row = TakerCount & { told: boolean } & Record<string, unknown>;

/** So many stretches that are not told are added up one by one; where there are more, the window is as one. */
const MOST_GAPS = 8;

/** Different takers by hour or day of a window, where there were any: told ones as they are told, all others added up. */
export async function listTakersByTime(sql: Sql, unit: TakerUnit, window: Window, category: string | null): Promise<TakerCount[]> {
  const told = await listTold(sql, unit, window);
  const gaps = gapsOf(window, told, UNITS[unit].length);
  const rows = gaps.length > MOST_GAPS ? null : await readCounts(sql, { unit, category, told, gaps });
  // Where some were taken out meanwhile, nothing is known of them.
  const known = rows?.filter((row) => row.told).length === told.length ? rows : null;
  return (known ?? (await readCounts(sql, { unit, category, told: [], gaps: [window] }))).filter(({ traders }) => traders > 0);
}

/** The told units that lie in a window as a whole, oldest first. */
async function listTold(sql: Sql, unit: TakerUnit, { from, to }: Window): Promise<Date[]> {
  const { table, start, length } = UNITS[unit];
  const text = `SELECT ${start} AS at FROM ${table} WHERE ${start} >= $1 AND ${start} <= $2 AND takers IS NOT NULL ORDER BY 1`;
  const rows = await sql.query<{ at: Date }>({ name: `pm_told_takers_${unit}`, text }, [from, new Date(to.getTime() - length)]);
  return rows.map(({ at }) => at);
}

/** What lies in a window between and around units of a length. */
function gapsOf({ from, to }: Window, units: readonly Date[], length: number): Window[] {
  const begins = [from, ...units.map((at) => new Date(at.getTime() + length))];
  return begins.map((begin, index) => ({ from: begin, to: units[index] ?? to })).filter((gap) => gap.from < gap.to);
}

interface Asked {
  unit: TakerUnit;
  category: string | null;
  told: readonly Date[];
  gaps: readonly Window[];
}

/** Takers of told units, each with a row, and of gaps. */
async function readCounts(sql: Sql, { unit, category, told, gaps }: Asked): Promise<Row[]> {
  const { table, start } = UNITS[unit];
  const parameters = new Parameters();
  const key = parameters.add(category ?? '', 'text');
  const kept = `SELECT ${start} AS at, COALESCE((takers ->> ${key})::int, 0) AS traders, true AS told FROM ${table} WHERE ${start} = ANY (${parameters.add(told, 'timestamptz[]')}) AND takers IS NOT NULL`;
  const { pieces, name } = takesOf(gaps, parameters);
  const markets =
    category === null ? '' : `JOIN pm_market AS market ON market.condition_id = take.condition_id AND market.category = ${key}`;
  const added = `SELECT at, count(*)::int, false FROM (
  SELECT date_trunc('${unit}', take.at, 'UTC') AS at, wallet FROM (${pieces.join('\nUNION ALL\n')}) AS take ${markets} GROUP BY 1, 2
) AS taken GROUP BY at`;
  const text = pieces.length === 0 ? kept : `${kept}\nUNION ALL\n${added}`;
  return sql.query<Row>({ name: `pm_takers_${unit}_${name}${category === null ? '' : '_category'}`, text }, parameters.values);
}

/** SQL of who took on which market in stretches of time (condition_id, wallet, at): whole hours from rollups, torn ones from facts. `filter` is a condition on condition_id. */
function takesOf(stretches: readonly Window[], parameters: Parameters, filter = 'true'): { pieces: string[]; name: string } {
  const within = (column: string, { from, to }: Window): string =>
    `${column} >= ${parameters.add(from, 'timestamptz')} AND ${column} < ${parameters.add(to, 'timestamptz')}`;
  const cuts = stretches.map(({ from, to }) => cutAt([from, to]));
  const [hours, torn] = [cuts.map(({ whole }) => whole), cuts.flatMap(({ edges }) => edges)].map((windows) => windows.filter(({ from, to }) => from < to)) as [Window[], Window[]]; // prettier-ignore
  const pieces = [
    ...hours.map((whole) => `SELECT condition_id, wallet, hour::timestamptz AS at FROM pm_wallet_hour WHERE ${within('hour', whole)} AND taker_buys + taker_sells > 0 AND ${filter}`), // prettier-ignore
    ...torn.map((edge) => `SELECT condition_id, wallet, "timestamp" AS at FROM pm_trade WHERE ${within('"timestamp"', edge)} AND is_taker AND side IN ('BUY', 'SELL') AND ${filter}`), // prettier-ignore
  ];
  return { pieces, name: `${hours.length}_${torn.length}` };
}

/** Different wallets that took on a market. */
export interface MarketTakers {
  condition_id: string;
  wallets: number;
}

/** Markets from which their takers are told side by side: of one they take milliseconds. */
const SEVERAL = 8;

/** Takers of each of these markets in a window that is not empty, in no order. */
export function listTakersOn(sql: Sql, { from, to }: Window, condition_ids: readonly string[]): Promise<MarketTakers[]> {
  return listInHalves(
    condition_ids,
    (some) => {
      const parameters = new Parameters();
      const ids = parameters.add(some, 'text[]');
      const { pieces, name } = takesOf([{ from, to }], parameters, 'condition_id = asked.condition_id');
      // Market by market, and wallets by numbers: addresses of all markets together take three times as long to tell apart.
      const text = `SELECT asked.condition_id, taken.wallets FROM pm_market AS asked CROSS JOIN LATERAL (
  SELECT count(DISTINCT hashtextextended(wallet, 0))::int AS wallets FROM (${pieces.join('\nUNION ALL\n')}) AS take
) AS taken WHERE asked.condition_id = ANY (${ids})`;
      return sql.query<MarketTakers>({ name: `pm_takers_on_${name}`, text, keyed: true }, parameters.values);
    },
    SEVERAL,
  );
}
