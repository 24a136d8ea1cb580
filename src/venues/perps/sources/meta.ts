import type { PoolClient } from 'pg';
import { addCount } from '../../../lib/grouped';
import { emptyReport } from '../../../workers/ingest';
import type { IngestReport, RecordedSource } from '../../../workers/source';
import { isPerpCoin } from '../coin';
import { moveCursor } from './cursor';

const SOURCE = 'perps.meta';

/**
 * The venue's catalogue: the answer of info `meta` (`{universe: [{name, szDecimals, maxLeverage, …}]}`), `metaAndAssetCtxs`
 * (`[meta, contexts]`) or `allPerpMetas` (`[meta, …]`), or a recorded exchange around one of them. A fact is a coin; one
 * that says nothing new is a duplicate.
 */
export const meta: RecordedSource = {
  name: SOURCE,
  recognises: (first) => universesOf(first).length > 0,
  async load(page, client, options) {
    const report = emptyReport();
    await options.turn;
    for await (const record of page.records) {
      for (const universe of universesOf(record)) await keep(universe, client, report);
      options.progress(1);
    }
    await moveCursor(client, SOURCE, { cursor: { page: page.name }, watermark: null, last_event_at: null });
    return report;
  },
};

interface CatalogueCoin {
  coin: string;
  sz_decimals: number | null;
  max_leverage: number | null;
  only_isolated: boolean;
  is_delisted: boolean;
}

/** An exchange holds a list, which holds catalogues. */
const DEEPEST = 4;

/** The universes inside a record: none, where it is not a catalogue (contexts, spot). */
function universesOf(record: unknown, depth = 0): unknown[][] {
  if (depth > DEEPEST) return [];
  if (Array.isArray(record)) return record.flatMap((item) => universesOf(item, depth + 1));
  if (typeof record !== 'object' || record === null) return [];
  const { universe, tokens, request, response } = record as Record<string, unknown>;
  if (typeof request === 'object' && response !== undefined) return universesOf(response, depth + 1);
  return Array.isArray(universe) && tokens === undefined ? [universe] : [];
}

const UPSERT = {
  name: 'perps_upsert_catalogue',
  text: `
INSERT INTO perp_coin AS kept (coin, lookup, sz_decimals, max_leverage, only_isolated, is_delisted)
SELECT c.coin, upper(c.coin COLLATE "C"), c.sz_decimals, c.max_leverage, c.only_isolated, c.is_delisted
FROM unnest($1::text[], $2::int[], $3::int[], $4::boolean[], $5::boolean[]) AS c(coin, sz_decimals, max_leverage, only_isolated, is_delisted)
ON CONFLICT (coin) DO UPDATE SET sz_decimals = EXCLUDED.sz_decimals, max_leverage = EXCLUDED.max_leverage,
  only_isolated = EXCLUDED.only_isolated, is_delisted = EXCLUDED.is_delisted
WHERE (kept.sz_decimals, kept.max_leverage, kept.only_isolated, kept.is_delisted)
  IS DISTINCT FROM (EXCLUDED.sz_decimals, EXCLUDED.max_leverage, EXCLUDED.only_isolated, EXCLUDED.is_delisted)`,
};

async function keep(universe: readonly unknown[], client: PoolClient, report: IngestReport): Promise<void> {
  const coins = new Map<string, CatalogueCoin>();
  let bad = 0;
  for (const entry of universe) {
    const coin = decodeCoin(entry);
    if (coin === undefined) bad += 1;
    else coins.set(coin.coin, coin);
  }
  const rows = [...coins.values()].sort((a, b) => (a.coin < b.coin ? -1 : 1));
  const values = (['coin', 'sz_decimals', 'max_leverage', 'only_isolated', 'is_delisted'] as const).map((column) =>
    rows.map((row) => row[column]),
  );
  const { rowCount } = await client.query({ ...UPSERT, values });
  const changed = rowCount ?? 0;
  report.read += universe.length;
  report.inserted += changed;
  report.duplicates += universe.length - bad - changed;
  if (bad > 0) addCount(report.skipped, 'bad_coin', bad);
}

function decodeCoin(entry: unknown): CatalogueCoin | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { name, szDecimals, maxLeverage, onlyIsolated, isDelisted } = entry as Record<string, unknown>;
  if (typeof name !== 'string' || !isPerpCoin(name)) return undefined;
  return {
    coin: name,
    sz_decimals: whole(szDecimals),
    max_leverage: whole(maxLeverage),
    only_isolated: onlyIsolated === true,
    is_delisted: isDelisted === true,
  };
}

function whole(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 && number < 1e9 ? number : null;
}
