-- From when to when a provider was smart, in pools of a type and in all: the smart ones of a window are counted without their pools.
CREATE TABLE "lp_smart_life" (
  "owner" TEXT NOT NULL,
  "pool_type" TEXT NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "lp_smart_life_pkey" PRIMARY KEY ("owner", "pool_type")
);
INSERT INTO "lp_smart_life" ("owner", "pool_type", "first_at", "last_at")
SELECT p."owner", t."pool_type", min(p."first_at"), max(p."last_at")
FROM "lp_smart_pool" p CROSS JOIN LATERAL (VALUES (p."pool_type"), ('all')) AS t("pool_type") GROUP BY p."owner", t."pool_type";
CREATE INDEX "lp_smart_life_pool_type_last_at_idx" ON "lp_smart_life" ("pool_type", "last_at");
ANALYZE "lp_smart_life";
