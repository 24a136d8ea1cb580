-- Who traded a market of many fills before an instant, by outcome and tier in one run of the scores: whoever asks adds and takes away those wallets alone that traded
-- there since. Filled by the next job.
CREATE TABLE "pm_told_participants" (
  "condition_id" TEXT NOT NULL,
  "until" TIMESTAMPTZ(0) NOT NULL,
  "day" DATE NOT NULL,
  "fills" INTEGER NOT NULL,
  "rows" JSON NOT NULL,
  CONSTRAINT "pm_told_participants_pkey" PRIMARY KEY ("condition_id")
);
