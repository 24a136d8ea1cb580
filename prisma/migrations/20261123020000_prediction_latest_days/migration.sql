-- How many wallets made their latest take in a category on each UTC day; in category '' their latest fill of all. Who traded since an instant is counted by days.
CREATE TABLE "pm_latest_day" (
  "category" TEXT NOT NULL,
  "day" DATE NOT NULL,
  "wallets" INTEGER NOT NULL,
  CONSTRAINT "pm_latest_day_pkey" PRIMARY KEY ("category", "day")
);

INSERT INTO "pm_latest_day" ("category", "day", "wallets")
SELECT category, ("at" AT TIME ZONE 'UTC')::date, count(*) FROM "pm_latest_fill" GROUP BY 1, 2;
