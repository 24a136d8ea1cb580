import type { PoolClient } from 'pg';
import { later } from '../../../lib/time';
import { notePositions, notingEvents } from '../rollups/changes';
import type { PoolType } from '../chain-addresses';
import { batchesOf, columnArrays, type Columns, unnestOf } from './insert';
import type { Facts, OwnershipRow } from './rows';

export interface PositionRow {
  position_address: string;
  pool_address: string | null;
  pool_type: PoolType;
  owner: string | null;
  owner_at: Date | null;
  opened_at: Date | null;
  closed_at: Date | null;
}

export const POSITION: Columns<PositionRow> = [
  ['position_address', 'text'],
  ['pool_address', 'text'],
  ['pool_type', 'text'],
  ['owner', 'text'],
  ['owner_at', 'timestamptz'],
  ['opened_at', 'timestamptz'],
  ['closed_at', 'timestamptz'],
];

/** Merges what a source says of positions, one row each, with what is on record: items of a WITH list, of which `saved` holds those that changed. */
const savedFrom = (source: string): string => `
WITH merged AS (
  SELECT u.position_address, coalesce(o.pool_address, u.pool_address) AS pool_address, u.pool_type,
    CASE WHEN o.owner IS NULL OR (u.owner_at, u.owner COLLATE "C") > (o.owner_at, o.owner) THEN u.owner ELSE o.owner END AS owner,
    greatest(o.owner_at, u.owner_at) AS owner_at, least(o.opened_at, u.opened_at) AS opened_at, greatest(o.closed_at, u.closed_at) AS closed_at,
    o.lower_bin, o.upper_bin, o.position_address IS NOT NULL AND o.owner IS DISTINCT FROM u.owner AS owner_new
  FROM ${source} LEFT JOIN lp_position o ON o.position_address = u.position_address
), saved AS (
  INSERT INTO lp_position AS t (position_address, pool_address, pool_type, owner, owner_at, opened_at, closed_at, lower_bin, upper_bin)
  SELECT position_address, pool_address, pool_type, owner, owner_at, opened_at, closed_at, lower_bin, upper_bin FROM merged
  ON CONFLICT (position_address) DO UPDATE SET pool_address = EXCLUDED.pool_address, owner = EXCLUDED.owner, owner_at = EXCLUDED.owner_at,
    opened_at = EXCLUDED.opened_at, closed_at = EXCLUDED.closed_at
  WHERE (t.*) IS DISTINCT FROM (EXCLUDED.*)
  RETURNING position_address
)`;
const RENAMED = "pool_type = 'dlmm' AND owner IS NOT NULL AND owner_new";

const SAVE_POSITIONS = `${savedFrom(unnestOf(POSITION, 'u'))}
SELECT position_address, ${RENAMED} AS renamed FROM saved JOIN merged USING (position_address)`;

/** Events of dlmm positions were kept under their signer while the owner was unknown. */
const CORRECT_OWNERS = notingEvents(`
UPDATE lp_event e SET owner = p.owner FROM lp_position p
WHERE p.position_address = ANY($1) AND e.position_address = p.position_address AND e.pool_type = 'dlmm' AND e.owner IS DISTINCT FROM p.owner`);

/**
 * Keeps pool, owner, first opening and last closing of the positions that the facts name, and the owners of earlier facts right.
 * Returns how many positions are new or changed.
 */
export async function savePositions(client: PoolClient, facts: Naming): Promise<number> {
  let changed = 0;
  for (const batch of batchesOf(positionsOf(facts))) {
    const saved = await client.query<{ position_address: string; renamed: boolean }>({
      name: 'lp_save_positions',
      text: SAVE_POSITIONS,
      values: columnArrays(POSITION, batch),
    });
    changed += saved.rows.length;
    await notePositions(
      client,
      saved.rows.map((row) => row.position_address),
    );
    const renamed = saved.rows.filter((row) => row.renamed).map((row) => row.position_address);
    await correctOwners(client, renamed);
  }
  return changed;
}

/** The same of what a table has of positions, many rows each, in the order of its column `place`; what changed is not noted. */
export async function savePositionsIn(client: PoolClient, table: string): Promise<void> {
  const told = `(SELECT position_address, (array_agg(pool_address ORDER BY place) FILTER (WHERE pool_address IS NOT NULL))[1] AS pool_address,
    min(pool_type) AS pool_type, (array_agg(owner ORDER BY owner_at DESC, owner COLLATE "C" DESC) FILTER (WHERE owner IS NOT NULL))[1] AS owner,
    max(owner_at) AS owner_at, min(opened_at) AS opened_at, max(closed_at) AS closed_at FROM ${table} GROUP BY 1)`;
  const renamed = `${savedFrom(`${told} u`)} SELECT position_address FROM saved JOIN merged USING (position_address) WHERE ${RENAMED}`;
  const { rows } = await client.query<{ position_address: string }>(renamed);
  await correctOwners(
    client,
    rows.map((row) => row.position_address),
  );
}

async function correctOwners(client: PoolClient, renamed: readonly string[]): Promise<void> {
  if (renamed.length > 0) await client.query({ name: 'lp_correct_owners', text: CORRECT_OWNERS, values: [renamed] });
}

/** Facts by which positions are named. */
type Naming = Pick<Facts, 'events' | 'positionEvents' | 'ownerships'>;

/** What the facts say of positions, one row each. */
export function positionsOf({ events, positionEvents, ownerships }: Naming): PositionRow[] {
  const merged = new Map<string, PositionRow>();
  const at = (row: { position_address: string; pool_type: PoolType; pool_address: string | null }): PositionRow => {
    let position = merged.get(row.position_address);
    if (position === undefined) {
      const { position_address, pool_type, pool_address } = row;
      position = { position_address, pool_address, pool_type, owner: null, owner_at: null, opened_at: null, closed_at: null };
      merged.set(position_address, position);
    }
    position.pool_address ??= row.pool_address;
    return position;
  };
  for (const event of events) if (event.position_address !== '') at(event);
  for (const row of ownerships) {
    const position = at(row);
    if (isNewer(row, position)) Object.assign(position, { owner: row.owner, owner_at: row.at });
  }
  for (const row of positionEvents) {
    const position = at(row);
    if (row.kind === 'close') position.closed_at = later(position.closed_at, row.timestamp);
    else if (position.opened_at === null || row.timestamp < position.opened_at) position.opened_at = row.timestamp;
  }
  return [...merged.values()];
}

/** As the store compares them: of two owners of one instant the same stays, whichever comes first. */
const isNewer = ({ at, owner }: OwnershipRow, known: PositionRow): boolean =>
  known.owner === null ||
  known.owner_at === null ||
  at > known.owner_at ||
  (at.getTime() === known.owner_at.getTime() && owner > known.owner);
