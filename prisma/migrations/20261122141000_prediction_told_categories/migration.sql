-- How a wallet stands in each category it trades, told with its sums: it holds while the wallet is in pm_told_wallet, so that what takes a wallet out there
-- takes this out as well; the next job that tells the wallet writes it anew.
CREATE TABLE "pm_told_category" (
  "wallet" TEXT NOT NULL,
  "category" TEXT NOT NULL,
  "pnl" DECIMAL,
  "cost" DECIMAL,
  "counted" INTEGER NOT NULL,
  "wins" INTEGER NOT NULL,
  "priced" INTEGER NOT NULL,
  "mean" DOUBLE PRECISION,
  "spread" DOUBLE PRECISION,
  "ended" INTEGER NOT NULL,
  "edge" DOUBLE PRECISION,
  "held" INTEGER NOT NULL,
  "open" INTEGER NOT NULL,
  "volume" DECIMAL NOT NULL,
  "whole_volume" DECIMAL NOT NULL,
  "last_trade" TIMESTAMPTZ(3),
  CONSTRAINT "pm_told_category_pkey" PRIMARY KEY ("wallet", "category")
);
CREATE INDEX "pm_told_category_category_counted_idx" ON "pm_told_category" ("category", "counted");

INSERT INTO "pm_told_category" (wallet, category, pnl, cost, counted, wins, priced, mean, spread, ended, edge, held, open, volume, whole_volume, last_trade)
SELECT wallet, category, pnl, cost, counted, wins, priced, mean, spread, ended, edge, held, open, volume, whole_volume, last_trade FROM (
SELECT wallet, category, sum(gain) AS pnl, sum(paid_usdc) AS cost, count(*) FILTER (WHERE status <> 'voided')::int AS counted, count(*) FILTER (WHERE status <> 'voided' AND gain > 0)::int AS wins, count(*) FILTER (WHERE paid_usdc > 0)::int AS priced, avg(CASE WHEN paid_usdc > 0 THEN LEAST(GREATEST(gain::float8 / paid_usdc::float8, -1), 3) END) AS mean, stddev_samp(CASE WHEN paid_usdc > 0 THEN LEAST(GREATEST(gain::float8 / paid_usdc::float8, -1), 3) END) AS spread, count(status)::int AS ended,
  sum(weight * (brought / paid_shares)::float8) FILTER (WHERE status <> 'voided' AND paid_usdc >= 1 AND paid_usdc < 0.95 * paid_shares) / NULLIF(sum(weight) FILTER (WHERE status <> 'voided' AND paid_usdc >= 1 AND paid_usdc < 0.95 * paid_shares), 0) AS edge,
  count(*) FILTER (WHERE is_held)::int AS held, count(*) FILTER (WHERE is_open)::int AS open, sum(traded) AS volume, sum(sum(traded)) OVER (PARTITION BY wallet) AS whole_volume, max(last_trade_at) AS last_trade
FROM (SELECT wallet, category, CASE WHEN has_ended THEN status END AS status, CASE WHEN has_ended THEN gain END AS gain, CASE WHEN has_ended THEN paid_usdc END AS paid_usdc, CASE WHEN has_ended THEN paid_shares END AS paid_shares, CASE WHEN has_ended THEN closed_at END AS closed_at, CASE WHEN has_ended THEN power(2, (date_part('epoch', closed_at) - 1767225600) / 15552000) END AS weight, CASE WHEN has_ended THEN received_usdc + payout_usdc - paid_usdc END AS brought, paid_shares > 0 AS is_held, status = 'open' AS is_open, buy_usdc + sell_usdc AS traded, last_trade_at
  FROM (SELECT own.*, COALESCE(market.category, '') AS category, status <> 'open' AND paid_shares > 0 AS has_ended
    FROM (SELECT * FROM pm_position WHERE wallet IN (SELECT wallet FROM pm_told_wallet)) AS own LEFT JOIN (SELECT condition_id, category FROM pm_market) AS market ON market.condition_id = own.condition_id) AS known OFFSET 0) AS judged
GROUP BY wallet, category
) AS told;
