-- On which markets a wallet traded when, told by the index alone.
CREATE INDEX "pm_wallet_hour_traded_idx" ON "pm_wallet_hour" ("wallet", "hour") INCLUDE ("condition_id") WHERE "token_id" <> '';

-- What chosen wallets hold now is found by them; nothing asks for all that is open.
DROP INDEX "pm_position_open_idx";
CREATE INDEX "pm_position_open_idx" ON "pm_position" ("wallet") WHERE "status" = 'open';
