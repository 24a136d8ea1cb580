/** Lengths of the buckets, in hours, whose takers are counted; all divide a UTC day. */
const LENGTHS = [1, 4, 12, 24] as const;

/** Every bucket of a day: its length, the hour it starts at, and a bit for each of its hours. */
const BUCKETS = LENGTHS.flatMap((hours) =>
  Array.from({ length: 24 / hours }, (_, place) => `(${hours}, ${place * hours}, ${(2 ** hours - 1) * 2 ** (place * hours)})`),
).join(', ');

const hourBits = (usd: string): string =>
  `bit_or(CASE WHEN r.${usd} > 0 THEN 1 << extract(hour FROM r.hour AT TIME ZONE 'UTC')::int ELSE 0 END)`;

/** What the hours `r` of a day give to it beside their sums: a bit for each UTC hour in which the account took. */
export const TAKEN_HOURS = { buy_hours: hourBits('taker_buy_usd'), sell_hours: hourBits('taker_sell_usd') } as const;

/** Accounts that take in a bucket for the first time: `days` has the bits of accounts' days as they become, and as they were (`bought`, `sold`). */
const takersOf = (days: string): string => `
SELECT d.coin, b.hours, d.day + b.first * interval '1 hour' AS bucket, count(*) FILTER (WHERE d.buy_hours & b.bits <> 0 AND d.bought & b.bits = 0) AS buyers,
  count(*) FILTER (WHERE d.sell_hours & b.bits <> 0 AND d.sold & b.bits = 0) AS sellers
FROM ${days} d CROSS JOIN (VALUES ${BUCKETS}) AS b(hours, first, bits) WHERE (d.buy_hours | d.sell_hours) & b.bits <> 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

/** Adds the hours of `source`, which the days do not hold yet, to the takers of their coins' buckets. */
export const addTakers = (source: string): string => `
INSERT INTO perp_coin_takers AS kept (coin, hours, bucket, buyers, sellers)
${takersOf(`(
  SELECT n.*, coalesce(old.buy_hours, 0) AS bought, coalesce(old.sell_hours, 0) AS sold
  FROM (SELECT r.trader, r.coin, date_trunc('day', r.hour, 'UTC') AS day, ${TAKEN_HOURS.buy_hours} AS buy_hours, ${TAKEN_HOURS.sell_hours} AS sell_hours FROM ${source} r GROUP BY 1, 2, 3) n
  LEFT JOIN perp_trader_day old ON old.trader = n.trader AND old.coin = n.coin AND old.day = n.day
)`)}
ON CONFLICT (coin, hours, bucket) DO UPDATE SET buyers = kept.buyers + EXCLUDED.buyers, sellers = kept.sellers + EXCLUDED.sellers`;

/** Tells all takers of days; the table must be empty. */
export const TELL_TAKERS = `
INSERT INTO perp_coin_takers (coin, hours, bucket, buyers, sellers)
${takersOf('(SELECT *, 0 AS bought, 0 AS sold FROM perp_trader_day WHERE taker_fills > 0)')}`;
