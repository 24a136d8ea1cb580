-- What an account came to in its whole life, and bounds of what it gained in windows that end now: the first of a ranking are found
-- at the end of an index. Bounds are told by the daily scores, for the UTC day in perp_standing.
ALTER TABLE "perp_trader" ADD COLUMN "fills" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "volume_usd" DECIMAL NOT NULL DEFAULT 0,
  ADD COLUMN "pnl" DECIMAL NOT NULL DEFAULT 0, ADD COLUMN "most_pnl_7d" DECIMAL, ADD COLUMN "most_pnl_30d" DECIMAL;

UPDATE "perp_trader" t SET "fills" = l.fills, "volume_usd" = l.volume_usd, "pnl" = l.pnl
FROM (
  SELECT "trader", sum("fills") AS fills, sum("open_long_usd" + "open_short_usd" + "close_long_usd" + "close_short_usd") AS volume_usd,
    sum("long_pnl" + "short_pnl") AS pnl
  FROM "perp_trader_life" GROUP BY 1
) l WHERE l."trader" = t."trader";

CREATE INDEX "perp_trader_volume_idx" ON "perp_trader" ("volume_usd" DESC);
CREATE INDEX "perp_trader_pnl_idx" ON "perp_trader" ("pnl" DESC);
CREATE INDEX "perp_trader_most_pnl_7d_idx" ON "perp_trader" ("most_pnl_7d" DESC);
CREATE INDEX "perp_trader_most_pnl_30d_idx" ON "perp_trader" ("most_pnl_30d" DESC);

CREATE TABLE "perp_standing" (
  "day" TIMESTAMPTZ(0) NOT NULL,
  CONSTRAINT "perp_standing_pkey" PRIMARY KEY ("day")
);
