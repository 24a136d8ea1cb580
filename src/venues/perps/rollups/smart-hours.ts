import type { PoolClient } from 'pg';
import { SMART_SCORE } from '../tier';
import { TRADER_HOUR, unitOf } from './hours';
import { addSmartTraders } from './smart-trader-days';

/** Columns of perp_smart_day, perp_smart_hour and perp_smart_bar beside their keys: sums of those of perp_trader_hour over smart accounts. */
const SMART_COLUMNS = ['fills', 'open_long_usd', 'open_short_usd', 'close_long_usd', 'close_short_usd', 'long_pnl', 'short_pnl'] as const;
export type SmartColumn = (typeof SMART_COLUMNS)[number];

const NAMES = SMART_COLUMNS.join(', ');
const ADDED = SMART_COLUMNS.map((name) => `${name} = kept.${name} + EXCLUDED.${name}`).join(', ');

/** Smart accounts of the run that is told. */
const SMART = `SELECT s.trader FROM perp_score s WHERE s.day = (SELECT day FROM perp_smart_run) AND s.score >= ${SMART_SCORE}`;

/** Adds the hours (rows of perp_trader_hour) of `source` that are of smart accounts; of nobody while no run is told. */
export const addSmart = (source: string, unit: 'hour' | 'day'): string => `
INSERT INTO perp_smart_${unit} AS kept (coin, ${unit}, ${NAMES})
SELECT r.coin, ${unitOf(unit, 'r.hour')}, ${SMART_COLUMNS.map((name) => `sum(r.${name})`).join(', ')}
FROM ${source} r WHERE r.trader IN (${SMART}) GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (coin, ${unit}) DO UPDATE SET ${ADDED}`;

/** Adds the fills of `source` that are of smart accounts to their bars. */
export const addSmartBars = (source: string): string => `
INSERT INTO perp_smart_bar AS kept (coin, bar, ${NAMES})
SELECT f.coin, ${unitOf('bar', 'f.timestamp')}, ${SMART_COLUMNS.map((name) => TRADER_HOUR[name].aggregate).join(', ')}
FROM ${source} f WHERE f.trader IN (${SMART}) GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (coin, bar) DO UPDATE SET ${ADDED}`;

/** Tells all of the run that is told; the tables must be empty. */
export const TELL_SMART = [
  addSmart('perp_trader_hour', 'hour'),
  addSmart('perp_trader_hour', 'day'),
  addSmartBars('perp_fill'),
  addSmartTraders('perp_trader_day', 'day'),
];

const NEWER: { name: string; text: string } = { name: 'perps_newer_run', text: 'SELECT 1 FROM perp_score WHERE day > $1::date LIMIT 1' };

/** Tells them anew for the score run of a day (YYYY-MM-DD), unless there is a newer one. The client's transaction must hold the lock of the rollups. */
export async function tellSmart(client: PoolClient, day: string): Promise<void> {
  const { rowCount } = await client.query({ ...NEWER, values: [day] });
  if (rowCount !== 0) return;
  for (const table of ['perp_smart_run', 'perp_smart_hour', 'perp_smart_day', 'perp_smart_bar', 'perp_smart_trader_day'])
    await client.query(`DELETE FROM ${table}`);
  await client.query('INSERT INTO perp_smart_run (day) VALUES ($1)', [day]);
  for (const statement of TELL_SMART) await client.query(statement);
}
