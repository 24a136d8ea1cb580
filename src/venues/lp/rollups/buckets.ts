/** Start of the hour of an instant, as SQL. */
export const hourOf = (time: string): string => `date_trunc('hour', ${time}, 'UTC')`;

/** Columns of lp_owner_hour in the order of `ownerHours`. */
export const OWNER_HOUR =
  'pool_address, hour, owner, pool_type, deposits, withdrawals, claims, deposit_usd, withdraw_usd, claim_usd, unpriced, first_at, last_at';

const count = (kind: string): string => `count(*) FILTER (WHERE e.kind = '${kind}')::int`;
const usd = (kind: string): string => `coalesce(sum(e.usd) FILTER (WHERE e.kind = '${kind}'), 0)`;

/** What providers did, over `lp_event e`: columns in the order of SUMS. */
export const sumsOfEvents = `
  ${count('deposit')} AS deposits, ${count('withdraw')} AS withdrawals, ${count('claim')} AS claims,
  ${usd('deposit')} AS deposit_usd, ${usd('withdraw')} AS withdraw_usd, ${usd('claim')} AS claim_usd,
  count(*) FILTER (WHERE e.usd IS NULL)::int AS unpriced, min(e."timestamp") AS first_at, max(e."timestamp") AS last_at`;

/** Hours of providers, from the facts of `source`: a FROM item, and join, over `lp_event e`. */
export const ownerHours = (source: string): string => `
SELECT e.pool_address, ${hourOf('e."timestamp"')} AS hour, coalesce(e.owner, '') AS owner, min(e.pool_type) AS pool_type, ${sumsOfEvents}
FROM ${source} GROUP BY e.pool_address, ${hourOf('e."timestamp"')}, coalesce(e.owner, '')`;

/** Hours of pools, whoever the provider, from the same. */
export const flowHoursOf = (source: string): string => `
SELECT e.pool_address, ${hourOf('e."timestamp"')} AS hour, min(e.pool_type) AS pool_type, ${sumsOfEvents}
FROM ${source} GROUP BY e.pool_address, ${hourOf('e."timestamp"')}`;

/** The sums of all pools of a type, from the same. */
export const typeSumsOf = (source: string): string => `
SELECT e.pool_type, ${sumsOfEvents}
FROM ${source} GROUP BY e.pool_type`;

/** Columns of lp_pool_hour in the order of `poolHours`. */
export const POOL_HOUR = 'pool_address, hour, swaps, unpriced, swap_usd, swap_fee_usd, stated_usd, stated_fee_usd, first_at';

/** Hours of pools, from the quarters of an hour of `seen` (over `lp_pool_bar b`) and the stated hours of `stated` (over `lp_volume_hour v`). */
export const poolHours = (seen: string, stated: string): string => `
SELECT pool_address, hour, sum(swaps)::int, sum(unpriced)::int, sum(swap_usd), sum(swap_fee_usd), sum(stated_usd), sum(stated_fee_usd), min(first_at) FROM (
  SELECT b.pool_address, ${hourOf('b.bar')} AS hour, b.swaps, b.unpriced, b.usd AS swap_usd, b.fee_usd AS swap_fee_usd, NULL::numeric AS stated_usd,
    NULL::numeric AS stated_fee_usd, b.first_at
  FROM ${seen}
  UNION ALL SELECT v.pool_address, v.hour, 0, 0, NULL, NULL, v.volume_usd, v.fees_usd - coalesce(v.protocol_fees_usd, 0), v.hour FROM ${stated}
) h GROUP BY pool_address, hour`;
