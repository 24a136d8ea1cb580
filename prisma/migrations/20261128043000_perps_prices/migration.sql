-- The last fill of a coin before an instant, and its last price: facts of the instant's hour tell it, or the hours before; however long ago the coin was
-- filled last, no more of other coins' facts is read. In SQL, so that they become part of the statement that asks; prisma/citus/distribution.sql says them
-- anew for facts that are spread by account.
CREATE FUNCTION perp_last_fill(of_coin text, instant timestamptz) RETURNS TABLE (price numeric, filled_at timestamptz) LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT f.price, f.timestamp FROM perp_fill f WHERE f.coin = of_coin AND f.timestamp < instant ORDER BY f.timestamp DESC, f.seq DESC, f.tid DESC LIMIT 1
$$;

CREATE FUNCTION perp_price_before(of_coin text, instant timestamptz) RETURNS TABLE (price numeric) LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT coalesce(
    (SELECT f.price FROM perp_fill f WHERE f.coin = of_coin AND f.timestamp >= date_trunc('hour', instant, 'UTC') AND f.timestamp < instant ORDER BY f.timestamp DESC, f.seq DESC, f.tid DESC LIMIT 1),
    (SELECT h.close_price FROM perp_coin_hour h WHERE h.coin = of_coin AND h.hour < date_trunc('hour', instant, 'UTC') AND h.close_price IS NOT NULL ORDER BY h.hour DESC LIMIT 1))
$$;
