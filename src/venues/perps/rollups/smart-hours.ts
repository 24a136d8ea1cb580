import type { PoolClient } from 'pg';
import { SMART_SCORE } from '../tier';
import { TRADER_HOUR, unitOf } from './hours';
import { moveLastDays, tellLastDays } from './last-days';
import { LIFE, addSmartTraders } from './smart-trader-days';
import { addSmartRests } from './smart-trader-rests';

/** Columns of perp_smart_month, _day, _quarter, _hour and _bar beside their keys: sums of those of perp_trader_hour over smart accounts. */
const SMART_COLUMNS = ['fills', 'open_long_usd', 'open_short_usd', 'close_long_usd', 'close_short_usd', 'long_pnl', 'short_pnl'] as const;
export type SmartColumn = (typeof SMART_COLUMNS)[number];

const NAMES = SMART_COLUMNS.join(', ');
const ADDED = SMART_COLUMNS.map((name) => `${name} = kept.${name} + EXCLUDED.${name}`).join(', ');

/** Smart accounts of the run that is told. */
const SMART = `SELECT s.trader FROM perp_score s WHERE s.day = (SELECT day FROM perp_smart_run) AND s.score >= ${SMART_SCORE}`;

const UNITS = ['hour', 'quarter', 'day', 'month'] as const;
type Unit = (typeof UNITS)[number];

/** Adds the hours (rows of perp_trader_hour) of `source` that are of smart accounts; of nobody while no run is told. */
export const addSmart = (source: string, unit: Unit): string => `
INSERT INTO perp_smart_${unit} AS kept (coin, ${unit}, ${NAMES})
SELECT r.coin, ${unitOf(unit, 'r.hour')}, ${SMART_COLUMNS.map((name) => `sum(r.${name})`).join(', ')}
FROM ${source} r WHERE r.trader IN (${SMART}) GROUP BY 1, 2 ORDER BY 2, 1
ON CONFLICT (coin, ${unit}) DO UPDATE SET ${ADDED}`;

/** Adds the fills of `source` that are of smart accounts to their bars. */
export const addSmartBars = (source: string): string => `
INSERT INTO perp_smart_bar AS kept (coin, bar, ${NAMES})
SELECT f.coin, ${unitOf('bar', 'f.timestamp')}, ${SMART_COLUMNS.map((name) => TRADER_HOUR[name].aggregate).join(', ')}
FROM ${source} f WHERE f.trader IN (${SMART}) GROUP BY 1, 2 ORDER BY 2, 1
ON CONFLICT (coin, bar) DO UPDATE SET ${ADDED}`;

/** Moves the smart accounts among those of `source`, hours that lives do not hold yet, to the days they were filled last. */
export const moveSmartLastDays = (source: string): string =>
  moveLastDays('perp_smart_last_day', `(SELECT * FROM ${source} WHERE trader IN (${SMART}))`);

// Whose sums are told, and whose are to be: only what those did is read who came (1) and who went (-1).
const CHANGED = `WITH told AS MATERIALIZED (SELECT DISTINCT trader FROM perp_smart_trader_day WHERE day = ${LIFE}),
changed AS MATERIALIZED (
  SELECT trader, 1 AS sign FROM (${SMART}) smart WHERE trader NOT IN (SELECT trader FROM told)
  UNION ALL SELECT trader, -1 FROM told WHERE trader NOT IN (${SMART})
)`;

const changeUnit = (unit: Unit): string => `${CHANGED}
INSERT INTO perp_smart_${unit} AS kept (coin, ${unit}, ${NAMES})
SELECT r.coin, ${unitOf(unit, 'r.hour')}, ${SMART_COLUMNS.map((name) => `sum(changed.sign * r.${name})`).join(', ')}
FROM changed JOIN perp_trader_hour r ON r.trader = changed.trader GROUP BY 1, 2 ORDER BY 2, 1
ON CONFLICT (coin, ${unit}) DO UPDATE SET ${ADDED}`;

const CHANGE_BARS = `${CHANGED}
INSERT INTO perp_smart_bar AS kept (coin, bar, ${NAMES})
SELECT f.coin, ${unitOf('bar', 'f.timestamp')}, ${SMART_COLUMNS.map((name) => `sum(changed.sign * (${TRADER_HOUR[name].row}))`).join(', ')}
FROM changed JOIN perp_fill f ON f.trader = changed.trader GROUP BY 1, 2 ORDER BY 2, 1
ON CONFLICT (coin, bar) DO UPDATE SET ${ADDED}`;

/** What holds sums of all smart accounts. */
const SUMMED = ['bar', ...UNITS].map((unit) => `perp_smart_${unit}`);
const CHANGE_SUMS = [CHANGE_BARS, ...UNITS.map(changeUnit), ...SUMMED.map((table) => `DELETE FROM ${table} WHERE fills = 0`)];

const TELL_ACCOUNTS = [
  addSmartTraders('perp_trader_day', 'day'),
  addSmartRests('perp_trader_hour'),
  tellLastDays('perp_smart_last_day', `trader IN (${SMART})`),
];

/** Tells all of the run that is told; the tables must be empty. */
export const TELL_SMART = [addSmartBars('perp_fill'), ...UNITS.map((unit) => addSmart('perp_trader_hour', unit)), ...TELL_ACCOUNTS];

const NEWER: { name: string; text: string } = { name: 'perps_newer_run', text: 'SELECT 1 FROM perp_score WHERE day > $1::date LIMIT 1' };

/** What holds accounts with their scores. */
const BY_ACCOUNT = ['perp_smart_trader_day', 'perp_smart_trader_rest', 'perp_smart_last_day'];

/** Every rollup of smart accounts alone. */
export const SMART_ROLLUPS = [...SUMMED, ...BY_ACCOUNT];

/** Tells them anew for the score run of a day (YYYY-MM-DD), unless there is a newer one. The client's transaction must hold the lock of the rollups. */
export async function tellSmart(client: PoolClient, day: string): Promise<void> {
  const { rowCount } = await client.query({ ...NEWER, values: [day] });
  if (rowCount !== 0) return;
  await client.query('DELETE FROM perp_smart_run');
  await client.query('INSERT INTO perp_smart_run (day) VALUES ($1)', [day]);
  for (const statement of CHANGE_SUMS) await client.query(statement);
  for (const table of BY_ACCOUNT) await client.query(`DELETE FROM ${table}`);
  for (const statement of TELL_ACCOUNTS) await client.query(statement);
}
