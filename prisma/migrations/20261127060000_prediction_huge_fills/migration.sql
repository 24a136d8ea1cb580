-- Rows as large as hardly any: whether there is one is told without reading all large ones.
CREATE INDEX "pm_trade_huge_idx" ON "pm_trade" ("timestamp" DESC, "trade_id" DESC) WHERE "usdc_size" >= 100000;
