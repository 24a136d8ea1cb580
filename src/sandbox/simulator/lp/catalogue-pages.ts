import { DAY_MS, HOUR_MS } from '../../../lib/time';
import type { WorldPage } from '../world';
import { priceOf, type Token } from './market';
import { MEAN_SWAP_USD } from './yield';
import { feeAt, type Pool, type Roster } from './roster';
import { swapsExpected } from './swaps';

/** The whole catalogue is asked for this often. */
const SNAPSHOT = 12 * HOUR_MS;
const PAGE_SIZE = 1_000;

/** `2026-03-11T12-00-00Z`: the time of a page, in its name. */
export const stampOf = (time: number): string => new Date(time).toISOString().slice(0, 19).replace(/:/g, '-') + 'Z';

/** Catalogue pages told in [from, to): the token list and all pools at first, what is launched, and snapshots. */
export function cataloguePages(roster: Roster, from: number, to: number, tvlOf: (pool: Pool, time: number) => number): WorldPage[] {
  const pages: { time: number; page: WorldPage }[] = [];
  if (from <= roster.start && roster.start < to)
    pages.push({
      time: roster.start,
      page: tokenPage(
        roster.tokens.filter((token) => token.created <= roster.start),
        roster.start,
      ),
    });
  for (const token of roster.tokens)
    if (token.created > roster.start && inside(token.created)) pages.push({ time: token.created, page: tokenPage([token], token.created) });
  for (const pool of roster.pools)
    if (pool.created > roster.start && inside(pool.created)) pages.push(...poolPages(roster, [pool], pool.created, tvlOf));
  const first = roster.start + Math.ceil((Math.max(from, roster.start) - roster.start) / SNAPSHOT) * SNAPSHOT;
  for (let time = first; time < to; time += SNAPSHOT)
    pages.push(
      ...poolPages(
        roster,
        roster.pools.filter((pool) => pool.created <= time),
        time,
        tvlOf,
      ),
    );
  return pages.sort((a, b) => a.time - b.time).map(({ page }) => page);

  function inside(time: number): boolean {
    return time >= from && time < to;
  }
}

/** Rows of every pool there is at an instant, as the index would show them then. */
export function poolsAt(roster: Roster, time: number, tvlOf: (pool: Pool, time: number) => number): Record<string, unknown>[] {
  return roster.pools.filter((pool) => pool.created <= time).map((pool) => poolRow(roster, pool, time, tvlOf(pool, time)));
}

function tokenPage(tokens: readonly Token[], time: number): WorldPage {
  const records = tokens.map(({ mint, symbol, name, decimals }) => ({ address: mint.text, name, symbol, decimals, tags: [] }));
  return { name: `tokens_${stampOf(time)}.json`, format: 'json', records, facts: records.length };
}

function poolPages(
  roster: Roster,
  pools: readonly Pool[],
  time: number,
  tvlOf: (pool: Pool, time: number) => number,
): { time: number; page: WorldPage }[] {
  return (['dlmm', 'damm_v2'] as const).flatMap((type) => {
    const rows = pools.filter((pool) => pool.type === type).map((pool) => poolRow(roster, pool, time, tvlOf(pool, time)));
    if (rows.length === 0) return [];
    const records = Array.from({ length: Math.ceil(rows.length / PAGE_SIZE) }, (_, page) => ({
      total: rows.length,
      pages: Math.ceil(rows.length / PAGE_SIZE),
      current_page: page + 1,
      page_size: PAGE_SIZE,
      data: rows.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE),
    }));
    return [{ time, page: { name: `${type}_pools_${stampOf(time)}.json`, format: 'json' as const, records, facts: rows.length } }];
  });
}

function poolRow(roster: Roster, pool: Pool, time: number, tvl: number): Record<string, unknown> {
  const [px, py] = [priceOf(roster.seed, pool.x, time), priceOf(roster.seed, pool.y, time)];
  const daily = 24 * swapsExpected(roster, pool, time) * MEAN_SWAP_USD;
  const lifetime = (daily * Math.max(0, time - pool.created)) / DAY_MS;
  const config =
    pool.type === 'dlmm'
      ? { bin_step: pool.bin_step, base_fee_pct: percent(pool.fee), max_fee_pct: 10, protocol_fee_pct: 5, collect_fee_mode: 0 }
      : {
          base_fee_mode: pool.launch_fee ? 1 : 0,
          base_fee_pct: percent(pool.fee),
          protocol_fee_pct: 20,
          dynamic_fee_initialized: false,
          concentrated_liquidity: false,
        };
  return {
    address: pool.key.text,
    name: `${pool.x.symbol}-${pool.y.symbol}`,
    token_x: tokenRow(pool.x, px),
    token_y: tokenRow(pool.y, py),
    token_x_amount: tvl / 2 / px,
    token_y_amount: tvl / 2 / py,
    pool_config: config,
    dynamic_fee_pct: percent(feeAt(pool, time)),
    current_price: px / py,
    tvl: Number(tvl.toFixed(2)),
    fees: { '24h': Number((daily * pool.fee).toFixed(2)) },
    volume: { '24h': Number(daily.toFixed(2)) },
    cumulative_metrics: { fees: Number((lifetime * pool.fee).toFixed(2)), volume: Number(lifetime.toFixed(2)) },
    created_at: Math.floor(pool.created / 1000),
    is_blacklisted: false,
    ...(pool.type === 'damm_v2' && { vault_x: null, vault_y: null, alpha_vault: null }),
  };
}

const percent = (share: number): number => Number((share * 100).toFixed(4));

const tokenRow = (token: Token, price: number): Record<string, unknown> => ({
  address: token.mint.text,
  symbol: token.symbol,
  name: token.name,
  decimals: token.decimals,
  price: Number(price.toPrecision(10)),
  is_verified: token.volatility < 1.5,
});
