-- Which smart accounts were filled last in a window is told by the index alone.
CREATE INDEX "perp_smart_trader_day_active_idx" ON "perp_smart_trader_day" ("last_at", "coin", "trader", "score") WHERE "day" = '-infinity';
