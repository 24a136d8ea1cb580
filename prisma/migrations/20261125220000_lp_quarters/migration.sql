-- What was done and swapped in a pool in a quarter of a UTC day: a window that begins in the midst of a day adds up quarters where it added up hours.
CREATE TABLE "lp_flow_quarter" (
  "pool_address" TEXT NOT NULL,
  "quarter" TIMESTAMPTZ(3) NOT NULL,
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
  CONSTRAINT "lp_flow_quarter_pkey" PRIMARY KEY ("pool_address", "quarter")
);
INSERT INTO "lp_flow_quarter" ("pool_address", "quarter", "pool_type", "deposits", "withdrawals", "claims", "deposit_usd", "withdraw_usd", "claim_usd", "unpriced", "first_at", "last_at")
SELECT f."pool_address", q."quarter", min(f."pool_type"), sum(f."deposits")::int, sum(f."withdrawals")::int, sum(f."claims")::int,
  sum(f."deposit_usd"), sum(f."withdraw_usd"), sum(f."claim_usd"), sum(f."unpriced")::int, min(f."first_at"), max(f."last_at")
FROM "lp_flow_hour" f CROSS JOIN LATERAL (SELECT date_bin('6 hours', f."hour", timestamptz '2000-01-01T00:00:00Z') AS "quarter") q
GROUP BY f."pool_address", q."quarter" ORDER BY q."quarter";
CREATE INDEX "lp_flow_quarter_quarter_idx" ON "lp_flow_quarter" ("quarter");
CREATE TABLE "lp_pool_quarter" (
  "pool_address" TEXT NOT NULL,
  "quarter" TIMESTAMPTZ(3) NOT NULL,
  "swaps" INTEGER NOT NULL,
  "unpriced" INTEGER NOT NULL,
  "usd" DECIMAL,
  "fee_usd" DECIMAL,
  "seen_usd" DECIMAL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "lp_pool_quarter_pkey" PRIMARY KEY ("pool_address", "quarter")
);
INSERT INTO "lp_pool_quarter" ("pool_address", "quarter", "swaps", "unpriced", "usd", "fee_usd", "seen_usd", "first_at")
SELECT h."pool_address", q."quarter", sum(h."swaps")::int, sum(CASE WHEN h."stated_usd" IS NULL THEN h."unpriced" ELSE 0 END)::int,
  sum(coalesce(h."stated_usd", h."swap_usd")), sum(coalesce(h."stated_fee_usd", h."swap_fee_usd")), sum(h."swap_usd"), min(h."first_at")
FROM "lp_pool_hour" h CROSS JOIN LATERAL (SELECT date_bin('6 hours', h."hour", timestamptz '2000-01-01T00:00:00Z') AS "quarter") q
GROUP BY h."pool_address", q."quarter" ORDER BY q."quarter";
CREATE INDEX "lp_pool_quarter_quarter_idx" ON "lp_pool_quarter" ("quarter");
-- What was swapped in all pools in an hour: a share of it asks for no other pools.
CREATE TABLE "lp_swap_hour" (
  "hour" TIMESTAMPTZ(3) NOT NULL,
  "usd" DECIMAL,
  CONSTRAINT "lp_swap_hour_pkey" PRIMARY KEY ("hour")
);
INSERT INTO "lp_swap_hour" ("hour", "usd")
SELECT h."hour", sum(coalesce(h."stated_usd", h."swap_usd")) FROM "lp_pool_hour" h GROUP BY h."hour" ORDER BY h."hour";
ANALYZE "lp_flow_quarter", "lp_pool_quarter", "lp_swap_hour";
