import type { RecordedSource } from '../../../workers/source';
import { barePool, type PoolRow, type TokenRow } from '../store/rows';
import { loadPage, type PageLoad, type Write } from './page-load';
import { address, amount, binStepOf, isObject, type Json, text, timeInName } from './record';

/** The older list of the bin program: `/pair/all` (an array of PairInfo) and `/pair/all_with_pagination` (`{pairs, total}`). */
export const dlmmPairs: RecordedSource = {
  name: 'lp.dlmm_pairs',
  recognises: (first) => pairsOf(first).slice(0, 1).some(isPair),
  load: (page, client, options) => loadPage('lp.dlmm_pairs', page, client, options, readPairs),
};

const pairsOf = (record: unknown): unknown[] => (isObject(record) && Array.isArray(record.pairs) ? record.pairs : [record]);

const isPair = (pair: unknown): pair is Json =>
  isObject(pair) && 'mint_x' in pair && 'mint_y' in pair && 'bin_step' in pair && 'address' in pair;

function readPairs(records: unknown[], { page, log, writer }: PageLoad): Write {
  const asOf = timeInName(page.name);
  if (asOf !== null) log.times.as_of = asOf;
  const pools: PoolRow[] = [];
  const tokens: TokenRow[] = [];
  for (const pair of records.flatMap(pairsOf)) {
    const row = isPair(pair) ? poolRow(pair, asOf) : null;
    if (row === null) log.skip('unusable_pool');
    else {
      pools.push(row);
      tokens.push(...tokensOf(row));
    }
  }
  log.read += pools.length;
  return async () => {
    await writer.tokens(tokens);
    await writer.catalogue(pools, []);
  };
}

function poolRow(pair: Json, asOf: Date | null): PoolRow | null {
  const pool_address = address(pair.address);
  const mint_x = address(pair.mint_x);
  const mint_y = address(pair.mint_y);
  if (pool_address === null || mint_x === null || mint_y === null) return null;
  return {
    ...barePool(pool_address, 'dlmm'),
    name: text(pair.name),
    mint_x,
    mint_y,
    bin_step: binStepOf(pair.bin_step),
    base_fee_pct: amount(pair.base_fee_percentage),
    catalogued: true,
    as_of: asOf,
    tvl_usd: amount(pair.liquidity),
    lifetime_volume_usd: amount(pair.cumulative_trade_volume),
    lifetime_fees_usd: amount(pair.cumulative_fee_volume),
  };
}

/**
 * This list has no symbols but in the pair's name, `X-Y`. Symbols may hold a dash themselves, so only a name with exactly
 * one is taken at its word; a token list corrects it later.
 */
function tokensOf({ name, mint_x, mint_y }: PoolRow): TokenRow[] {
  const parts = name?.split('-').map((part) => part.trim()) ?? [];
  const [x, y] = parts.length === 2 && parts.every((part) => part !== '') ? parts : [];
  const token = (mint: string | null, symbol: string | undefined): TokenRow => ({
    mint: mint as string,
    symbol: symbol ?? null,
    name: null,
    decimals: null,
    quality: 1,
  });
  return [token(mint_x, x), token(mint_y, y)];
}
