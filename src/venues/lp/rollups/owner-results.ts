import { valuedPositions } from '../queries/positions';

/** Columns of lp_owner_result in the order of `ownerResults`. */
export const OWNER_RESULT =
  'owner, pool_address, pool_type, turned_usd, positions, closed_positions, known_positions, wins, realized_pnl_usd, realized_deposits_usd, il_usd, held_hours, held_positions, open_positions, unseen_positions';

interface Results {
  /** A FROM item, and join, over `lp_event e`. */
  events: string;
  /** A table of positionsAsOf. */
  positions: string;
  /** A condition over a position `v` that is closed: whether it counts. */
  counts: string;
}

/**
 * What providers' positions in each pool came to, and what rebalances turned over: the legs of each net out of deposits and withdrawals. Impermanent loss is
 * at the prices of the close.
 */
export const ownerResults = ({ events, positions, counts }: Results): string => `
SELECT coalesce(r.owner, t.owner) AS owner, coalesce(r.pool_address, t.pool_address) AS pool_address, coalesce(r.pool_type, t.pool_type) AS pool_type, coalesce(t.usd, 0) AS turned_usd,
  coalesce(r.positions, 0) AS positions, coalesce(r.closed_positions, 0) AS closed_positions, coalesce(r.known_positions, 0) AS known_positions, coalesce(r.wins, 0) AS wins,
  r.realized_pnl_usd, r.realized_deposits_usd, r.il_usd, r.held_hours, coalesce(r.held_positions, 0) AS held_positions, coalesce(r.open_positions, 0) AS open_positions,
  coalesce(r.unseen_positions, 0) AS unseen_positions
FROM (
  SELECT owner, pool_address, min(pool_type) AS pool_type, count(*)::int AS positions, count(*) FILTER (WHERE ended)::int AS closed_positions,
    count(*) FILTER (WHERE ended AND pnl_usd IS NOT NULL)::int AS known_positions, count(*) FILTER (WHERE ended AND pnl_usd > 0)::int AS wins,
    sum(pnl_usd) FILTER (WHERE ended) AS realized_pnl_usd, sum(deposited_usd) FILTER (WHERE ended AND pnl_usd IS NOT NULL) AS realized_deposits_usd,
    CASE WHEN count(*) FILTER (WHERE ended AND (kept_usd IS NULL OR hodl_usd IS NULL)) = 0 THEN sum(kept_usd - hodl_usd) FILTER (WHERE ended) END AS il_usd,
    (extract(epoch FROM sum(closed_at - opened_at) FILTER (WHERE ended)) / 3600)::float8 AS held_hours, count(*) FILTER (WHERE ended AND opened_at IS NOT NULL)::int AS held_positions,
    count(*) FILTER (WHERE closed_at IS NULL AND deposits > 0)::int AS open_positions, count(*) FILTER (WHERE closed_at IS NULL AND deposits = 0)::int AS unseen_positions
  FROM (SELECT v.*, v.closed_at IS NOT NULL AND ${counts} AS ended FROM (${valuedPositions(positions)}) v) v GROUP BY owner, pool_address
) r FULL JOIN (
  SELECT owner, pool_address, min(pool_type) AS pool_type, sum(least(deposit_usd, withdraw_usd)) AS usd FROM (
    SELECT e.owner, e.pool_address, min(e.pool_type) AS pool_type, coalesce(sum(e.usd) FILTER (WHERE e.kind = 'deposit'), 0) AS deposit_usd,
      coalesce(sum(e.usd) FILTER (WHERE e.kind = 'withdraw'), 0) AS withdraw_usd
    FROM ${events} AND e.rebalance GROUP BY e.owner, e.pool_address, e.position_address, e.tx_id
  ) legs GROUP BY owner, pool_address
) t ON t.owner = r.owner AND t.pool_address = r.pool_address`;
