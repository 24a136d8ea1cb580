-- How well accounts time their opens, of whole UTC days that are over for a day: the daily scores judge each open once.
CREATE TABLE "perp_timing" (
  "trader" TEXT NOT NULL,
  "coin" TEXT NOT NULL,
  "day" TIMESTAMPTZ(0) NOT NULL,
  "opens" INTEGER NOT NULL,
  "moved" INTEGER NOT NULL,
  CONSTRAINT "perp_timing_pkey" PRIMARY KEY ("trader", "coin", "day")
);
CREATE TABLE "perp_timing_told" (
  "until" TIMESTAMPTZ(0) NOT NULL,
  CONSTRAINT "perp_timing_told_pkey" PRIMARY KEY ("until")
);
