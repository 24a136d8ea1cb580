-- Who holds what cost ten dollars belongs to a market as well as who traded so much: what is told of wallets of whom only that is so is told anew by the next job, and reckoned until then.
DELETE FROM "pm_told_wallet" WHERE "wallet" = ANY (ARRAY(
  SELECT "wallet" FROM "pm_position" GROUP BY "condition_id", "wallet"
  HAVING sum("buy_usdc" + "sell_usdc") < 10 AND sum(CASE WHEN "settled_at" IS NULL THEN "cost" ELSE "settled_cost" END) >= 10
));
