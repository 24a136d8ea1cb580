import type { PoolClient } from 'pg';
import {
  addCoinDays,
  addCoinHours,
  addMatches,
  addTraders,
  changeMatches,
  keepTraderDays,
  keepTraderHours,
  keepTraderLives,
  traderHoursOf,
} from '../rollups/hours';
import { lockRollups } from '../rollups/rebuild';
import { type TouchedDay, tellDrawdowns } from '../rollups/drawdown';
import { type Touched, tellRoundTrips } from '../rollups/round-trips';
import { type Fill } from './fill';

/** A fill with its order among those of the same millisecond. */
export interface OrderedFill extends Fill {
  seq: number;
}

// A fill against the position closes, one with it opens; beyond the position it does both (a flip). Positions carry float
// noise, so flat and exactly closed are told with a relative tolerance.
const OPEN_SIZE = `CASE
  WHEN f.start_position = 0 OR (f.start_position > 0) = f.is_buy OR abs(f.start_position) <= 1e-9 * f.size THEN f.size
  WHEN abs(f.size - abs(f.start_position)) <= 1e-9 * greatest(f.size, abs(f.start_position)) THEN 0
  ELSE greatest(f.size - abs(f.start_position), 0) END`;

const FILL_COLUMNS = {
  coin: 'text',
  trader: 'text',
  tid: 'bigint',
  oid: 'bigint',
  time: 'bigint',
  seq: 'int',
  is_buy: 'boolean',
  price: 'numeric',
  size: 'numeric',
  start_position: 'numeric',
  closed_pnl: 'numeric',
  fee_usd: 'numeric',
  is_taker: 'boolean',
  is_liquidation: 'boolean',
  dir: 'text',
  tx_hash: 'text',
} as const satisfies Partial<Record<keyof OrderedFill, string>>;

const INSERT_FILLS = {
  name: 'perps_insert_fills',
  text: `
WITH inserted AS (
INSERT INTO perp_fill (coin, trader, tid, oid, timestamp, seq, is_buy, price, size, usd_value, start_position, open_size,
  closed_pnl, fee_usd, is_taker, is_liquidation, dir, tx_hash)
SELECT f.coin, f.trader, f.tid, f.oid, to_timestamp(0) + f.time * interval '1 millisecond', f.seq, f.is_buy, f.price, f.size, f.price * f.size,
  f.start_position, ${OPEN_SIZE}, f.closed_pnl, f.fee_usd, f.is_taker, f.is_liquidation, f.dir, f.tx_hash
FROM unnest(${Object.values(FILL_COLUMNS)
    .map((type, index) => `$${index + 1}::${type}[]`)
    .join(', ')}) AS f(${Object.keys(FILL_COLUMNS).join(', ')})
ON CONFLICT DO NOTHING RETURNING *
),
by_hour AS MATERIALIZED (${traderHoursOf('inserted')}),
trader_hours AS (${keepTraderHours('by_hour')}),
trader_days AS (${keepTraderDays('by_hour')}),
trader_lives AS (${keepTraderLives('by_hour')}),
coin_hours AS (${addCoinHours('inserted')}),
coin_days AS (${addCoinDays('inserted')}),
traders AS (${addTraders('inserted')})
SELECT trader, coin, date_trunc('day', timestamp, 'UTC') AS day, min(timestamp) AS since, count(*)::int AS fills FROM inserted GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
};

const GIVEN_MATCHES = `given AS (
  SELECT m.coin, m.tid, to_timestamp(0) + m.time * interval '1 millisecond' AS timestamp, m.price, m.size, m.taker_is_buy, m.is_liquidation
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::numeric[], $5::numeric[], $6::boolean[], $7::boolean[])
    AS m(coin, tid, time, price, size, taker_is_buy, is_liquidation)
)`;

const INSERT_MATCHES = {
  name: 'perps_insert_matches',
  text: `
WITH ${GIVEN_MATCHES},
inserted AS (
  INSERT INTO perp_match (coin, tid, timestamp, price, size, usd_value, taker_is_buy, is_liquidation)
  SELECT coin, tid, timestamp, price, size, price * size, taker_is_buy, is_liquidation FROM given
  ON CONFLICT (coin, timestamp, tid) DO NOTHING RETURNING *
),
hours AS (${addMatches('inserted', 'hour')}),
days AS (${addMatches('inserted', 'day')})
SELECT count(*)::int AS inserted FROM inserted`,
};

// The other side of a match may know what the first one did not.
const COMPLETE_MATCHES = {
  name: 'perps_complete_matches',
  text: `
WITH ${GIVEN_MATCHES},
before AS MATERIALIZED (
  SELECT kept.coin, kept.tid, kept.timestamp, kept.usd_value, kept.taker_is_buy, kept.is_liquidation,
    coalesce(kept.taker_is_buy, given.taker_is_buy) AS now_taker_is_buy, kept.is_liquidation OR given.is_liquidation AS now_is_liquidation
  FROM given JOIN perp_match kept ON kept.coin = given.coin AND kept.timestamp = given.timestamp AND kept.tid = given.tid
  WHERE (kept.taker_is_buy IS NULL AND given.taker_is_buy IS NOT NULL) OR (given.is_liquidation AND NOT kept.is_liquidation)
),
completed AS (
  UPDATE perp_match kept SET taker_is_buy = before.now_taker_is_buy, is_liquidation = before.now_is_liquidation
  FROM before WHERE kept.coin = before.coin AND kept.timestamp = before.timestamp AND kept.tid = before.tid
  RETURNING kept.coin, kept.timestamp, kept.usd_value, kept.taker_is_buy, kept.is_liquidation
),
hours AS (${changeMatches('before', 'completed', 'hour')})
${changeMatches('before', 'completed', 'day')}`,
};

const INSERT_COINS = {
  name: 'perps_insert_coins',
  text: `
INSERT INTO perp_coin AS kept (coin, lookup, first_seen)
SELECT c.coin, upper(c.coin), to_timestamp(0) + c.time * interval '1 millisecond' FROM unnest($1::text[], $2::bigint[]) AS c(coin, time)
ON CONFLICT (coin) DO UPDATE SET first_seen = EXCLUDED.first_seen WHERE kept.first_seen IS NULL OR kept.first_seen > EXCLUDED.first_seen`,
};

/**
 * Appends fills, the matches they are sides of, and what the rollups make of them, inside the client's transaction. Those that are
 * there already stay as they are. Returns how many were new. No two of `fills` may have the same key.
 */
export async function appendFills(client: PoolClient, fills: readonly OrderedFill[]): Promise<number> {
  if (fills.length === 0) return 0;
  await lockRollups(client);
  for (const month of new Set(fills.map(({ time }) => new Date(time).toISOString().slice(0, 7)))) {
    await client.query("SELECT ensure_month_partitions('perp_fill', $1, $1), ensure_month_partitions('perp_match', $1, $1)", [
      `${month}-01T00:00:00Z`,
    ]);
  }
  const firsts = new Map<string, number>();
  for (const { coin, time } of fills) firsts.set(coin, Math.min(time, firsts.get(coin) ?? time));
  // One order for everybody: two loaders never wait for each other's coins crosswise.
  const coins = [...firsts.keys()].sort();
  await client.query({ ...INSERT_COINS, values: [coins, coins.map((coin) => firsts.get(coin))] });
  const columns = (Object.keys(FILL_COLUMNS) as (keyof typeof FILL_COLUMNS)[]).map((column) => fills.map((fill) => fill[column]));
  const { rows: touched } = await client.query<Touched & TouchedDay & { fills: number }>({ ...INSERT_FILLS, values: columns });
  await tellRoundTrips(
    client,
    firstOf(touched, ({ trader, coin }) => `${trader}|${coin}`),
  );
  await tellDrawdowns(
    client,
    firstOf(touched, ({ trader, day }) => `${trader}|${day.getTime()}`),
  );
  await appendMatches(client, fills);
  return touched.reduce((total, own) => total + own.fills, 0);
}

/** The row with the oldest `since` of each key, in the order of keys. */
function firstOf<Row extends { since: Date }>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  const first = new Map<string, Row>();
  for (const row of rows) {
    const known = first.get(keyOf(row));
    if (known === undefined || row.since < known.since) first.set(keyOf(row), row);
  }
  return [...first.values()];
}

interface Match {
  fill: Fill;
  taker_is_buy: boolean | null;
  liquidates: boolean;
}

async function appendMatches(client: PoolClient, fills: readonly Fill[]): Promise<void> {
  const matches = new Map<string, Match>();
  for (const fill of fills) {
    // A settlement is booked by the venue, one account at a time: nobody is on the other side.
    if (fill.dir === 'Settlement') continue;
    const key = `${fill.coin}|${fill.tid}|${fill.time}`;
    const match = matches.get(key) ?? { fill, taker_is_buy: null, liquidates: false };
    match.taker_is_buy ??= fill.is_taker === null ? null : fill.is_buy === fill.is_taker;
    match.liquidates ||= fill.liquidates;
    matches.set(key, match);
  }
  const rows = [...matches.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, match]) => match);
  const columns = [
    rows.map(({ fill }) => fill.coin),
    rows.map(({ fill }) => fill.tid),
    rows.map(({ fill }) => fill.time),
    rows.map(({ fill }) => fill.price),
    rows.map(({ fill }) => fill.size),
    rows.map(({ taker_is_buy }) => taker_is_buy),
    rows.map(({ liquidates }) => liquidates),
  ];
  const { rows: counted } = await client.query<{ inserted: number }>({ ...INSERT_MATCHES, values: columns });
  if (counted[0]?.inserted !== rows.length) await client.query({ ...COMPLETE_MATCHES, values: columns });
}
