-- How wallets stand by positions that ended in windows that end now, as jobs told them as of one instant: the first of a ranking are found at the end of an
-- index. What writes a position notes its wallet, in its own transaction; such wallets, and those of which a position has left the window since, are added up
-- when asked.
CREATE TABLE "pm_standing" (
  "timeframe" TEXT NOT NULL,
  "wallet" TEXT NOT NULL,
  "counted" INTEGER NOT NULL,
  "wins" INTEGER NOT NULL,
  "sharpe" DOUBLE PRECISION,
  "roi" DOUBLE PRECISION NOT NULL,
  "win_rate" DOUBLE PRECISION NOT NULL,
  "pnl" DOUBLE PRECISION NOT NULL,
  CONSTRAINT "pm_standing_pkey" PRIMARY KEY ("wallet", "timeframe")
);
CREATE INDEX "pm_standing_sharpe_idx" ON "pm_standing" ("timeframe", "sharpe" DESC, "wallet") WHERE "sharpe" IS NOT NULL;
CREATE INDEX "pm_standing_roi_idx" ON "pm_standing" ("timeframe", "roi" DESC, "wallet");
CREATE INDEX "pm_standing_win_rate_idx" ON "pm_standing" ("timeframe", "win_rate" DESC, "wallet");
CREATE INDEX "pm_standing_pnl_idx" ON "pm_standing" ("timeframe", "pnl" DESC, "wallet");

CREATE TABLE "pm_standing_due" (
  "wallet" TEXT NOT NULL,
  CONSTRAINT "pm_standing_due_pkey" PRIMARY KEY ("wallet")
);

CREATE TABLE "pm_standing_told" (
  "told_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "pm_standing_told_pkey" PRIMARY KEY ("told_at")
);
