-- What providers did in an hour in all pools of a type: totals of a window add up two rows an hour, however many pools there are.
CREATE TABLE "lp_type_hour" (
  "hour" TIMESTAMPTZ(3) NOT NULL,
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
  CONSTRAINT "lp_type_hour_pkey" PRIMARY KEY ("hour", "pool_type")
);
INSERT INTO "lp_type_hour" ("hour", "pool_type", "deposits", "withdrawals", "claims", "deposit_usd", "withdraw_usd", "claim_usd", "unpriced", "first_at", "last_at")
SELECT f."hour", f."pool_type", sum(f."deposits")::int, sum(f."withdrawals")::int, sum(f."claims")::int,
  sum(f."deposit_usd"), sum(f."withdraw_usd"), sum(f."claim_usd"), sum(f."unpriced")::int, min(f."first_at"), max(f."last_at")
FROM "lp_flow_hour" f GROUP BY f."hour", f."pool_type" ORDER BY f."hour";
ANALYZE "lp_type_hour";
