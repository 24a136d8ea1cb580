-- What a wallet redeemed, without all it traded.
CREATE INDEX "pm_trade_redeem_idx" ON "pm_trade" ("wallet") WHERE "side" = 'REDEEM';
