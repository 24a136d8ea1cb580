import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { ownerResults } from '../rollups/owner-results';
import { openPositionsAsOf, positionsAsOf } from './positions';
import { eventsIn, named } from './span';
import { spanOf } from './window-span';

export interface ProvidersArgs {
  owners: readonly string[];
  /** Null: both. */
  pool_type: PoolType | null;
  window: Window;
  /** Whether the window holds all there is: then what each ever did in a pool tells it. */
  life: boolean;
}

/** A provider in one pool in a window. Numeric columns are decimal text, counts numbers. */
export interface ProviderPoolRow {
  owner: string;
  pool_address: string;
  pool_type: PoolType;
  volume_usd: string;
  event_count: number;
  unpriced: number;
  deposited_usd: string;
  withdrawn_usd: string;
  fees_claimed_usd: string;
  first_at: Date | null;
  last_at: Date | null;
  /** Of the positions closed in the window. */
  closed_positions: number;
  known_positions: number;
  wins: number;
  realized_pnl_usd: string | null;
  realized_deposits_usd: string | null;
  il_usd: string | null;
  held_hours: number | null;
  held_positions: number;
  open_positions: number;
  /** Not closed, and opened before we looked: whether they are still open nobody tells. */
  unseen_positions: number;
  positions: number;
}

const ofOwners = (alias: string): string => `AND ${alias}.owner = ANY($7::text[]) AND ($8::text IS NULL OR ${alias}.pool_type = $8)`;

const COLUMNS = 'deposit_usd, withdraw_usd, claim_usd, first_at, last_at';

const MOVED_IN_LIFE = `
  SELECT o.owner, o.pool_address, o.pool_type, o.deposits + o.withdrawals + o.claims AS event_count, o.unpriced, ${COLUMNS} FROM lp_owner_pool o
  WHERE ${named(1)} ${ofOwners('o')}`;

const MOVED = `
  SELECT owner, pool_address, min(pool_type) AS pool_type, sum(deposits + withdrawals + claims)::int AS event_count, sum(unpriced)::int AS unpriced,
    sum(deposit_usd) AS deposit_usd, sum(withdraw_usd) AS withdraw_usd, sum(claim_usd) AS claim_usd, min(first_at) AS first_at, max(last_at) AS last_at
  FROM (${eventsIn(1, ofOwners)}) e GROUP BY owner, pool_address`;

const RESULTS_OF_LIFE = `SELECT o.* FROM lp_owner_result o WHERE true ${ofOwners('o')}`;

const RESULTS = ownerResults({
  events: `lp_event e WHERE e."timestamp" >= $1 AND e."timestamp" < $2 ${ofOwners('e')}`,
  positions: `(SELECT * FROM (${positionsAsOf('true', '$2::timestamptz', (column) => `${column} = ANY($7::text[])`)}) s WHERE $8::text IS NULL OR s.pool_type = $8)`,
  counts: 'v.closed_at >= $1',
});

/** The legs of a rebalance net out of deposits and withdrawals, and count as volume. Those of a life are looked up by provider alone. */
const pools = (life: boolean): Statement => ({
  name: `lp_providers${life ? '_life' : ''}`,
  keyed: life,
  text: `
WITH moved AS (${life ? MOVED_IN_LIFE : MOVED}
), results AS (${life ? RESULTS_OF_LIFE : RESULTS}
)
SELECT coalesce(m.owner, r.owner) AS owner, coalesce(m.pool_address, r.pool_address) AS pool_address, coalesce(m.pool_type, r.pool_type) AS pool_type,
  coalesce(m.deposit_usd + m.withdraw_usd, 0) AS volume_usd, coalesce(m.event_count, 0) AS event_count, coalesce(m.unpriced, 0) AS unpriced,
  coalesce(m.deposit_usd, 0) - coalesce(r.turned_usd, 0) AS deposited_usd, coalesce(m.withdraw_usd, 0) - coalesce(r.turned_usd, 0) AS withdrawn_usd, coalesce(m.claim_usd, 0) AS fees_claimed_usd,
  m.first_at, m.last_at, coalesce(r.closed_positions, 0) AS closed_positions, coalesce(r.known_positions, 0) AS known_positions, coalesce(r.wins, 0) AS wins,
  r.realized_pnl_usd, r.realized_deposits_usd, r.il_usd, r.held_hours, coalesce(r.held_positions, 0) AS held_positions, coalesce(r.open_positions, 0) AS open_positions, coalesce(r.unseen_positions, 0) AS unseen_positions,
  coalesce(r.positions, 0) AS positions
FROM moved m FULL JOIN results r ON r.owner = m.owner AND r.pool_address = m.pool_address
WHERE m.owner IS NOT NULL OR r.closed_positions > 0
ORDER BY volume_usd DESC, coalesce(m.pool_address, r.pool_address) COLLATE "C"`,
});

const POOLS = { life: pools(true), window: pools(false) };

/** What providers did and earned, pool by pool, most volume first. A pool without event or close in the window is no row. */
export function listProviderPools(sql: Sql, { owners, pool_type, window, life }: ProvidersArgs): Promise<ProviderPoolRow[]> {
  return sql.query<ProviderPoolRow>(life ? POOLS.life : POOLS.window, [...spanOf(window), owners, pool_type]);
}

const KNOWN: Statement = {
  name: 'lp_owners_known',
  keyed: true,
  text: `SELECT owner FROM lp_owner_life WHERE owner = ANY($1::text[]) AND pool_type = 'all' AND first_at < $2`,
};

/** Those of the owners who have done anything before `now`. */
export async function knownOwners(sql: Sql, owners: readonly string[], now: Date): Promise<Set<string>> {
  return new Set((await sql.query<{ owner: string }>(KNOWN, [owners, now])).map((row) => row.owner));
}

const OPEN: Statement = {
  name: 'lp_owners_open',
  keyed: true,
  text: `
SELECT s.owner, count(*)::int AS n FROM (${openPositionsAsOf('true', '$2::timestamptz', (column) => `${column} = ANY($1::text[])`)}) s
WHERE $3::text IS NULL OR s.pool_type = $3 GROUP BY s.owner`,
};

/** Open positions of owners, whatever the window. */
export async function countOpen(sql: Sql, owners: readonly string[], pool_type: PoolType | null, now: Date): Promise<Map<string, number>> {
  const rows = await sql.query<{ owner: string; n: number }>(OPEN, [owners, now, pool_type]);
  return new Map(rows.map((row) => [row.owner, row.n]));
}
