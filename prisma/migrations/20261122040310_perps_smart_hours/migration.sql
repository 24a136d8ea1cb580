-- What smart accounts did in a coin, by the hour and by the UTC day: nobody's own hours need be read. Told by the daily scores, for the run of the
-- day in perp_smart_run, and kept up to date by what is filled after it.
CREATE TABLE "perp_smart_run" (
  "day" DATE NOT NULL,
  CONSTRAINT "perp_smart_run_pkey" PRIMARY KEY ("day")
);
CREATE TABLE "perp_smart_hour" (
  "coin" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(0) NOT NULL,
  "fills" INTEGER NOT NULL,
  "open_long_usd" DECIMAL NOT NULL,
  "open_short_usd" DECIMAL NOT NULL,
  "close_long_usd" DECIMAL NOT NULL,
  "close_short_usd" DECIMAL NOT NULL,
  CONSTRAINT "perp_smart_hour_pkey" PRIMARY KEY ("coin", "hour")
);
CREATE INDEX "perp_smart_hour_hour_idx" ON "perp_smart_hour" ("hour");
CREATE TABLE "perp_smart_day" (
  "coin" TEXT NOT NULL,
  "day" TIMESTAMPTZ(0) NOT NULL,
  "fills" INTEGER NOT NULL,
  "open_long_usd" DECIMAL NOT NULL,
  "open_short_usd" DECIMAL NOT NULL,
  "close_long_usd" DECIMAL NOT NULL,
  "close_short_usd" DECIMAL NOT NULL,
  CONSTRAINT "perp_smart_day_pkey" PRIMARY KEY ("coin", "day")
);
CREATE INDEX "perp_smart_day_day_idx" ON "perp_smart_day" ("day");
