-- Who dealt with whom, of whole UTC days: the daily scores read the matches of a day once.
CREATE TABLE "perp_dealt" (
  "trader" TEXT NOT NULL,
  "other" TEXT NOT NULL,
  "usd" DECIMAL NOT NULL,
  "matches" INTEGER NOT NULL,
  CONSTRAINT "perp_dealt_pkey" PRIMARY KEY ("trader", "other")
);
CREATE TABLE "perp_dealt_day" (
  "day" TIMESTAMPTZ(0) NOT NULL,
  "fills" BIGINT NOT NULL,
  CONSTRAINT "perp_dealt_day_pkey" PRIMARY KEY ("day")
);
