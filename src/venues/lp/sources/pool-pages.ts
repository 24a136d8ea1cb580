import type { PoolType } from '../chain-addresses';
import { barePool, type PoolRow, type TokenRow } from '../store/rows';
import type { PageLoad, Write } from './page-load';
import { address, amount, binStepOf, decimalsOf, instant, isObject, type Json, listOf, text, timeInName } from './record';

/** The pools of a record: a page `{total, pages, data: [Pool]}`, or one Pool. What is neither is handed on, to be counted. */
const poolsOf = (record: unknown): unknown[] => (isObject(record) && Array.isArray(record.data) ? record.data : [record]);

/** Whether the record is a page of pools, or a pool, of the index that serves both programs in one form. */
function isPool(pool: unknown): pool is Json {
  return (
    isObject(pool) && typeof pool.address === 'string' && isObject(pool.token_x) && isObject(pool.token_y) && isObject(pool.pool_config)
  );
}

/** Pools of the bin program have a bin step; those of the other have vaults and a fee mode. */
function poolTypeOf(pool: Json): PoolType {
  return isObject(pool.pool_config) && pool.pool_config.bin_step !== undefined ? 'dlmm' : 'damm_v2';
}

/** Reads the pools, their tokens, their liquidity and the tokens' prices of the page's time. */
export function readPools(records: unknown[], { page, log, writer }: PageLoad, type: PoolType): Write {
  const asOf = timeInName(page.name);
  if (asOf !== null) log.times.as_of = asOf;
  const pools: PoolRow[] = [];
  const tokens: TokenRow[] = [];
  const prices: { mint: string; usd: string; at: Date }[] = [];
  for (const pool of records.flatMap(poolsOf)) {
    const row = isPool(pool) && poolTypeOf(pool) === type ? poolRow(pool, type, asOf) : null;
    if (row === null) {
      log.skip('unusable_pool');
      continue;
    }
    pools.push(row);
    for (const token of [(pool as Json).token_x, (pool as Json).token_y] as Json[]) {
      tokens.push(tokenRow(token));
      const usd = amount(token.price);
      if (usd !== null && Number(usd) > 0 && asOf !== null) prices.push({ mint: token.address as string, usd, at: asOf });
    }
  }
  log.read += pools.length;
  return async () => {
    await writer.tokens(tokens);
    await writer.catalogue(pools, prices);
  };
}

function poolRow(pool: Json, type: PoolType, asOf: Date | null): PoolRow | null {
  const [x, y] = [pool.token_x as Json, pool.token_y as Json];
  const pool_address = address(pool.address);
  const mints = [address(x.address), address(y.address)];
  if (pool_address === null || mints.includes(null)) return null;
  const config = pool.pool_config as Json;
  const cumulative = isObject(pool.cumulative_metrics) ? pool.cumulative_metrics : {};
  return {
    ...barePool(pool_address, type),
    name: text(pool.name),
    mint_x: mints[0] as string,
    mint_y: mints[1] as string,
    bin_step: type === 'dlmm' ? binStepOf(config.bin_step) : null,
    base_fee_pct: amount(config.base_fee_pct),
    created_at: instant(pool.created_at),
    catalogued: true,
    as_of: asOf,
    tvl_usd: amount(pool.tvl),
    lifetime_volume_usd: amount(cumulative.volume),
    lifetime_fees_usd: amount(cumulative.fees),
  };
}

function tokenRow(token: Json): TokenRow {
  return {
    mint: token.address as string,
    symbol: text(token.symbol),
    name: text(token.name),
    decimals: decimalsOf(token.decimals),
    quality: 2,
  };
}

/** Whether the first pool of a record is of this type. */
export function recognisesPools(first: unknown, type: PoolType): boolean {
  const pool = poolsOf(first)[0];
  if (pool === undefined)
    return isObject(first) && listOf(first.data).length === 0 && typeof first.page_size === 'number' && type === 'dlmm';
  return isPool(pool) && poolTypeOf(pool) === type;
}
