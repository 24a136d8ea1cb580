-- What smart wallets do is kept hour by hour by whatever writes hours, from the day of the newest run on: the hours of that day are judged by the run before it,
-- or by itself where it is the first.
ALTER TABLE "pm_smart_run" ADD COLUMN "prior" DATE;
UPDATE pm_smart_run SET prior = COALESCE((SELECT max(score.day) FROM pm_wallet_score AS score WHERE score.day < pm_smart_run.day), day);
ALTER TABLE "pm_smart_run" ALTER COLUMN "prior" SET NOT NULL;

DELETE FROM pm_smart_wallet_hour WHERE hour >= (SELECT day::timestamp AT TIME ZONE 'UTC' FROM pm_smart_run);
INSERT INTO pm_smart_wallet_hour (hour, condition_id, token_id, wallet, category, score, buys, sells, buy_usdc, sell_usdc, buy_shares, sell_shares, first_at, last_at, first_buy_at)
SELECT own.hour, own.condition_id, token_id, own.wallet, market.category, judged.score, buys, sells, buy_usdc, sell_usdc, buy_shares, sell_shares, first_at, last_at, first_buy_at
FROM pm_wallet_hour AS own CROSS JOIN pm_smart_run AS run
JOIN pm_wallet_score AS judged ON judged.wallet = own.wallet AND judged.score >= 60
  AND judged.day = CASE WHEN own.hour < (run.day + 1)::timestamp AT TIME ZONE 'UTC' THEN run.prior ELSE run.day END
JOIN pm_market AS market ON market.condition_id = own.condition_id
WHERE own.hour >= run.day::timestamp AT TIME ZONE 'UTC' AND token_id <> '' AND buys + sells > 0;
