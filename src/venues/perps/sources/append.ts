import type { PoolClient } from 'pg';
import { copyRows } from '../../../db/copy';
import { DAY_MS, isoDay } from '../../../lib/time';
import { leaveOrDo } from '../../../workers/remainder';
import type { LoadOptions } from '../../../workers/source';
import { takeLaterMarksBack } from '../../../workers/track-record';
import { tellDeviations } from '../rollups/deviations';
import { type TouchedDay, tellDrawdowns } from '../rollups/drawdown';
import { addCoinHours, addOpens, addTraders, keepTraderDays, keepTraderHours, keepTraderLives, traderHoursOf } from '../rollups/hours';
import { FORGET_LEFT_DAYS, moveLastDays } from '../rollups/last-days';
import { lockRollups } from '../rollups/rebuild';
import { type Touched, tellRoundTrips } from '../rollups/round-trips';
import { addSmart, addSmartBars, moveSmartLastDays } from '../rollups/smart-hours';
import { addSmartTraders } from '../rollups/smart-trader-days';
import { addSmartRests } from '../rollups/smart-trader-rests';
import { addTakers } from '../rollups/takers';
import { forgetTimings } from '../rollups/timings';
import { keepTraderSums } from '../rollups/trader-sums';
import { LONGEST_HORIZON_MS } from '../signals';
import type { ReckonedFill } from './amounts';
import { copiedOf, copiedValues, spanOf } from './copied';
import type { Fill } from './fill';
import { addCopiedMatches, appendMatches, copyMatches } from './matches';
import { continueOrdinals } from './ordinals';

const COLUMNS = {
  coin: 'text',
  trader: 'text',
  tid: 'bigint',
  oid: 'bigint',
  time: 'bigint',
  seq: 'int',
  is_buy: 'boolean',
  price: 'numeric',
  size: 'numeric',
  usd_value: 'numeric',
  start_position: 'numeric',
  open_size: 'numeric',
  closed_pnl: 'numeric',
  fee_usd: 'numeric',
  is_taker: 'boolean',
  is_liquidation: 'boolean',
  dir: 'text',
  tx_hash: 'text',
} as const satisfies Partial<Record<keyof ReckonedFill, string>>;

const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];
const STORED = NAMES.map((name) => (name === 'time' ? 'timestamp' : name));

const INSERTED = `
INSERT INTO perp_fill (${STORED.join(', ')})
SELECT ${NAMES.map((name) => (name === 'time' ? "to_timestamp(0) + f.time * interval '1 millisecond'" : `f.${name}`)).join(', ')}
FROM unnest(${Object.values(COLUMNS)
  .map((type, index) => `$${index + 1}::${type}[]`)
  .join(', ')}) AS f(${NAMES.join(', ')})
ON CONFLICT DO NOTHING`;

/** A statement that adds the fills of `inserted`, a list of common table expressions that ends in it, to all that is added to; tells whose days they are of. */
const adding = (inserted: string): string => `
WITH ${inserted},
by_hour AS MATERIALIZED (${traderHoursOf('inserted')}),
takers AS (${addTakers('by_hour')}),
trader_hours AS (${keepTraderHours('by_hour')}),
trader_days AS (${keepTraderDays('by_hour')}),
trader_lives AS (${keepTraderLives('by_hour')}),
trader_sums AS (${keepTraderSums('by_hour')}),
smart_hours AS (${addSmart('by_hour', 'hour')}),
smart_quarters AS (${addSmart('by_hour', 'quarter')}),
smart_days AS (${addSmart('by_hour', 'day')}),
smart_months AS (${addSmart('by_hour', 'month')}),
smart_bars AS (${addSmartBars('inserted')}),
smart_trader_days AS (${addSmartTraders('by_hour', 'hour')}),
smart_trader_rests AS (${addSmartRests('by_hour')}),
last_days AS (${moveLastDays('perp_coin_last_day', 'by_hour')}),
smart_last_days AS (${moveSmartLastDays('by_hour')}),
coin_hours AS (${addCoinHours('inserted')}),
coin_days AS (${addOpens('inserted', 'day')}),
coin_months AS (${addOpens('inserted', 'month')}),
coin_quarters AS (${addOpens('inserted', 'quarter')}),
coin_bars AS (${addOpens('inserted', 'bar')}),
traders AS (${addTraders('inserted')})
SELECT trader, coin, date_trunc('day', timestamp, 'UTC') AS day, min(timestamp) AS since, count(*)::int AS fills FROM inserted GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

const INSERT = { name: 'perps_insert_fills', text: adding(`inserted AS (${INSERTED} RETURNING *)`) };

const ADD_COPIED = adding(`inserted AS MATERIALIZED (${copiedOf('perp_fill')})`);

const INSERT_ALONE = { name: 'perps_insert_fills_alone', text: INSERTED };

const INSERT_COINS = {
  name: 'perps_insert_coins',
  text: `
INSERT INTO perp_coin AS kept (coin, lookup, first_seen)
SELECT c.coin, upper(c.coin COLLATE "C"), to_timestamp(0) + c.time * interval '1 millisecond' FROM unnest($1::text[], $2::bigint[]) AS c(coin, time)
ON CONFLICT (coin) DO UPDATE SET first_seen = EXCLUDED.first_seen WHERE kept.first_seen IS NULL OR kept.first_seen > EXCLUDED.first_seen`,
};

const ANY_BETWEEN = {
  name: 'perps_any_fill_between',
  text: `SELECT EXISTS (SELECT 1 FROM perp_fill WHERE timestamp >= to_timestamp(0) + $1::bigint * interval '1 millisecond'
    AND timestamp <= to_timestamp(0) + $2::bigint * interval '1 millisecond') AS any`,
};

/**
 * Appends fills, the matches they are sides of, and (unless those come later) what the rollups make of them, inside the client's
 * transaction. Those that are there already stay as they are. Returns how many were new. No two of `fills` may have the same key; places of those
 * that are new may change.
 */
export async function appendFills(
  client: PoolClient,
  fills: readonly ReckonedFill[],
  { rollups, remainder }: Pick<LoadOptions, 'rollups' | 'remainder'>,
): Promise<number> {
  if (fills.length === 0) return 0;
  await lockRollups(client);
  await makeRoom(client, fills);
  const allNew = await areAllNew(client, fills);
  if (!allNew) await continueOrdinals(client, fills);
  return rollups === 'later' ? appendAlone(client, fills, allNew) : appendTold(client, fills, allNew, remainder);
}

/** The months and coins that the fills need. */
async function makeRoom(client: PoolClient, fills: readonly Fill[]): Promise<void> {
  const days = new Set(fills.map(({ time }) => Math.floor(time / DAY_MS)));
  for (const month of new Set([...days].map((day) => isoDay(new Date(day * DAY_MS)).slice(0, 7)))) {
    await client.query("SELECT ensure_month_partitions('perp_fill', $1, $1), ensure_month_partitions('perp_match', $1, $1)", [
      `${month}-01T00:00:00Z`,
    ]);
  }
  const firsts = firstTimes(fills);
  // One order for everybody: two loaders never wait for each other's coins crosswise.
  const coins = [...firsts.keys()].sort();
  await client.query({ ...INSERT_COINS, values: [coins, coins.map((coin) => firsts.get(coin))] });
}

/** When each coin is filled first, in milliseconds. */
function firstTimes(fills: readonly Fill[]): Map<string, number> {
  const firsts = new Map<string, number>();
  for (const { coin, time } of fills) firsts.set(coin, Math.min(time, firsts.get(coin) ?? time));
  return firsts;
}

/** What fills that were new leave to be told: days of accounts in coins with new fills, and the first of them; and all fills beside them. */
interface Added {
  /** Null: the fills were copied, and are not added to anything yet. */
  touched: readonly (Touched & TouchedDay)[] | null;
  fills: readonly ReckonedFill[];
}

/**
 * The first fills of a transaction, which in a live step are all, are added to the rollups as they are written. Later ones are copied where nothing of their time is
 * there yet, and added together: at the transaction's end, or before fills are written that may stand between them.
 */
async function appendTold(
  client: PoolClient,
  fills: readonly ReckonedFill[],
  allNew: boolean,
  remainder: LoadOptions['remainder'],
): Promise<number> {
  const earlier = remainder?.leftTo(tellAdded) ?? [];
  if (earlier.length > 0) {
    if (allNew) {
      await copyFills(client, fills);
      remainder?.leave(tellAdded, { touched: null, fills });
      return fills.length;
    }
    await addCopied(client, earlier);
  }
  const { rows: touched } = await client.query<Touched & TouchedDay & { fills: number }>({ ...INSERT, values: valuesOf(fills) });
  if (touched.length > 0) await leaveOrDo(remainder, client, tellAdded, { touched, fills });
  await appendMatches(client, fills);
  return touched.reduce((total, own) => total + own.fills, 0);
}

/** Adds fills that were copied, and their matches, to all that is added to. */
async function addCopied(client: PoolClient, added: readonly Added[]): Promise<void> {
  const copied = added.filter(({ touched }) => touched === null);
  const [last] = copied.slice(-1);
  if (last === undefined) return;
  const count = copied.reduce((sum, { fills }) => sum + fills.length, 0);
  const values = copiedValues(
    copied.map(({ fills }) => spanOf(fills)),
    count,
  );
  for (const part of copied) part.touched = [];
  last.touched = (await client.query<Touched & TouchedDay>(ADD_COPIED, values)).rows;
  await addCopiedMatches(client, values);
}

/** Brings up to date what is told of an account's or a coin's fills in their order; signals that were marked by prices of theirs are marked anew. */
async function tellAdded(client: PoolClient, added: readonly Added[]): Promise<void> {
  await addCopied(client, added);
  const touched = added.flatMap((part) => part.touched ?? []);
  await client.query(FORGET_LEFT_DAYS);
  await tellRoundTrips(
    client,
    firstOf(touched, ({ trader, coin }) => `${trader}|${coin}`),
  );
  await tellDrawdowns(
    client,
    firstOf(touched, ({ trader, day }) => `${trader}|${day.getTime()}`),
  );
  await tellDeviations(
    client,
    added.flatMap(({ fills }) => fills),
  );
  await forgetTimings(
    client,
    touched.reduce((oldest, { since }) => (since < oldest ? since : oldest), (touched[0] as Touched).since),
  );
  const coins = firstOf(touched, ({ coin }) => coin).map(({ coin, since }) => ({ subject: coin, since }));
  await takeLaterMarksBack(client, 'perps', coins, LONGEST_HORIZON_MS);
}

/** Without rollups. Signals are none: nothing tells their marks from facts again. */
async function appendAlone(client: PoolClient, fills: readonly ReckonedFill[], allNew: boolean): Promise<number> {
  const inserted = await writeAlone(client, fills, allNew);
  const coins = inserted === 0 ? [] : [...firstTimes(fills)].map(([subject, time]) => ({ subject, since: new Date(time) }));
  await takeLaterMarksBack(client, 'perps', coins, LONGEST_HORIZON_MS);
  return inserted;
}

async function writeAlone(client: PoolClient, fills: readonly ReckonedFill[], allNew: boolean): Promise<number> {
  if (allNew) {
    await copyFills(client, fills);
    return fills.length;
  }
  const { rowCount } = await client.query({ ...INSERT_ALONE, values: valuesOf(fills) });
  await appendMatches(client, fills, 'later');
  return rowCount ?? 0;
}

/** Whether nothing of the fills' time is there yet: then nothing can be there twice. */
async function areAllNew(client: PoolClient, fills: readonly ReckonedFill[]): Promise<boolean> {
  const { rows } = await client.query<{ any: boolean }>({ ...ANY_BETWEEN, values: [...spanOf(fills)] });
  return rows[0]?.any === false;
}

async function copyFills(client: PoolClient, fills: readonly ReckonedFill[]): Promise<void> {
  await copyRows(client, 'perp_fill', STORED, rowsOf(fills));
  await copyMatches(client, fills);
}

const valuesOf = (fills: readonly ReckonedFill[]): unknown[][] => NAMES.map((name) => fills.map((fill) => fill[name]));

function* rowsOf(fills: readonly ReckonedFill[]): Generator<(string | number | boolean | Date | null)[]> {
  for (const fill of fills) yield NAMES.map((name) => (name === 'time' ? new Date(fill.time) : fill[name]));
}

/** The row with the oldest `since` of each key, in the order they come in. */
function firstOf<Row extends { since: Date }>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  const first = new Map<string, Row>();
  for (const row of rows) {
    const known = first.get(keyOf(row));
    if (known === undefined || row.since < known.since) first.set(keyOf(row), row);
  }
  return [...first.values()];
}
