-- The machines of a run are few: they are told by an index alone.
CREATE INDEX "pm_wallet_score_machine_idx" ON "pm_wallet_score" ("day") INCLUDE ("wallet") WHERE "tags" && ARRAY['market_maker', 'hft_bot', 'wash'];
