-- Smart days of providers, what they come to in a pool, and how many providers were in a pool last on each day: distinct counts need not read everybody again.
CREATE TABLE "lp_smart_day" (
  "owner" TEXT NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  "pool_address" TEXT NOT NULL,
  "pool_type" TEXT NOT NULL,
  "score" DECIMAL(4, 1) NOT NULL,
  "deposit_usd" DECIMAL NOT NULL,
  "withdraw_usd" DECIMAL NOT NULL,
  "claim_usd" DECIMAL NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "lp_smart_day_pkey" PRIMARY KEY ("owner", "day", "pool_address")
);
CREATE INDEX "lp_smart_day_day_idx" ON "lp_smart_day" ("day");
CREATE TABLE "lp_smart_pool" (
  "owner" TEXT NOT NULL,
  "pool_address" TEXT NOT NULL,
  "pool_type" TEXT NOT NULL,
  "score" DECIMAL(4, 1) NOT NULL,
  "deposit_usd" DECIMAL NOT NULL,
  "withdraw_usd" DECIMAL NOT NULL,
  "claim_usd" DECIMAL NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "lp_smart_pool_pkey" PRIMARY KEY ("owner", "pool_address")
);
CREATE INDEX "lp_smart_pool_pool_address_last_at_idx" ON "lp_smart_pool" ("pool_address", "last_at") INCLUDE ("first_at");
CREATE TABLE "lp_pool_last_day" (
  "pool_address" TEXT NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  "owners" INTEGER NOT NULL,
  CONSTRAINT "lp_pool_last_day_pkey" PRIMARY KEY ("pool_address", "day")
);
INSERT INTO lp_smart_day (owner, day, pool_address, pool_type, score, deposit_usd, withdraw_usd, claim_usd, first_at, last_at)
SELECT d.owner, d.day, d.pool_address, d.pool_type, s.score, d.deposit_usd, d.withdraw_usd, d.claim_usd, d.first_at, d.last_at
FROM (SELECT q.day, (SELECT max(r.day) FROM lp_score r WHERE r.day < (q.day AT TIME ZONE 'UTC')::date) AS run FROM (SELECT DISTINCT day FROM lp_flow_day) q) r
JOIN lp_score s ON s.day = r.run AND s.score >= 60 JOIN lp_owner_day d ON d.day = r.day AND d.owner = s.owner WHERE d.owner <> '';
INSERT INTO lp_smart_pool (owner, pool_address, pool_type, score, deposit_usd, withdraw_usd, claim_usd, first_at, last_at)
SELECT d.owner, d.pool_address, min(d.pool_type), (array_agg(d.score ORDER BY d.day DESC))[1], sum(d.deposit_usd), sum(d.withdraw_usd), sum(d.claim_usd), min(d.first_at), max(d.last_at)
FROM lp_smart_day d GROUP BY d.owner, d.pool_address;
INSERT INTO lp_pool_last_day (pool_address, day, owners)
SELECT p.pool_address, date_trunc('day', p.last_at, 'UTC'), count(*)::int FROM lp_owner_pool p WHERE p.owner <> '' GROUP BY p.pool_address, date_trunc('day', p.last_at, 'UTC');
