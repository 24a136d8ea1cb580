-- The last fill of a coin before an instant: facts of the instant's hour tell it, or the hours before, as they tell its price. Looked for among facts by time, all fills of other coins since were read: those of a
-- year, of a coin that nobody has traded for so long. prisma/citus/distribution.sql says it anew for facts that are spread by account.
CREATE OR REPLACE FUNCTION perp_last_fill(of_coin text, instant timestamptz) RETURNS TABLE (price numeric, filled_at timestamptz) LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT last.price, last.filled_at FROM (
    (SELECT f.price, f.timestamp AS filled_at FROM perp_fill f WHERE f.coin = of_coin AND f.timestamp >= date_trunc('hour', instant, 'UTC') AND f.timestamp < instant ORDER BY f.timestamp DESC, f.seq DESC, f.tid DESC LIMIT 1)
    UNION ALL
    (SELECT h.close_price, h.close_at FROM perp_coin_hour h WHERE h.coin = of_coin AND h.hour < date_trunc('hour', instant, 'UTC') AND h.close_at IS NOT NULL ORDER BY h.hour DESC LIMIT 1)
  ) last ORDER BY last.filled_at DESC LIMIT 1
$$;
