-- Between which hours every one is told, and how often told ones were taken out: every answer about smart wallets counted the hours of its window several times over, and looked through all for those that are not told.
CREATE TABLE "pm_told_whole" (
  "id" SMALLINT NOT NULL,
  "since" TIMESTAMPTZ(0) NOT NULL,
  "until" TIMESTAMPTZ(0) NOT NULL,
  "forgotten" INTEGER NOT NULL,
  CONSTRAINT "pm_told_whole_pkey" PRIMARY KEY ("id")
);
INSERT INTO "pm_told_whole" ("id", "since", "until", "forgotten") VALUES (1, '1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z', 0);
