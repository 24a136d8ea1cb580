-- What signal endpoints said, a snapshot a day, and how each signal turned out (definition D-TRACK). Append-only.
CREATE TABLE "signal_snapshot" (
  "endpoint" TEXT NOT NULL,
  "day" DATE NOT NULL,
  "venue" TEXT NOT NULL,
  "taken_at" TIMESTAMPTZ(3) NOT NULL,
  "signals" INTEGER NOT NULL,
  CONSTRAINT "signal_snapshot_pkey" PRIMARY KEY ("endpoint", "day")
);

CREATE TABLE "signal" (
  "endpoint" TEXT NOT NULL,
  "day" DATE NOT NULL,
  "rank" INTEGER NOT NULL,
  "venue" TEXT NOT NULL,
  "taken_at" TIMESTAMPTZ(3) NOT NULL,
  "subject" TEXT NOT NULL,
  "part" TEXT NOT NULL,
  "direction" SMALLINT NOT NULL CHECK ("direction" IN (-1, 1)),
  "price" DECIMAL NOT NULL,
  CONSTRAINT "signal_pkey" PRIMARY KEY ("endpoint", "day", "rank")
);
CREATE INDEX "signal_venue_taken_at_idx" ON "signal" ("venue", "taken_at");

CREATE TABLE "signal_mark" (
  "endpoint" TEXT NOT NULL,
  "day" DATE NOT NULL,
  "rank" INTEGER NOT NULL,
  "horizon" TEXT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "hit" BOOLEAN NOT NULL,
  "return_pct" DECIMAL NOT NULL,
  "baseline" DECIMAL NOT NULL,
  CONSTRAINT "signal_mark_pkey" PRIMARY KEY ("endpoint", "day", "rank", "horizon")
);
