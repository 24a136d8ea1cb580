-- What may still be redeemed, market by market: whoever holds it is asked for soon after the market was resolved.
CREATE INDEX "pm_position_redeemable_idx" ON "pm_position" ("condition_id", "wallet") WHERE payout > 0 AND shares > redeemed_shares;
