-- Markets in the order of what was ever taken on them: who lists the first of tens of thousands of active ones looks at some hundreds.
CREATE INDEX "pm_market_total_volume_idx" ON "pm_market_total" (("buy_usdc" + "sell_usdc") DESC, "condition_id" COLLATE "C");
