-- Who has at least a score in a run is told by the index alone.
CREATE INDEX "perp_score_day_score_trader_idx" ON "perp_score" ("day", "score" DESC, "trader");
DROP INDEX "perp_score_day_score_idx";
