/** Columns of a position's sums, in the order of the select list. */
export const POSITION_COLUMNS = [
  'pool_address',
  'position_address',
  'pool_type',
  'owner',
  'event_count',
  'deposits',
  'unpriced',
  'uncounted',
  'deposited_usd',
  'withdrawn_usd',
  'claimed_usd',
  'deposited_x',
  'deposited_y',
  'withdrawn_x',
  'withdrawn_y',
  'opened_at',
  'closed_at',
  'first_at',
  'last_at',
  'changed_at',
] as const;

const sumOf = (column: string, kind: string): string => `coalesce(sum(e.${column}) FILTER (WHERE e.kind = '${kind}'), 0)`;
const newestOwner = (condition: string): string =>
  `(array_agg(e.owner ORDER BY e."timestamp" DESC, e.slot DESC NULLS LAST, e.tx_id DESC, e.outer_ix DESC, e.inner_ix DESC) FILTER (WHERE ${condition}))[1]`;
/** Of legs whose newest events are of one second the one of the later slot, and of one slot always the same. */
const newestLeg = (column: string): string =>
  `(array_agg(${column} ORDER BY last_at DESC, last_slot DESC NULLS LAST, last_tx DESC, rebalance) FILTER (WHERE ${column} IS NOT NULL))[1] AS ${column}`;
/** The part of `a` that is not given back by `b` in the same rebalance; all of `a` elsewhere. */
const net = (a: string, b: string): string => `sum(CASE WHEN rebalance THEN greatest(${a} - ${b}, 0) ELSE ${a} END)`;

/**
 * Whether the first fact of `s` is a deposit, where a deposit is of its first second: the place on the chain tells. What is put in again, of what was taken out
 * or claimed in the same place, is no beginning.
 */
const BEGINS_WITH_DEPOSIT = `(s.first_other_at IS DISTINCT FROM s.first_at OR (SELECT f.kind FROM lp_event f
    WHERE f.pool_address = s.pool_address AND f.position_address = s.position_address AND f."timestamp" = s.first_at
    ORDER BY f.slot, f.tx_id, f.outer_ix, f.inner_ix, f.kind = 'deposit' LIMIT 1) = 'deposit')`;

/**
 * Whether the last that was done to `s` is a deposit, where one and a withdrawal are of its last second: the place on the chain tells. What a rebalance puts in
 * comes after what it takes out.
 */
const ENDS_WITH_DEPOSIT = `CASE WHEN s.last_withdraw_at = s.last_deposit_at THEN (SELECT f.kind FROM lp_event f
    WHERE f.pool_address = s.pool_address AND f.position_address = s.position_address AND f."timestamp" = s.last_deposit_at AND f.kind <> 'claim'
    ORDER BY f.slot DESC NULLS LAST, f.tx_id DESC, f.outer_ix DESC, f.inner_ix DESC, f.rebalance = (f.kind = 'deposit') DESC LIMIT 1) = 'deposit' ELSE s.last_withdraw_at < s.last_deposit_at END`;

/**
 * Select of the sums of the positions that `source` names (a FROM item and join over `lp_event e`), from the facts before
 * `before` (SQL of an instant; all facts when null).
 *
 * The two legs of a rebalance net out, token by token and in USD. A position is closed by its close event, else when
 * its liquidity has gone: by liquidity where every flow tells it, by both tokens' amounts otherwise. What is deposited after a close, or after the last
 * withdrawal, opens the position again: an address made from its owner, pool and bins comes back with them.
 * A position of a damm_v2 pool changes hands: it is whose its last event says, in one second by the place on the chain; once it is closed, whoever
 * claims later, whose it was then.
 * A position whose first fact is no deposit was opened before we looked, at an unknown time, and so was one of which more liquidity was taken out than put
 * in: what it cost was not all seen. An opening seen later is one at its address again.
 */
export function positionSums(source: string, before: string | null): string {
  // Of closes the newest is kept: of one that came later, an earlier one may have come before.
  const closed =
    before === null
      ? 'p.closed_at'
      : `CASE WHEN p.closed_at < ${before} THEN p.closed_at WHEN p.closed_at IS NOT NULL THEN
    (SELECT max(e."timestamp") FROM lp_position_event e WHERE e.position_address = s.position_address AND e.kind = 'close' AND e."timestamp" < ${before}) END`;
  // Its milliseconds are the slot's: facts and closes are of whole seconds. Of an open position that changes hands it is a change: before it, it was somebody else's.
  const named = "date_trunc('second', p.owner_at)";
  const namedAt = before === null ? named : `CASE WHEN ${named} < ${before} THEN ${named} END`;
  return `
SELECT s.pool_address, s.position_address, s.pool_type,
  CASE WHEN s.owner IS NULL OR s.pool_type = 'dlmm' THEN coalesce(p.owner, s.owner) WHEN c.closed_at <= s.last_at OR c.closed_at < ${namedAt} THEN coalesce(s.mover, s.owner)
    WHEN ${namedAt} > s.last_at THEN coalesce(p.owner, s.owner) ELSE s.owner END AS owner, s.event_count, s.deposits, s.unpriced, s.uncounted,
  s.deposited_usd, s.withdrawn_usd, s.claimed_usd, s.deposited_x, s.deposited_y, s.withdrawn_x, s.withdrawn_y,
  CASE WHEN p.opened_at <= s.first_at THEN p.opened_at WHEN s.first_deposit_at = s.first_at AND coalesce(s.liquidity, 0) >= 0 AND ${BEGINS_WITH_DEPOSIT} THEN s.first_at END AS opened_at,
  c.closed_at, s.first_at, s.last_at,
  greatest(s.last_at, c.closed_at, CASE WHEN s.pool_type <> 'dlmm' AND c.closed_at IS NULL THEN ${namedAt} END) AS changed_at
FROM (
  SELECT pool_address, position_address, min(pool_type) AS pool_type, ${newestLeg('owner')}, ${newestLeg('mover')},
    sum(n)::int AS event_count, sum(deposits)::int AS deposits, sum(unpriced)::int AS unpriced, sum(uncounted)::int AS uncounted,
    ${net('deposit_usd', 'withdraw_usd')} AS deposited_usd, ${net('withdraw_usd', 'deposit_usd')} AS withdrawn_usd, sum(claim_usd) AS claimed_usd,
    ${net('deposit_x', 'withdraw_x')} AS deposited_x, ${net('deposit_y', 'withdraw_y')} AS deposited_y,
    ${net('withdraw_x', 'deposit_x')} AS withdrawn_x, ${net('withdraw_y', 'deposit_y')} AS withdrawn_y,
    CASE WHEN sum(unmeasured) = 0 THEN sum(liquidity) END AS liquidity,
    least(min(first_deposit_at), min(first_other_at)) AS first_at, max(last_at) AS last_at, min(first_deposit_at) AS first_deposit_at, min(first_other_at) AS first_other_at, max(last_deposit_at) AS last_deposit_at, max(last_withdraw_at) AS last_withdraw_at
  FROM (
    SELECT e.pool_address, e.position_address, e.rebalance, min(e.pool_type) AS pool_type,
      ${newestOwner('e.owner IS NOT NULL')} AS owner, ${newestOwner("e.owner IS NOT NULL AND e.kind <> 'claim'")} AS mover,
      count(*) AS n, count(*) FILTER (WHERE e.kind = 'deposit') AS deposits, count(*) FILTER (WHERE e.usd IS NULL) AS unpriced,
      count(*) FILTER (WHERE e.kind <> 'claim' AND (e.amount_x IS NULL OR e.amount_y IS NULL)) AS uncounted,
      ${sumOf('usd', 'deposit')} AS deposit_usd, ${sumOf('usd', 'withdraw')} AS withdraw_usd, ${sumOf('usd', 'claim')} AS claim_usd,
      ${sumOf('amount_x', 'deposit')} AS deposit_x, ${sumOf('amount_y', 'deposit')} AS deposit_y,
      ${sumOf('amount_x', 'withdraw')} AS withdraw_x, ${sumOf('amount_y', 'withdraw')} AS withdraw_y,
      count(*) FILTER (WHERE e.kind <> 'claim' AND e.liquidity_delta IS NULL) AS unmeasured, coalesce(sum(e.liquidity_delta), 0) AS liquidity,
      min(e."timestamp") FILTER (WHERE e.kind <> 'deposit') AS first_other_at, max(e."timestamp") AS last_at, max(e.slot) AS last_slot, max(e.tx_id) AS last_tx,
      min(e."timestamp") FILTER (WHERE e.kind = 'deposit') AS first_deposit_at,
      max(e."timestamp") FILTER (WHERE e.kind = 'deposit') AS last_deposit_at, max(e."timestamp") FILTER (WHERE e.kind = 'withdraw') AS last_withdraw_at
    FROM ${source} WHERE e.position_address <> '' ${before === null ? '' : `AND e."timestamp" < ${before}`}
    GROUP BY e.pool_address, e.position_address, e.rebalance, CASE WHEN e.rebalance THEN e.tx_id END
  ) legs GROUP BY pool_address, position_address
) s
LEFT JOIN lp_position p ON p.position_address = s.position_address
CROSS JOIN LATERAL (SELECT ${closed} AS at) close
CROSS JOIN LATERAL (SELECT coalesce(CASE WHEN s.last_deposit_at > close.at THEN NULL ELSE close.at END, CASE
  WHEN s.last_withdraw_at IS NULL OR ${ENDS_WITH_DEPOSIT} THEN NULL
  WHEN s.liquidity IS NOT NULL THEN CASE WHEN s.liquidity <= 0 THEN s.last_withdraw_at END
  WHEN s.deposits > 0 AND s.uncounted = 0 AND s.withdrawn_x >= s.deposited_x AND s.withdrawn_y >= s.deposited_y THEN s.last_withdraw_at END) AS closed_at) c`;
}
