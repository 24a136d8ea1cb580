import type { PoolClient } from 'pg';
import { copyRows } from '../../../db/copy';
import { addMatches, addVolumes, changeMatches } from '../rollups/hours';
import type { ReckonedFill } from './amounts';
import { copiedOf } from './copied';
import { isSettlement } from './fill';
import { matchIds } from './match-ids';

/** A match as its recorded sides tell it. Decimals as text, `time` in milliseconds. */
interface Match {
  coin: string;
  tid: string;
  time: number;
  price: string;
  size: string;
  usd_value: string;
  taker_is_buy: boolean | null;
  is_liquidation: boolean;
}

const COLUMNS = {
  coin: 'text',
  tid: 'bigint',
  time: 'bigint',
  price: 'numeric',
  size: 'numeric',
  usd_value: 'numeric',
  taker_is_buy: 'boolean',
  is_liquidation: 'boolean',
} as const satisfies Record<keyof Match, string>;

const NAMES = Object.keys(COLUMNS) as (keyof Match)[];
const STORED = NAMES.map((name) => (name === 'time' ? 'timestamp' : name));

const GIVEN = `given AS (
  SELECT ${NAMES.map((name) => (name === 'time' ? "to_timestamp(0) + m.time * interval '1 millisecond' AS timestamp" : `m.${name}`)).join(', ')}
  FROM unnest(${Object.values(COLUMNS)
    .map((type, index) => `$${index + 1}::${type}[]`)
    .join(', ')}) AS m(${NAMES.join(', ')})
)`;

const INSERTED = `
  INSERT INTO perp_match (${STORED.join(', ')}) SELECT ${STORED.join(', ')} FROM given
  ON CONFLICT (coin, timestamp, tid) DO NOTHING RETURNING *`;

/** A statement that adds the matches of `inserted`, a list of common table expressions that ends in it, to the hours, days and bars of their coins. */
const adding = (inserted: string): string => `
WITH ${inserted},
hours AS (${addMatches('inserted', 'hour')}),
days AS (${addMatches('inserted', 'day')}),
months AS (${addMatches('inserted', 'month')}),
quarters AS (${addMatches('inserted', 'quarter')}),
bars AS (${addMatches('inserted', 'bar')}),
volumes AS (${addVolumes('inserted')})
SELECT count(*)::int AS inserted FROM inserted`;

const INSERT = { name: 'perps_insert_matches', text: adding(`${GIVEN}, inserted AS (${INSERTED})`) };

const ADD_COPIED = adding(`inserted AS MATERIALIZED (${copiedOf('perp_match')})`);

const INSERT_ALONE = {
  name: 'perps_insert_matches_alone',
  text: `WITH ${GIVEN}, inserted AS (${INSERTED}) SELECT count(*)::int AS inserted FROM inserted`,
};

// The other side of a match may know what the first one did not.
const COMPLETED = `
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
)`;

const COMPLETE = {
  name: 'perps_complete_matches',
  text: `
WITH ${GIVEN},${COMPLETED},
hours AS (${changeMatches('before', 'completed', 'hour')}),
days AS (${changeMatches('before', 'completed', 'day')}),
months AS (${changeMatches('before', 'completed', 'month')}),
quarters AS (${changeMatches('before', 'completed', 'quarter')})
${changeMatches('before', 'completed', 'bar')}`,
};

const COMPLETE_ALONE = { name: 'perps_complete_matches_alone', text: `WITH ${GIVEN},${COMPLETED} SELECT 1` };

/** The matches that fills are sides of, each once, by key. The fills are in the store already. */
async function matchesOf(client: PoolClient, fills: readonly ReckonedFill[]): Promise<Match[]> {
  const ids = await matchIds(client, fills);
  const matches = new Map<string, Match>();
  for (const fill of fills) {
    if (isSettlement(fill)) continue;
    const { coin, time, price, size, usd_value } = fill;
    const tid = ids.get(fill.tid) ?? fill.tid;
    const key = `${coin}|${tid}|${time}`;
    let match = matches.get(key);
    if (match === undefined) {
      match = { coin, tid, time, price, size, usd_value, taker_is_buy: null, is_liquidation: false };
      matches.set(key, match);
    }
    match.taker_is_buy ??= fill.is_taker === null ? null : fill.is_buy === fill.is_taker;
    match.is_liquidation ||= fill.liquidates;
  }
  return [...matches.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, match]) => match);
}

/** Appends the matches of fills, and what the rollups make of them unless those come later; those that are there learn what is new. */
export async function appendMatches(client: PoolClient, fills: readonly ReckonedFill[], rollups?: 'later'): Promise<void> {
  const matches = await matchesOf(client, fills);
  const values = NAMES.map((name) => matches.map((match) => match[name]));
  const { rows } = await client.query<{ inserted: number }>({ ...(rollups === 'later' ? INSERT_ALONE : INSERT), values });
  if (rows[0]?.inserted !== matches.length) await client.query({ ...(rollups === 'later' ? COMPLETE_ALONE : COMPLETE), values });
}

/** Appends the matches of fills none of whose instants is there yet, without rollups. */
export async function copyMatches(client: PoolClient, fills: readonly ReckonedFill[]): Promise<void> {
  const rows = (await matchesOf(client, fills)).map((match) => NAMES.map((name) => (name === 'time' ? new Date(match.time) : match[name])));
  await copyRows(client, 'perp_match', STORED, rows);
}

/** Adds matches that were copied to the rollups. `values`: those of `copiedOf`, for the fills they were copied with. */
export async function addCopiedMatches(client: PoolClient, values: unknown[]): Promise<void> {
  await client.query(ADD_COPIED, values);
}
