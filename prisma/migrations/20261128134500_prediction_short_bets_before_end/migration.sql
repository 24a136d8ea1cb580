-- What was bought once a market was resolved is no short bet any more: what is told of wallets that did so is told anew by the next job, and reckoned until then.
DELETE FROM "pm_told_wallet" WHERE "wallet" = ANY (ARRAY(SELECT "wallet" FROM "pm_position" WHERE "opened_at" > "settled_at"));
