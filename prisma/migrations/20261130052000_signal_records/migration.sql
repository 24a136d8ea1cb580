-- What the marks of a snapshot come to at a horizon: an answer's track record adds up a row a day and horizon, where the marks of a year took it some ten milliseconds.
CREATE TABLE "signal_record" (
  "endpoint" TEXT NOT NULL,
  "day" DATE NOT NULL,
  "horizon" TEXT NOT NULL,
  "signals" INTEGER NOT NULL,
  "hits" INTEGER NOT NULL,
  "return_pct" DECIMAL NOT NULL,
  "baseline" DECIMAL NOT NULL,
  "known_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "signal_record_pkey" PRIMARY KEY ("endpoint", "day", "horizon")
);
INSERT INTO "signal_record"
SELECT endpoint, day, horizon, count(*), count(*) FILTER (WHERE hit), sum(return_pct), sum(baseline), max(at) FROM signal_mark GROUP BY endpoint, day, horizon;
