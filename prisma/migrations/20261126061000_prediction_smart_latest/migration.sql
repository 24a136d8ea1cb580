-- When a smart wallet last did anything in a category: how many did since an instant is counted without their hours, of which there are ten times as many after a
-- month. Filled when hours are told next.
CREATE TABLE "pm_smart_latest" (
  "wallet" TEXT NOT NULL,
  "category" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(0) NOT NULL,
  CONSTRAINT "pm_smart_latest_pkey" PRIMARY KEY ("wallet", "category")
);
CREATE TABLE "pm_smart_latest_told" (
  "until" TIMESTAMPTZ(0) NOT NULL,
  "hours" INTEGER NOT NULL,
  CONSTRAINT "pm_smart_latest_told_pkey" PRIMARY KEY ("until")
);
