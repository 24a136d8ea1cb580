-- The same of accounts in any coin.
INSERT INTO "perp_coin_last_day" ("coin", "day", "traders")
SELECT '', date_trunc('day', "last_at", 'UTC'), count(*) FROM "perp_trader" GROUP BY 2;
