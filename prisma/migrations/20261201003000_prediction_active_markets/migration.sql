-- Markets by when they were last filled: who counts those that were within a day looks at none of the others.
CREATE INDEX "pm_market_total_last_at_idx" ON "pm_market_total" ("last_at");
