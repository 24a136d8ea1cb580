-- What the round trips of an account's whole life in a coin came to is told without reading its days.
ALTER TABLE "perp_trader_life" ADD COLUMN "gains_usd" DECIMAL NOT NULL DEFAULT 0, ADD COLUMN "losses_usd" DECIMAL NOT NULL DEFAULT 0,
  ADD COLUMN "best_usd" DECIMAL, ADD COLUMN "worst_usd" DECIMAL, ADD COLUMN "held_trips" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "held_seconds" DECIMAL NOT NULL DEFAULT 0;

UPDATE "perp_trader_life" l SET "gains_usd" = d.gains, "losses_usd" = d.losses, "best_usd" = d.best, "worst_usd" = d.worst, "held_trips" = d.held,
  "held_seconds" = d.seconds
FROM (
  SELECT "trader", "coin", trim_scale(sum("gains_usd")) AS gains, trim_scale(sum("losses_usd")) AS losses, max("best_usd") AS best,
    min("worst_usd") AS worst, sum("held_trips") AS held, trim_scale(sum("held_seconds")) AS seconds
  FROM "perp_trader_day" WHERE "closed_trips" > 0 GROUP BY 1, 2
) d WHERE l."trader" = d."trader" AND l."coin" = d."coin";
