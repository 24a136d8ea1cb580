-- Of wallets, each with a number, those that traded no more outcomes in whole hours of a time, an outcome once an hour. Counted to the number alone: who
-- trades much is known after a few. In SQL, so that it becomes part of the statement that asks; prisma/citus/distribution.sql says it anew for hours that
-- are spread by market.
CREATE FUNCTION pm_wallets_within(wallets text[], numbers bigint[], since timestamptz, before timestamptz) RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT wanted.wallet FROM unnest(wallets, numbers) AS wanted(wallet, most) WHERE most >= (
    SELECT count(*) FROM (
      SELECT 1 FROM pm_wallet_hour AS own WHERE own.wallet = wanted.wallet AND own.token_id <> '' AND own.hour >= since AND own.hour <= before - interval '1 hour' LIMIT wanted.most + 1
    ) AS told
  )
$$;
