-- Large rows wallet by wallet: those of smart money are few of many.
CREATE INDEX "pm_trade_large_wallet_idx" ON "pm_trade" ("wallet", "timestamp" DESC, "trade_id" DESC) WHERE "usdc_size" >= 1000;
