-- Told with a wallet: the markets it belongs to, those on which it bought and sold 10 USDC or more.
ALTER TABLE "pm_told_wallet" ADD COLUMN "belongs" TEXT[] NOT NULL DEFAULT '{}';

UPDATE "pm_told_wallet" AS told SET "belongs" = own."belongs" FROM (
  SELECT wallet, array_agg(condition_id ORDER BY condition_id) AS "belongs" FROM (
    SELECT wallet, condition_id FROM "pm_position" GROUP BY 1, 2 HAVING sum(buy_usdc + sell_usdc) >= 10
  ) AS member GROUP BY wallet
) AS own WHERE own.wallet = told.wallet;

ALTER TABLE "pm_told_wallet" ALTER COLUMN "belongs" DROP DEFAULT;
