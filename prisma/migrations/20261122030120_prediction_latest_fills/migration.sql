-- A wallet's latest take in a category; in category '' its latest fill of all. Who traded since an instant is counted by it.
CREATE TABLE "pm_latest_fill" (
  "category" TEXT NOT NULL,
  "wallet" TEXT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "pm_latest_fill_pkey" PRIMARY KEY ("wallet", "category")
);
INSERT INTO "pm_latest_fill" ("wallet", "category", "at")
SELECT wallet, '', max("timestamp") FROM "pm_trade" WHERE side IN ('BUY', 'SELL') GROUP BY wallet
UNION ALL
SELECT wallet, category, max("timestamp") FROM "pm_trade" JOIN "pm_market" USING (condition_id) WHERE is_taker AND side IN ('BUY', 'SELL') GROUP BY wallet, category;
CREATE INDEX "pm_latest_fill_category_at_idx" ON "pm_latest_fill" ("category", "at");
