-- A redemption burns what lost along with what won: shares of losers that were held when their wallet last redeemed on the market are gone.
UPDATE pm_position AS position SET redeemed_shares = position.shares
FROM (SELECT condition_id, wallet, max("timestamp") AS at FROM pm_trade WHERE side = 'REDEEM' GROUP BY condition_id, wallet) AS redeemed
WHERE position.condition_id = redeemed.condition_id AND position.wallet = redeemed.wallet AND position.payout < 1 AND position.redeemed_shares < position.shares
  AND redeemed.at >= GREATEST(position.opened_at, position.last_trade_at);
