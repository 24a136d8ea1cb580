import type { PoolClient } from 'pg';

/** What the statements of this transaction changed: hours of pools by their events and by their swaps, positions, days of providers in pools, and of whom positions may come to something else. */
export const HOURS = 'pg_temp.lp_changed_hour';
export const SWAP_HOURS = 'pg_temp.lp_changed_swap_hour';
export const POSITIONS = 'pg_temp.lp_changed_position';
export const OWNER_DAYS = 'pg_temp.lp_changed_owner_day';
export const PAIRS = 'pg_temp.lp_changed_pair';

/** An address in a table of this kind: of a bounded length, the table needs no other one for long values, and is emptied in a tenth of the time. */
const ADDRESS = 'varchar(100)';
const ROOM = `
CREATE TEMP TABLE lp_changed_hour (pool_address ${ADDRESS}, hour timestamptz) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE lp_changed_swap_hour (pool_address ${ADDRESS}, hour timestamptz) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE lp_changed_position (position_address ${ADDRESS}) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE lp_changed_owner_day (pool_address ${ADDRESS}, owner ${ADDRESS}, day timestamptz) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE lp_changed_pair (pool_address ${ADDRESS}, owner ${ADDRESS}) ON COMMIT DELETE ROWS`;

/** Makes room, on this connection, for what a page will change, unless an earlier page has: the tables come, and go with a rollback, together. */
export async function openChanges(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ open: boolean }>({
    name: 'lp_changes_open',
    text: `SELECT to_regclass('${OWNER_DAYS}') IS NOT NULL AS open`,
  });
  if (rows[0]?.open !== true) await client.query(ROOM);
}

/** A statement that writes `lp_event e`, and notes what it changed; it returns one row, `n` facts. */
export const notingEvents = (statement: string): string => `
WITH changed AS (${statement} RETURNING e.pool_address, e."timestamp", e.position_address),
hours AS (INSERT INTO ${HOURS} SELECT DISTINCT pool_address, date_trunc('hour', "timestamp", 'UTC') FROM changed),
positions AS (INSERT INTO ${POSITIONS} SELECT DISTINCT position_address FROM changed WHERE position_address <> '')
SELECT count(*)::int AS n FROM changed`;

/** The same for statements that write `lp_swap s`. */
export const notingSwaps = (statement: string): string => `
WITH changed AS (${statement} RETURNING s.pool_address, s."timestamp"),
hours AS (INSERT INTO ${SWAP_HOURS} SELECT DISTINCT pool_address, date_trunc('hour', "timestamp", 'UTC') FROM changed)
SELECT count(*)::int AS n FROM changed`;

/** Notes positions whose owner, opening or closing changed. */
export async function notePositions(client: PoolClient, positions: readonly string[]): Promise<void> {
  if (positions.length === 0) return;
  await client.query({ name: 'lp_note_positions', text: `INSERT INTO ${POSITIONS} SELECT unnest($1::text[])`, values: [positions] });
}

/** Notes hours of a pool whose stated volume changed. */
export async function noteHours(client: PoolClient, pool_address: string, hours: readonly Date[]): Promise<void> {
  if (hours.length === 0) return;
  const text = `INSERT INTO ${SWAP_HOURS} SELECT $1::text, unnest($2::timestamptz[])`;
  await client.query({ name: 'lp_note_hours', text, values: [pool_address, hours.map((hour) => hour.toISOString())] });
}

/** Notes what was stated of pools before they were on record: only now is their type known. */
export async function noteHoursOf(client: PoolClient, pools: readonly string[]): Promise<void> {
  const text = `INSERT INTO ${SWAP_HOURS} SELECT pool_address, hour FROM lp_pool_hour WHERE pool_address = ANY($1)`;
  await client.query({ name: 'lp_note_hours_of', text, values: [pools] });
}

/** Notes who closed a position from `from` to `to`: the prices of the close may have changed. */
export async function noteClosed(client: PoolClient, from: Date, to: Date): Promise<void> {
  const text = `INSERT INTO ${PAIRS} SELECT DISTINCT pool_address, owner FROM lp_position_sum WHERE closed_at >= $1 AND closed_at < $2 AND owner IS NOT NULL`;
  await client.query({ name: 'lp_note_closed', text, values: [from, to] });
}

/** Notes who closed positions in pools whose tokens became known. */
export async function noteProviders(client: PoolClient, pools: readonly string[]): Promise<void> {
  await client.query(
    `INSERT INTO ${PAIRS} SELECT DISTINCT pool_address, owner FROM lp_position_sum WHERE pool_address = ANY($1) AND closed_at IS NOT NULL AND owner IS NOT NULL`,
    [pools],
  );
}
