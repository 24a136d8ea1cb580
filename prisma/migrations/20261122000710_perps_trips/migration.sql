-- Round trips of an account in a coin, by the UTC day they closed and in its whole life: shares won are told without reading them.
ALTER TABLE "perp_trader_day" ADD COLUMN "closed_trips" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "won_trips" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "perp_trader_life" ADD COLUMN "closed_trips" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "won_trips" INTEGER NOT NULL DEFAULT 0;

UPDATE "perp_trader_day" d SET "closed_trips" = t.closed, "won_trips" = t.won
FROM (
  SELECT "trader", "coin", date_trunc('day', "closed_at", 'UTC') AS day, count(*) AS closed, count(*) FILTER (WHERE "net_pnl" > 0) AS won
  FROM "perp_round_trip" GROUP BY 1, 2, 3
) t WHERE d."trader" = t."trader" AND d."coin" = t."coin" AND d."day" = t.day;

UPDATE "perp_trader_life" l SET "closed_trips" = t.closed, "won_trips" = t.won
FROM (
  SELECT "trader", "coin", count(*) AS closed, count(*) FILTER (WHERE "net_pnl" > 0) AS won FROM "perp_round_trip" GROUP BY 1, 2
) t WHERE l."trader" = t."trader" AND l."coin" = t."coin";
