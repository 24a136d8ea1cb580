-- What was swapped in a pool, and what was done in all pools of a type, in a quarter of an hour: an end of a window that lies within an hour is told
-- by a few of these and the facts of one of them, not by the facts of half an hour.
CREATE TABLE "lp_pool_bar" (
  "pool_address" TEXT NOT NULL,
  "bar" TIMESTAMPTZ(3) NOT NULL,
  "swaps" INTEGER NOT NULL,
  "unpriced" INTEGER NOT NULL,
  "usd" DECIMAL,
  "fee_usd" DECIMAL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "lp_pool_bar_pkey" PRIMARY KEY ("pool_address", "bar")
);
-- In the order of time: what a window's end reads stands together.
INSERT INTO "lp_pool_bar" ("pool_address", "bar", "swaps", "unpriced", "usd", "fee_usd", "first_at")
SELECT s."pool_address", b."bar", count(*)::int, count(*) FILTER (WHERE s."usd" IS NULL)::int, sum(s."usd"), sum(s."fee_usd"), min(s."timestamp")
FROM "lp_swap" s CROSS JOIN LATERAL (SELECT date_bin('15 minutes', s."timestamp", timestamptz '2000-01-01T00:00:00Z') AS "bar") b
GROUP BY s."pool_address", b."bar" ORDER BY b."bar";
CREATE INDEX "lp_pool_bar_bar_idx" ON "lp_pool_bar" ("bar");
CREATE TABLE "lp_type_bar" (
  "bar" TIMESTAMPTZ(3) NOT NULL,
  "pool_type" TEXT NOT NULL,
  "deposits" INTEGER NOT NULL,
  "withdrawals" INTEGER NOT NULL,
  "claims" INTEGER NOT NULL,
  "deposit_usd" DECIMAL NOT NULL,
  "withdraw_usd" DECIMAL NOT NULL,
  "claim_usd" DECIMAL NOT NULL,
  "unpriced" INTEGER NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  "known" INTEGER NOT NULL,
  "known_usd" DECIMAL NOT NULL,
  "known_unpriced" INTEGER NOT NULL,
  CONSTRAINT "lp_type_bar_pkey" PRIMARY KEY ("bar", "pool_type")
);
INSERT INTO "lp_type_bar" ("bar", "pool_type", "deposits", "withdrawals", "claims", "deposit_usd", "withdraw_usd", "claim_usd", "unpriced", "first_at", "last_at",
  "known", "known_usd", "known_unpriced")
SELECT b."bar", e."pool_type", count(*) FILTER (WHERE e."kind" = 'deposit')::int, count(*) FILTER (WHERE e."kind" = 'withdraw')::int, count(*) FILTER (WHERE e."kind" = 'claim')::int,
  coalesce(sum(e."usd") FILTER (WHERE e."kind" = 'deposit'), 0), coalesce(sum(e."usd") FILTER (WHERE e."kind" = 'withdraw'), 0),
  coalesce(sum(e."usd") FILTER (WHERE e."kind" = 'claim'), 0), count(*) FILTER (WHERE e."usd" IS NULL)::int, min(e."timestamp"), max(e."timestamp"),
  count(*) FILTER (WHERE e."fee_payer" IS NOT NULL)::int, coalesce(sum(e."usd") FILTER (WHERE e."fee_payer" IS NOT NULL AND e."kind" <> 'claim'), 0),
  count(*) FILTER (WHERE e."fee_payer" IS NOT NULL AND e."usd" IS NULL)::int
FROM "lp_event" e CROSS JOIN LATERAL (SELECT date_bin('15 minutes', e."timestamp", timestamptz '2000-01-01T00:00:00Z') AS "bar") b
GROUP BY b."bar", e."pool_type" ORDER BY b."bar";
ANALYZE "lp_pool_bar", "lp_type_bar";
