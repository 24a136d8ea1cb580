-- What was done and swapped in a pool in a UTC month: a window of all there is adds up months, and days of the last one.
CREATE TABLE "lp_flow_month" (
  "pool_address" TEXT NOT NULL,
  "month" TIMESTAMPTZ(3) NOT NULL,
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
  CONSTRAINT "lp_flow_month_pkey" PRIMARY KEY ("pool_address", "month")
);
INSERT INTO "lp_flow_month" ("pool_address", "month", "pool_type", "deposits", "withdrawals", "claims", "deposit_usd", "withdraw_usd", "claim_usd", "unpriced", "first_at", "last_at")
SELECT d."pool_address", date_trunc('month', d."day", 'UTC'), min(d."pool_type"), sum(d."deposits")::int, sum(d."withdrawals")::int, sum(d."claims")::int,
  sum(d."deposit_usd"), sum(d."withdraw_usd"), sum(d."claim_usd"), sum(d."unpriced")::int, min(d."first_at"), max(d."last_at")
FROM "lp_flow_day" d GROUP BY d."pool_address", date_trunc('month', d."day", 'UTC');
CREATE TABLE "lp_pool_month" (
  "pool_address" TEXT NOT NULL,
  "month" TIMESTAMPTZ(3) NOT NULL,
  "swaps" INTEGER NOT NULL,
  "unpriced" INTEGER NOT NULL,
  "usd" DECIMAL,
  "fee_usd" DECIMAL,
  "seen_usd" DECIMAL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "lp_pool_month_pkey" PRIMARY KEY ("pool_address", "month")
);
INSERT INTO "lp_pool_month" ("pool_address", "month", "swaps", "unpriced", "usd", "fee_usd", "seen_usd", "first_at")
SELECT d."pool_address", date_trunc('month', d."day", 'UTC'), sum(d."swaps")::int, sum(d."unpriced")::int, sum(d."usd"), sum(d."fee_usd"), sum(d."seen_usd"), min(d."first_at")
FROM "lp_pool_day" d GROUP BY d."pool_address", date_trunc('month', d."day", 'UTC');
ANALYZE "lp_flow_month", "lp_pool_month";
