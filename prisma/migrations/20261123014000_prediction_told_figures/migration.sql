-- Figures of all that a wallet ever held, by category and altogether, told with its sums: they hold while the wallet is in pm_told_wallet, so that what takes
-- a wallet out there takes these out as well; the next job that tells the wallet writes them anew.
CREATE TABLE "pm_told_figures" (
  "wallet" TEXT NOT NULL,
  "category" TEXT NOT NULL,
  "trades" INTEGER NOT NULL,
  "volume" DECIMAL NOT NULL,
  "markets" INTEGER NOT NULL,
  "last_trade_at" TIMESTAMPTZ(3),
  "held" INTEGER NOT NULL,
  "seen" INTEGER NOT NULL,
  "ended" INTEGER NOT NULL,
  "resolved" INTEGER NOT NULL,
  "voided" INTEGER NOT NULL,
  "winning" INTEGER NOT NULL,
  "losing" INTEGER NOT NULL,
  "counted" INTEGER NOT NULL,
  "wins" INTEGER NOT NULL,
  "pnl" DECIMAL NOT NULL,
  "cost" DECIMAL NOT NULL,
  "gained" DECIMAL NOT NULL,
  "lost" DECIMAL NOT NULL,
  "sharpe" DOUBLE PRECISION,
  "brier" DOUBLE PRECISION,
  "avg_entry_price" DOUBLE PRECISION,
  "max_drawdown" DECIMAL,
  "largest_event_share" DOUBLE PRECISION,
  "first_ended_at" TIMESTAMPTZ(3),
  CONSTRAINT "pm_told_figures_pkey" PRIMARY KEY ("wallet", "category")
);

INSERT INTO "pm_told_figures" (wallet, category, trades, volume, markets, last_trade_at, held, seen, ended, resolved, voided, winning, losing, counted, wins, pnl, cost, gained, lost, sharpe, brier, avg_entry_price, max_drawdown, largest_event_share, first_ended_at)
SELECT wallet, COALESCE(category, ''), trades, volume, markets, last_trade_at, held, seen, ended, resolved, voided, winning, losing, counted, wins, pnl, cost, gained, lost, sharpe, brier, avg_entry_price, max_drawdown, largest_event_share, first_ended_at FROM (
WITH own AS MATERIALIZED (
  SELECT w, category, market, event, token_id, trades, traded, last_trade_at, paid_usdc, gain, closed_at, voided, resolved, chosen,
    chosen AND NOT open AND closed_at >= timestamptz '-infinity' AND closed_at <= timestamptz 'infinity' AS ended, chosen AND opened_at < timestamptz 'infinity' AND (open OR closed_at >= timestamptz '-infinity') AS seen,
    CASE WHEN paid_usdc > 0 THEN LEAST(GREATEST(gain::float8 / paid_usdc::float8, -1), 3) END AS returned, entry, CASE WHEN resolved THEN (entry - COALESCE(payout, 0)::float8) ^ 2 END AS miss
  FROM (SELECT wallet AS w, COALESCE(market.category, 'Other') AS category, hashtextextended(position.condition_id, 0) AS market,
      hashtextextended(COALESCE(market.event_slug, position.condition_id), 0) AS event, token_id, trades, buy_usdc + sell_usdc AS traded, last_trade_at, paid_usdc, gain, opened_at, position.closed_at, payout,
      status = 'open' AS open, status = 'voided' AS voided, status = 'resolved' AS resolved, CASE WHEN paid_shares > 0 THEN paid_usdc::float8 / paid_shares::float8 END AS entry,
      paid_shares > 0 AND (NULL::text IS NULL OR COALESCE(market.category, 'Other') = NULL::text) AS chosen
    FROM (SELECT * FROM pm_position WHERE wallet IN (SELECT wallet FROM pm_told_wallet)) AS position LEFT JOIN pm_market AS market ON market.condition_id = position.condition_id) AS judged
), event AS (
  SELECT w, CASE WHEN sum(gain) > 0 THEN LEAST(1, max(gain)::float8 / sum(gain)::float8) END AS largest_event_share FROM (
    SELECT w, sum(gain) AS gain FROM own WHERE ended AND NOT voided AND paid_usdc >= 1 GROUP BY w, event
  ) AS gained GROUP BY w
), fall AS (
  SELECT w, max(GREATEST(peak, 0) - running) AS largest_fall FROM (
    SELECT w, running, max(running) OVER (PARTITION BY w ORDER BY closed_at, token_id ROWS UNBOUNDED PRECEDING) AS peak FROM (
      SELECT w, closed_at, token_id, sum(gain) OVER (PARTITION BY w ORDER BY closed_at, token_id ROWS UNBOUNDED PRECEDING) AS running FROM own WHERE ended
    ) AS walk
  ) AS steps GROUP BY w
), told AS (
  SELECT w, category, COALESCE(sum(trades), 0)::int AS trades, COALESCE(sum(traded) FILTER (WHERE trades > 0), 0) AS volume, max(last_trade_at) FILTER (WHERE trades > 0) AS last_trade_at,
    count(*) FILTER (WHERE chosen)::int AS held, count(*) FILTER (WHERE seen)::int AS seen, count(*) FILTER (WHERE ended)::int AS ended,
    count(*) FILTER (WHERE ended AND resolved)::int AS resolved, count(*) FILTER (WHERE ended AND voided)::int AS voided,
    count(*) FILTER (WHERE ended AND gain > 0)::int AS winning, count(*) FILTER (WHERE ended AND gain < 0)::int AS losing,
    count(*) FILTER (WHERE ended AND NOT voided)::int AS counted, count(*) FILTER (WHERE ended AND NOT voided AND gain > 0)::int AS wins,
    COALESCE(sum(gain) FILTER (WHERE ended), 0) AS pnl, COALESCE(sum(paid_usdc) FILTER (WHERE ended), 0) AS cost,
    COALESCE(sum(gain) FILTER (WHERE ended AND gain > 0), 0) AS gained, COALESCE(-sum(gain) FILTER (WHERE ended AND gain < 0), 0) AS lost,
    count(*) FILTER (WHERE ended AND paid_usdc > 0) AS priced, avg(returned) FILTER (WHERE ended) AS mean, stddev_samp(returned) FILTER (WHERE ended) AS spread,
    min(closed_at) FILTER (WHERE ended) AS first_ended_at, avg(miss) FILTER (WHERE ended) AS brier, avg(entry) FILTER (WHERE ended AND NOT voided) AS avg_entry_price
  FROM own GROUP BY GROUPING SETS ((w), (w, category))
), traded AS (
  SELECT w, category, count(*)::int AS markets FROM (SELECT DISTINCT w, category, market FROM own WHERE trades > 0) AS market GROUP BY GROUPING SETS ((w), (w, category))
)
SELECT told.w AS wallet, told.category, trades, volume, COALESCE(markets, 0) AS markets, last_trade_at, held, seen, ended, resolved, voided, winning, losing, counted, wins, pnl, cost, gained, lost,
  CASE WHEN priced >= 10 AND spread > 0 THEN mean / spread END AS sharpe, brier, avg_entry_price,
  CASE WHEN told.category IS NULL THEN COALESCE(largest_fall, 0) END AS max_drawdown, CASE WHEN told.category IS NULL THEN largest_event_share END AS largest_event_share,
  min(first_ended_at) OVER (PARTITION BY told.w) AS first_ended_at
FROM told LEFT JOIN traded ON traded.w = told.w AND traded.category IS NOT DISTINCT FROM told.category LEFT JOIN fall ON fall.w = told.w LEFT JOIN event ON event.w = told.w
) AS told;

-- Of a market most questions want the category and the event alone: the table is ten times as wide.
CREATE INDEX "pm_market_condition_id_category_event_slug_idx" ON "pm_market" ("condition_id", "category", "event_slug");
