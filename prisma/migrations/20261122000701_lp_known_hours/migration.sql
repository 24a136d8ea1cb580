-- Events of an hour whose transaction was read: only these tell through whose accounts they went.
CREATE TABLE "lp_known_hour" (
  "hour" TIMESTAMPTZ(3) NOT NULL,
  "pool_type" TEXT NOT NULL,
  "events" INTEGER NOT NULL,
  "moved_usd" DECIMAL NOT NULL,
  "unpriced" INTEGER NOT NULL,
  CONSTRAINT "lp_known_hour_pkey" PRIMARY KEY ("hour", "pool_type")
);
INSERT INTO lp_known_hour (hour, pool_type, events, moved_usd, unpriced)
SELECT date_trunc('hour', e."timestamp", 'UTC'), e.pool_type, count(*)::int, coalesce(sum(e.usd) FILTER (WHERE e.kind <> 'claim'), 0), count(*) FILTER (WHERE e.usd IS NULL)::int
FROM lp_event e WHERE e.fee_payer IS NOT NULL GROUP BY 1, 2;
