-- What the round trips of an account in a coin came to, by the UTC day they closed: gains, losses, the best and the worst, and how long they
-- were held are told without reading them.
ALTER TABLE "perp_trader_day" ADD COLUMN "gains_usd" DECIMAL NOT NULL DEFAULT 0, ADD COLUMN "losses_usd" DECIMAL NOT NULL DEFAULT 0,
  ADD COLUMN "best_usd" DECIMAL, ADD COLUMN "worst_usd" DECIMAL, ADD COLUMN "held_trips" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "held_seconds" DECIMAL NOT NULL DEFAULT 0;

UPDATE "perp_trader_day" d SET "gains_usd" = t.gains, "losses_usd" = t.losses, "best_usd" = t.best, "worst_usd" = t.worst, "held_trips" = t.held,
  "held_seconds" = t.seconds
FROM (
  SELECT "trader", "coin", date_trunc('day', "closed_at", 'UTC') AS day, trim_scale(sum(greatest("net_pnl", 0))) AS gains,
    trim_scale(sum(greatest(-"net_pnl", 0))) AS losses, trim_scale(max("net_pnl")) AS best, trim_scale(min("net_pnl")) AS worst,
    count("opened_at") AS held, trim_scale(coalesce(sum(extract(epoch FROM "closed_at" - "opened_at")), 0)) AS seconds
  FROM "perp_round_trip" GROUP BY 1, 2, 3
) t WHERE d."trader" = t."trader" AND d."coin" = t."coin" AND d."day" = t.day;
