-- The same by hours, for the day that a window begins within: `pm_latest_fill` alone, of which each fill moves a row, takes up to a hundred milliseconds to count a day of.
CREATE TABLE "pm_latest_hour" (
  "category" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(0) NOT NULL,
  "wallets" INTEGER NOT NULL,
  CONSTRAINT "pm_latest_hour_pkey" PRIMARY KEY ("category", "hour")
);
-- Hours that nobody is left in go.
CREATE INDEX "pm_latest_hour_left_idx" ON "pm_latest_hour" ("hour") WHERE "wallets" = 0;

INSERT INTO "pm_latest_hour" ("category", "hour", "wallets")
SELECT category, date_trunc('hour', "at", 'UTC'), count(*) FROM "pm_latest_fill" GROUP BY 1, 2;
