import type { PoolClient } from 'pg';
import { storable } from '../../../lib/storable';
import { QUOTE_DECIMALS } from '../chain-addresses';
import { lockRollups } from '../rollups/recount';
import { batchesOf, columnArrays, type Columns, unnestOf } from './insert';
import { type PoolRow, type TokenRow, authorityOf } from './rows';

/** A token as several records show it, with whoever said its decimals. */
type MergedToken = TokenRow & { decimals_by: number };

const TOKEN: Columns<MergedToken & { symbol_key: string | null; name_key: string | null }> = [
  ['mint', 'text'],
  ['symbol', 'text'],
  ['name', 'text'],
  ['symbol_key', 'text'],
  ['name_key', 'text'],
  ['decimals', 'smallint'],
  ['quality', 'smallint'],
  ['decimals_by', 'smallint'],
];

const POOL: Columns<PoolRow> = [
  ['pool_address', 'text'],
  ['pool_type', 'text'],
  ['name', 'text'],
  ['mint_x', 'text'],
  ['mint_y', 'text'],
  ['bin_step', 'integer'],
  ['base_fee_pct', 'numeric'],
  ['created_at', 'timestamptz'],
  ['catalogued', 'boolean'],
  ['as_of', 'timestamptz'],
  ['tvl_usd', 'numeric'],
  ['lifetime_volume_usd', 'numeric'],
  ['lifetime_fees_usd', 'numeric'],
  ['reserve_x', 'numeric'],
  ['reserve_y', 'numeric'],
  ['reserve_at', 'timestamptz'],
];

/** The form in which symbols and names are searched: without the marks nobody sees, which copies of known tokens carry. */
export function searchKey(text: string): string {
  // Some letters are many once they are spelled out.
  return storable(
    text
      .normalize('NFKC')
      .replace(/\p{Cf}/gu, '')
      .trim()
      .toLowerCase(),
  );
}

export interface Learned {
  /** Mints, or addresses, of the rows that are new or changed. */
  changed: string[];
  /** Pools whose earlier facts can be counted in tokens or priced only now. */
  pools: string[];
  /** Pools that are on record only now. */
  made: string[];
}

/** Keeps what the best record says of each token. `pools`: pools of tokens whose decimals became known, or known better. */
export async function saveTokens(client: PoolClient, rows: readonly TokenRow[]): Promise<Learned> {
  const learned: Learned = { changed: [], pools: [], made: [] };
  if (rows.length === 0) return learned;
  // Rows are merged with what stands there: what another feed is changing must be seen changed.
  await lockRollups(client);
  for (const batch of batchesOf(mergedTokens(rows))) {
    const keyed = batch.map((row) => ({
      ...row,
      symbol_key: row.symbol && searchKey(row.symbol),
      name_key: row.name && searchKey(row.name),
    }));
    const { rows: changed } = await client.query<{ mint: string; decimals_new: boolean; decimals_other: boolean }>({
      name: 'lp_save_tokens',
      text: SAVE_TOKENS,
      values: columnArrays(TOKEN, keyed),
    });
    learned.changed.push(...changed.map((row) => row.mint));
    await forgetAmounts(client, changed.filter((row) => row.decimals_other).map((row) => row.mint)); // prettier-ignore
    const mints = changed.filter((row) => row.decimals_new).map((row) => row.mint);
    if (mints.length > 0) {
      const pools = await client.query<{ pool_address: string }>(
        'SELECT pool_address FROM lp_pool WHERE mint_x = ANY($1) OR mint_y = ANY($1)',
        [mints],
      );
      learned.pools.push(...pools.rows.map((row) => row.pool_address));
    }
  }
  return learned;
}

/** Amounts that were counted by other decimals: what learns of a pool's tokens counts them again. */
async function forgetAmounts(client: PoolClient, mints: readonly string[]): Promise<void> {
  if (mints.length === 0) return;
  const pools = 'FROM lp_pool p WHERE (p.mint_x = ANY($1) OR p.mint_y = ANY($1))';
  const unlessStated = (side: string): string => `amount_${side} = CASE WHEN f.raw_${side} IS NULL THEN f.amount_${side} END`;
  await client.query(`UPDATE lp_event f SET ${unlessStated('x')}, ${unlessStated('y')} ${pools} AND f.pool_address = p.pool_address`, [
    mints,
  ]);
  await client.query(`UPDATE lp_swap f SET amount_in = NULL, amount_out = NULL ${pools} AND f.pool_address = p.pool_address`, [mints]);
}

const TOKEN_NAMES = 'mint, symbol, name, symbol_key, name_key, decimals, quality, decimals_by';

/** A row that says nothing new is not touched at all: a conflict would mark even one that it leaves as it is. */
const SAVE_TOKENS = `
WITH merged AS (
  SELECT u.mint, b.better,
    CASE WHEN b.better THEN coalesce(u.symbol, o.symbol) ELSE coalesce(o.symbol, u.symbol) END AS symbol,
    CASE WHEN b.better THEN coalesce(u.name, o.name) ELSE coalesce(o.name, u.name) END AS name,
    CASE WHEN b.better THEN coalesce(u.symbol_key, o.symbol_key) ELSE coalesce(o.symbol_key, u.symbol_key) END AS symbol_key,
    CASE WHEN b.better THEN coalesce(u.name_key, o.name_key) ELSE coalesce(o.name_key, u.name_key) END AS name_key,
    CASE WHEN b.known_better THEN u.decimals ELSE o.decimals END AS decimals,
    greatest(u.quality, o.quality) AS quality,
    greatest(u.decimals_by, o.decimals_by) AS decimals_by,
    b.known_better AND u.decimals IS DISTINCT FROM o.decimals AS decimals_new, b.known_better AND u.decimals <> o.decimals AS decimals_other
  FROM ${unnestOf(TOKEN, 'u')}
  LEFT JOIN lp_token o ON o.mint = u.mint
  CROSS JOIN LATERAL (SELECT u.quality >= coalesce(o.quality, 0) AS better,
    u.decimals IS NOT NULL AND (o.decimals IS NULL OR (u.decimals_by, u.decimals) > (o.decimals_by, o.decimals)) AS known_better) b
), saved AS (
  INSERT INTO lp_token (${TOKEN_NAMES})
  SELECT ${TOKEN_NAMES} FROM merged EXCEPT SELECT ${TOKEN_NAMES} FROM lp_token WHERE mint = ANY($1)
  ON CONFLICT (mint) DO UPDATE SET symbol = EXCLUDED.symbol, name = EXCLUDED.name, symbol_key = EXCLUDED.symbol_key, name_key = EXCLUDED.name_key,
    decimals = EXCLUDED.decimals, quality = EXCLUDED.quality, decimals_by = EXCLUDED.decimals_by
  RETURNING mint
)
SELECT mint, decimals_new, decimals_other FROM saved JOIN merged USING (mint)`;

function mergedTokens(rows: readonly TokenRow[]): MergedToken[] {
  const merged = new Map<string, MergedToken>();
  for (const record of rows) {
    // What was evidence of a price by wrong ones would stay so.
    const decimals = record.decimals === null ? null : (QUOTE_DECIMALS[record.mint] ?? record.decimals);
    const row = { ...record, decimals, decimals_by: authorityOf(record) };
    const seen = merged.get(row.mint);
    if (seen === undefined) merged.set(row.mint, row);
    else {
      const [better, other] = row.quality >= seen.quality ? [row, seen] : [seen, row];
      const { decimals, decimals_by } = knowsBetter(row, seen) ? row : seen;
      merged.set(row.mint, { ...better, symbol: better.symbol ?? other.symbol, name: better.name ?? other.name, decimals, decimals_by });
    }
  }
  return [...merged.values()];
}

/** As the store compares them: of two decimals that are said with the same authority always the same stay. */
const knowsBetter = (a: MergedToken, b: MergedToken): boolean =>
  a.decimals_by !== b.decimals_by ? a.decimals_by > b.decimals_by : (a.decimals ?? 0) > (b.decimals ?? 0);

/** Keeps what is known of each pool. `pools`: pools whose tokens or bins became known. */
export async function savePools(client: PoolClient, rows: readonly PoolRow[]): Promise<Learned> {
  const learned: Learned = { changed: [], pools: [], made: [] };
  if (rows.length === 0) return learned;
  await lockRollups(client);
  for (const batch of batchesOf(mergedPools(rows))) {
    const { rows: changed } = await client.query<{ pool_address: string; facts_new: boolean; made: boolean }>({
      name: 'lp_save_pools',
      text: SAVE_POOLS,
      values: columnArrays(POOL, batch),
    });
    learned.changed.push(...changed.map((row) => row.pool_address));
    learned.pools.push(...changed.filter((row) => row.facts_new).map((row) => row.pool_address));
    learned.made.push(...changed.filter((row) => row.made).map((row) => row.pool_address));
  }
  return learned;
}

const FIGURES = ['tvl_usd', 'lifetime_volume_usd', 'lifetime_fees_usd'] as const;

/** Of records of one instant the larger figure stays, whichever comes first. */
const figure = (name: string): string =>
  `CASE WHEN NOT r.record THEN o.${name} WHEN u.as_of = o.as_of THEN greatest(u.${name}, o.${name}) ELSE coalesce(u.${name}, o.${name}) END`;

/** A record that says nothing leaves what another said. */
const word = (name: string): string =>
  `CASE WHEN r.record THEN coalesce(u.${name}, o.${name}) ELSE coalesce(o.${name}, u.${name}) END AS ${name}`;

const POOL_NAMES = `pool_address, pool_type, name, mint_x, mint_y, bin_step, base_fee_pct, created_at, catalogued, as_of, tvl_usd, lifetime_volume_usd,
  lifetime_fees_usd, reserve_x, reserve_y, reserve_at, swaps_seen`;

/**
 * A catalogue record replaces an older one, or one of unknown age, and never the other way round; reserves are those of the newest event. Of a newer record
 * that says the same its time is kept, by which one that comes late is known as older.
 */
const SAVE_POOLS = `
WITH merged AS (
  SELECT u.pool_address, coalesce(o.pool_type, u.pool_type) AS pool_type, ${word('name')},
    coalesce(o.mint_x, u.mint_x) AS mint_x, coalesce(o.mint_y, u.mint_y) AS mint_y, coalesce(o.bin_step, u.bin_step) AS bin_step,
    ${word('base_fee_pct')}, least(o.created_at, u.created_at) AS created_at,
    u.catalogued OR coalesce(o.catalogued, false) AS catalogued, greatest(o.as_of, u.as_of) AS as_of,
    ${FIGURES.map((name) => `${figure(name)} AS ${name}`).join(', ')},
    CASE WHEN r.reserves THEN u.reserve_x ELSE o.reserve_x END AS reserve_x,
    CASE WHEN r.reserves THEN u.reserve_y ELSE o.reserve_y END AS reserve_y,
    CASE WHEN r.reserves THEN u.reserve_at ELSE o.reserve_at END AS reserve_at,
    coalesce(o.swaps_seen, false) AS swaps_seen,
    o.pool_address IS NOT NULL AND ((o.mint_x IS NULL AND u.mint_x IS NOT NULL) OR (o.bin_step IS NULL AND u.bin_step IS NOT NULL)) AS facts_new,
    o.pool_address IS NULL AS made
  FROM ${unnestOf(POOL, 'u')}
  LEFT JOIN lp_pool o ON o.pool_address = u.pool_address
  CROSS JOIN LATERAL (SELECT
    u.catalogued AND (o.as_of IS NULL OR coalesce(u.as_of >= o.as_of, false)) AS record,
    u.reserve_at IS NOT NULL AND u.reserve_at >= coalesce(o.reserve_at, u.reserve_at) AS reserves) r
), saved AS (
  INSERT INTO lp_pool (${POOL_NAMES})
  SELECT ${POOL_NAMES} FROM merged EXCEPT SELECT ${POOL_NAMES} FROM lp_pool WHERE pool_address = ANY($1)
  ON CONFLICT (pool_address) DO UPDATE SET name = EXCLUDED.name, mint_x = EXCLUDED.mint_x, mint_y = EXCLUDED.mint_y, bin_step = EXCLUDED.bin_step,
    base_fee_pct = EXCLUDED.base_fee_pct, created_at = EXCLUDED.created_at, catalogued = EXCLUDED.catalogued, as_of = EXCLUDED.as_of, tvl_usd = EXCLUDED.tvl_usd,
    lifetime_volume_usd = EXCLUDED.lifetime_volume_usd, lifetime_fees_usd = EXCLUDED.lifetime_fees_usd, reserve_x = EXCLUDED.reserve_x,
    reserve_y = EXCLUDED.reserve_y, reserve_at = EXCLUDED.reserve_at
  RETURNING pool_address
)
SELECT pool_address, facts_new, made FROM saved JOIN merged USING (pool_address)`;

function mergedPools(rows: readonly PoolRow[]): PoolRow[] {
  const merged = new Map<string, PoolRow>();
  for (const row of rows) {
    const seen = merged.get(row.pool_address);
    merged.set(row.pool_address, seen === undefined ? row : mergePool(seen, row));
  }
  return [...merged.values()];
}

const earlier = (a: Date | null, b: Date | null): Date | null => (b === null || (a !== null && a < b) ? a : b);

const larger = (a: string | null, b: string | null): string | null => (b === null || Number(a ?? -1) > Number(b) ? a : b);

function mergePool(a: PoolRow, b: PoolRow): PoolRow {
  const reserves = b.reserve_at !== null && (a.reserve_at === null || b.reserve_at >= a.reserve_at) ? b : a;
  const [record, other] = b.catalogued ? [b, a] : [a, b];
  return {
    ...record,
    ...(a.catalogued && b.catalogued ? Object.fromEntries(FIGURES.map((name) => [name, larger(a[name], b[name])])) : {}),
    name: record.name ?? other.name,
    mint_x: record.mint_x ?? other.mint_x,
    mint_y: record.mint_y ?? other.mint_y,
    bin_step: record.bin_step ?? other.bin_step,
    created_at: earlier(record.created_at, other.created_at),
    reserve_x: reserves.reserve_x,
    reserve_y: reserves.reserve_y,
    reserve_at: reserves.reserve_at,
  };
}

/** How many of these pools' making is on record; the same pool twice counts as known the second time. */
export async function knownBirths(client: PoolClient, pools: readonly string[]): Promise<number> {
  if (pools.length === 0) return 0;
  const distinct = new Set(pools);
  const { rows } = await client.query<{ n: string }>(
    'SELECT count(*) AS n FROM lp_pool WHERE pool_address = ANY($1) AND created_at IS NOT NULL',
    [[...distinct]],
  );
  return Number(rows[0]?.n ?? 0) + pools.length - distinct.size;
}
