-- What a provider's positions in a pool came to: a life is told without looking a price up for each position that closed.
CREATE TABLE "lp_owner_result" (
  "owner" TEXT NOT NULL,
  "pool_address" TEXT NOT NULL,
  "pool_type" TEXT NOT NULL,
  "turned_usd" DECIMAL NOT NULL,
  "positions" INTEGER NOT NULL,
  "closed_positions" INTEGER NOT NULL,
  "known_positions" INTEGER NOT NULL,
  "wins" INTEGER NOT NULL,
  "realized_pnl_usd" DECIMAL,
  "realized_deposits_usd" DECIMAL,
  "il_usd" DECIMAL,
  "held_hours" DOUBLE PRECISION,
  "held_positions" INTEGER NOT NULL,
  "open_positions" INTEGER NOT NULL,
  "unseen_positions" INTEGER NOT NULL,
  CONSTRAINT "lp_owner_result_pkey" PRIMARY KEY ("owner", "pool_address")
);
INSERT INTO "lp_owner_result" (owner, pool_address, pool_type, turned_usd, positions, closed_positions, known_positions, wins, realized_pnl_usd, realized_deposits_usd, il_usd, held_hours, held_positions, open_positions, unseen_positions)
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
  FROM (SELECT v.*, v.closed_at IS NOT NULL AS ended FROM (
SELECT s.*, CASE WHEN s.closed_at IS NOT NULL AND s.opened_at IS NOT NULL AND s.deposits > 0 AND s.unpriced = 0 THEN s.withdrawn_usd + s.claimed_usd - s.deposited_usd END AS pnl_usd, CASE WHEN s.closed_at IS NOT NULL THEN CASE WHEN s.uncounted = 0 AND (s.deposited_x = 0 OR x.usd IS NOT NULL) AND (s.deposited_y = 0 OR y.usd IS NOT NULL) THEN s.deposited_x * coalesce(x.usd, 0) + s.deposited_y * coalesce(y.usd, 0) END END AS hodl_usd,
  CASE WHEN s.closed_at IS NOT NULL THEN CASE WHEN s.uncounted = 0 AND (s.withdrawn_x = 0 OR x.usd IS NOT NULL) AND (s.withdrawn_y = 0 OR y.usd IS NOT NULL) THEN s.withdrawn_x * coalesce(x.usd, 0) + s.withdrawn_y * coalesce(y.usd, 0) END END AS kept_usd
FROM (SELECT * FROM lp_position_sum WHERE owner IS NOT NULL) s LEFT JOIN lp_pool l ON l.pool_address = s.pool_address
LEFT JOIN LATERAL (SELECT CASE WHEN l.mint_x IN ('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB') THEN 1::numeric ELSE (SELECT t.usd FROM token_price t
    WHERE t.mint = l.mint_x AND t.minute <= s.closed_at AND t.minute >= s.closed_at - interval '1 hour' ORDER BY t.minute DESC LIMIT 1) END AS usd) x ON true LEFT JOIN LATERAL (SELECT CASE WHEN l.mint_y IN ('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB') THEN 1::numeric ELSE (SELECT t.usd FROM token_price t
    WHERE t.mint = l.mint_y AND t.minute <= s.closed_at AND t.minute >= s.closed_at - interval '1 hour' ORDER BY t.minute DESC LIMIT 1) END AS usd) y ON true) v) v GROUP BY owner, pool_address
) r FULL JOIN (
  SELECT owner, pool_address, min(pool_type) AS pool_type, sum(least(deposit_usd, withdraw_usd)) AS usd FROM (
    SELECT e.owner, e.pool_address, min(e.pool_type) AS pool_type, coalesce(sum(e.usd) FILTER (WHERE e.kind = 'deposit'), 0) AS deposit_usd,
      coalesce(sum(e.usd) FILTER (WHERE e.kind = 'withdraw'), 0) AS withdraw_usd
    FROM lp_event e WHERE e.owner IS NOT NULL AND e.rebalance GROUP BY e.owner, e.pool_address, e.position_address, e.tx_id
  ) legs GROUP BY owner, pool_address
) t ON t.owner = r.owner AND t.pool_address = r.pool_address;
ANALYZE "lp_owner_result";
