-- What low-score wallets held of each resolved market when it ended, for every bound of a score that can be asked: how often their side lost is read off one row a market
-- instead of the scores of every run and the positions of every holder.
CREATE TABLE "pm_settled_crowd" (
  "max_score" INTEGER NOT NULL,
  "condition_id" TEXT NOT NULL,
  "resolved_at" TIMESTAMPTZ(3) NOT NULL,
  "wallets" INTEGER NOT NULL,
  "usdc" DECIMAL NOT NULL,
  "top_usdc" DECIMAL NOT NULL,
  "won" BOOLEAN NOT NULL,
  CONSTRAINT "pm_settled_crowd_pkey" PRIMARY KEY ("max_score", "condition_id")
);
CREATE TABLE "pm_settled_due" (
  "condition_id" TEXT NOT NULL,
  CONSTRAINT "pm_settled_due_pkey" PRIMARY KEY ("condition_id")
);
INSERT INTO "pm_settled_due" ("condition_id") SELECT "condition_id" FROM "pm_market" WHERE "resolved_at" IS NOT NULL;
-- The hour in which each wallet had bought and sold so often; no row before it has. Each hour holds a trade at least: the first few tell. prisma/citus/distribution.sql
-- says it anew for hours that are spread by market.
CREATE FUNCTION pm_known_since(wallets text[], fewest int) RETURNS TABLE (wallet text, since timestamptz) LANGUAGE sql STABLE AS $$
  SELECT wanted.wallet, reached.hour FROM unnest(wallets) AS wanted(wallet) CROSS JOIN LATERAL (
    SELECT hour FROM (
      SELECT hour, sum(trades) OVER (ORDER BY hour) AS so_far FROM (
        SELECT own.hour, own.buys + own.sells AS trades FROM pm_wallet_hour AS own WHERE own.wallet = wanted.wallet AND own.buys + own.sells > 0 ORDER BY own.hour LIMIT fewest
      ) AS early
    ) AS told WHERE so_far >= fewest ORDER BY hour LIMIT 1
  ) AS reached
$$;
