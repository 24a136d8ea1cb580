import { type PoolRow, type TokenRow, authorityOf } from './rows';

/** So many tokens and pools are remembered; what is forgotten is said again. */
const MOST_KNOWN = 100_000;

/** Of what a pool's row says beside its reserves. */
const WORDS = ['name', 'mint_x', 'mint_y', 'bin_step', 'base_fee_pct', 'tvl_usd', 'lifetime_volume_usd', 'lifetime_fees_usd'] as const;

/**
 * What one transaction has already said of tokens and pools: every swap names them, and to say the same of them again changes nothing. Records of
 * catalogues are always said: they replace what was known.
 */
export class KnownCatalogue {
  /** Mint -> with which authority its decimals were said. */
  private readonly tokens = new Map<string, number>();
  private readonly pools = new Map<string, PoolRow>();
  /** Months whose partitions are there. */
  readonly months = new Set<string>();

  /** Those of the tokens that say anything new. */
  newTokens(rows: readonly TokenRow[]): TokenRow[] {
    if (this.tokens.size > MOST_KNOWN) this.tokens.clear();
    return rows.filter((row) => {
      const [known, authority] = [this.tokens.get(row.mint), authorityOf(row)];
      if (known !== undefined && row.quality === 0 && row.symbol === null && row.name === null && authority <= known) return false;
      this.tokens.set(row.mint, Math.max(known ?? 0, authority));
      return true;
    });
  }

  /** Those of the pools that say anything new. */
  newPools(rows: readonly PoolRow[]): PoolRow[] {
    if (this.pools.size > MOST_KNOWN) this.pools.clear();
    return rows.filter((row) => {
      const known = this.pools.get(row.pool_address);
      const repeats = WORDS.every((word) => row[word] === null || row[word] === known?.[word]);
      if (known !== undefined && repeats && !row.catalogued && row.as_of === null && row.created_at === null && row.reserve_at === null)
        return false;
      this.pools.set(row.pool_address, row);
      return true;
    });
  }
}
