-- Late bets that were sold before the end count among those told of a wallet: all are told anew by the next job, and reckoned until then.
DELETE FROM "pm_told_wallet";
