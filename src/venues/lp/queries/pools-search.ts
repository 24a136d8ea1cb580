import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { searchKey } from '../store/catalogue';
import { FEW_POOLS, firstPools } from './first-pools';
import { ownerCounts } from './presence';
import { type Filter, flowsIn, ofPools, swapsIn, swapsToldBefore } from './span';
import { spanOf } from './window-span';

export interface PoolsSearchArgs {
  query: string;
  /** Null: both. */
  pool_type: PoolType | null;
  limit: number;
  /** Window of volume and counts. */
  window: Window;
}

export type SearchMatch = 'exact' | 'prefix' | 'substring';
const MATCHES: readonly SearchMatch[] = ['exact', 'prefix', 'substring'];

/** Numeric columns are decimal text, counts too. */
export interface FoundPoolRow {
  pool_address: string;
  rank: number;
  /** Null when neither stated nor seen. */
  volume_usd: string | null;
  event_count: string;
  unique_lps: string;
  /** Swaps of the window without USD. */
  unpriced: string;
  swaps_seen: boolean;
  created_at: Date | null;
}

/** More ways to cut a query into two tokens than this are not tried. */
const SPLITS_AT_MOST = 6;

interface Words {
  split: number[];
  side: string[];
  key: string[];
  pattern: string[];
  raw: string[];
}

/** The query as one word (split 0, side `s`) and as every pair of words around a dash or slash (`l` and `r`). */
function wordsOf(query: string): Words {
  const words: Words = { split: [], side: [], key: [], pattern: [], raw: [] };
  const add = (split: number, side: string, text: string): void => {
    words.split.push(split);
    words.side.push(side);
    words.key.push(searchKey(text));
    words.pattern.push(searchKey(text).replace(/[\\%_]/g, '\\$&'));
    words.raw.push(text);
  };
  const text = query.trim();
  if (searchKey(text) !== '') add(0, 's', text);
  let splits = 0;
  for (const { index } of text.matchAll(/[-/]/g)) {
    const [left, right] = [text.slice(0, index).trim(), text.slice(index + 1).trim()];
    if (searchKey(left) === '' || searchKey(right) === '' || splits === SPLITS_AT_MOST) continue;
    splits += 1;
    add(splits, 'l', left);
    add(splits, 'r', right);
  }
  return words;
}

/** Tokens of a word, the wider the tier. Exact and prefix run on indexes; the substring tier reads all tokens. */
const TOKEN_OF_WORD = [
  't.mint = w.raw OR t.symbol_key = w.key OR t.name_key = w.key',
  `t.mint = w.raw OR t.symbol_key LIKE w.pattern || '%' OR t.name_key LIKE w.pattern || '%'`,
  `t.mint = w.raw OR t.symbol_key LIKE '%' || w.pattern || '%' OR t.name_key LIKE '%' || w.pattern || '%'`,
] as const;

/** Pools of a table of the statement. */
const of =
  (table: string): Filter =>
  (alias) =>
    `AND ${alias}.pool_address IN (SELECT pool_address FROM ${table})`;

type Tier = 0 | 1 | 2;

/** Common table expressions that end in `best`: the pools that fit the words and the type, the parameters from `$at` on, and `filter`, with how well. */
const fitting = (tier: Tier, at: number, now: string, filter: Filter = () => ''): string => `
WITH words AS (
  SELECT * FROM unnest($${at}::int[], $${at + 1}::text[], $${at + 2}::text[], $${at + 3}::text[], $${at + 4}::text[]) AS w(split, side, key, pattern, raw)
), tokens AS (
  SELECT w.split, w.side, t.mint, CASE
    WHEN t.mint = w.raw OR t.symbol_key = w.key OR t.name_key = w.key THEN 0
    WHEN t.symbol_key LIKE w.pattern || '%' OR t.name_key LIKE w.pattern || '%' THEN 1 ELSE 2 END AS rank
  FROM words w JOIN lp_token t ON ${TOKEN_OF_WORD[tier]}
), hits AS (
  SELECT p.pool_address, 0 AS rank FROM words w JOIN lp_pool p ON p.pool_address = w.raw WHERE w.side = 's'
  UNION ALL SELECT p.pool_address, t.rank FROM tokens t JOIN lp_pool p ON p.mint_x = t.mint WHERE t.side = 's'
  UNION ALL SELECT p.pool_address, t.rank FROM tokens t JOIN lp_pool p ON p.mint_y = t.mint WHERE t.side = 's'
  UNION ALL SELECT p.pool_address, greatest(l.rank, r.rank) FROM tokens l JOIN lp_pool p ON p.mint_x = l.mint JOIN tokens r ON r.mint = p.mint_y
    WHERE l.side = 'l' AND r.side = 'r' AND l.split = r.split
  UNION ALL SELECT p.pool_address, greatest(l.rank, r.rank) FROM tokens l JOIN lp_pool p ON p.mint_y = l.mint JOIN tokens r ON r.mint = p.mint_x
    WHERE l.side = 'l' AND r.side = 'r' AND l.split = r.split
), best AS (
  SELECT h.pool_address, min(h.rank) AS rank FROM hits h JOIN lp_pool p ON p.pool_address = h.pool_address
  WHERE ($${at + 5}::text IS NULL OR p.pool_type = $${at + 5}) AND (p.created_at IS NULL OR p.created_at <= ${now}::timestamptz) ${filter('h')}
  GROUP BY h.pool_address
)`;

/** How many pools the words fit exactly, and how many up to the prefix. */
const COUNTS: Statement = {
  name: 'lp_pools_search_counts',
  keyed: true,
  text: `${fitting(1, 2, '$1')} SELECT count(*) FILTER (WHERE rank = 0)::int AS exact, count(*)::int AS prefix FROM best`,
};

/**
 * Best match first, then volume, then address. Volume is the stated one of an hour where there is one, else the swaps seen
 * in it, never both. `some`: of the pools $14 alone.
 */
function searchStatement(tier: Tier, some = false): Statement {
  return {
    name: `lp_pools_search_${tier}${some ? '_some' : ''}`,
    // Planning takes most of it, but where words fit many pools exactly: those are looked up in more ways than one.
    keyed: tier > 0,
    text: `${fitting(tier, 7, '$2', some ? ofPools(14) : undefined)}, seen AS (
  SELECT pool_address, sum(usd) AS usd, sum(swaps) AS n, sum(unpriced) AS unpriced FROM (${swapsIn(1, of('best'))}) s GROUP BY pool_address
), ranked AS (
  SELECT b.pool_address, b.rank, p.swaps_seen, p.created_at, coalesce(seen.n, 0) AS swaps, coalesce(seen.unpriced, 0) AS unpriced,
    CASE WHEN seen.pool_address IS NOT NULL OR ${swapsToldBefore('b.pool_address', '$2')}
      THEN coalesce(seen.usd, 0) END AS volume_usd
  FROM best b JOIN lp_pool p ON p.pool_address = b.pool_address LEFT JOIN seen ON seen.pool_address = b.pool_address
  ORDER BY b.rank, volume_usd DESC NULLS LAST, b.pool_address COLLATE "C" LIMIT $13
), provided AS (
  SELECT pool_address, sum(deposits + withdrawals + claims) AS n FROM (${flowsIn(1, of('ranked'))}) f GROUP BY pool_address
), owners AS (${ownerCounts({ pools: 'ranked', at: 1, life: false })})
SELECT r.pool_address, r.rank, r.volume_usd, r.swaps_seen, r.created_at, r.unpriced, r.swaps + coalesce(e.n, 0) AS event_count, coalesce(o.n, 0) AS unique_lps
FROM ranked r LEFT JOIN provided e ON e.pool_address = r.pool_address LEFT JOIN owners o ON o.pool_address = r.pool_address
ORDER BY r.rank, r.volume_usd DESC NULLS LAST, r.pool_address COLLATE "C"`,
  };
}

const TIERS = [searchStatement(0), searchStatement(1), searchStatement(2)] as const;
const LARGE = searchStatement(0, true);

/**
 * Pools by address, mint, token symbol or name, or pair of tokens in any order: at most `limit`, best match first. A wider
 * tier is asked only when the narrower ones do not fill the list.
 */
export async function searchPools(
  sql: Sql,
  { query, pool_type, limit, window }: PoolsSearchArgs,
): Promise<(FoundPoolRow & { match: SearchMatch })[]> {
  const { split, side, key, pattern, raw } = wordsOf(query);
  const words = [split, side, key, pattern, raw, pool_type];
  const [{ exact, prefix } = { exact: 0, prefix: 0 }] = await sql.query<{ exact: number; prefix: number }>(COUNTS, [window.to, ...words]);
  const tier: Tier = exact >= limit ? 0 : prefix >= limit ? 1 : 2;
  const values = [...spanOf(window), ...words, limit];
  const rows = (pools: readonly string[] | null): Promise<FoundPoolRow[]> =>
    pools === null ? sql.query<FoundPoolRow>(TIERS[tier], values) : sql.query<FoundPoolRow>(LARGE, [...values, pools]);
  // Those that fit exactly stand in the order of their volume.
  const found =
    tier === 0 && exact > FEW_POOLS
      ? await firstPools(sql, { bound: 'usd', window, limit }, rows, (first) => Number(first[limit - 1]?.volume_usd ?? 0))
      : await rows(null);
  return found.map((row) => ({ ...row, match: MATCHES[row.rank] as SearchMatch }));
}
