-- What was swapped in all pools of an hour is kept by their type, with the fees: what a window earned is told without its pools.
CREATE TABLE "lp_type_swap_hour" (
  "hour" TIMESTAMPTZ(3) NOT NULL,
  "pool_type" TEXT NOT NULL,
  "swaps" INTEGER NOT NULL,
  "unpriced" INTEGER NOT NULL,
  "usd" DECIMAL,
  "fee_usd" DECIMAL,
  CONSTRAINT "lp_type_swap_hour_pkey" PRIMARY KEY ("hour", "pool_type")
);
INSERT INTO "lp_type_swap_hour" ("hour", "pool_type", "swaps", "unpriced", "usd", "fee_usd")
SELECT h."hour", coalesce(p."pool_type", ''), sum(h."swaps")::int, sum(CASE WHEN h."stated_usd" IS NULL THEN h."unpriced" ELSE 0 END)::int,
  sum(coalesce(h."stated_usd", h."swap_usd")), sum(coalesce(h."stated_fee_usd", h."swap_fee_usd"))
FROM "lp_pool_hour" h LEFT JOIN "lp_pool" p ON p."pool_address" = h."pool_address" GROUP BY h."hour", coalesce(p."pool_type", '') ORDER BY h."hour";
DROP TABLE "lp_swap_hour";
-- Older processes, which sell beside newer ones, go on reading it.
CREATE VIEW "lp_swap_hour" AS SELECT "hour", sum("usd") AS "usd" FROM "lp_type_swap_hour" GROUP BY "hour";
ANALYZE "lp_type_swap_hour";
