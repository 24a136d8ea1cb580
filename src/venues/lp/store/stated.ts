import type { PoolClient } from 'pg';
import { STABLES } from '../chain-addresses';
import { noteHours } from '../rollups/changes';
import { PRICE_SOURCE } from '../rollups/price-at';
import { batchesOf, columnArrays, type Columns, unnestOf } from './insert';
import type { Appended } from './facts';

export interface CataloguePrice {
  mint: string;
  usd: string;
  at: Date;
}

const PRICE: Columns<CataloguePrice> = [
  ['mint', 'text'],
  ['usd', 'numeric'],
  ['at', 'timestamptz'],
];

const SAVE_PRICES = `
INSERT INTO token_price AS t (mint, minute, usd, source)
SELECT DISTINCT ON (mint, date_trunc('minute', u.at)) mint, date_trunc('minute', u.at), usd, ${PRICE_SOURCE.catalogue} FROM ${unnestOf(PRICE, 'u')}
ORDER BY mint, date_trunc('minute', u.at), usd
ON CONFLICT (mint, minute) DO UPDATE SET usd = EXCLUDED.usd WHERE t.source = EXCLUDED.source AND EXCLUDED.usd < t.usd
RETURNING minute`;

/** Keeps prices of catalogue pages where nothing better is known of the minute; of several the lowest, in whatever order they come. Returns the minutes that are new or changed. Their months must be there. */
export async function savePrices(client: PoolClient, prices: readonly CataloguePrice[]): Promise<Date[]> {
  const rows = prices.filter((price) => !STABLES.includes(price.mint));
  const minutes: Date[] = [];
  for (const batch of batchesOf(rows)) {
    const saved = await client.query<{ minute: Date }>({ name: 'lp_save_prices', text: SAVE_PRICES, values: columnArrays(PRICE, batch) });
    minutes.push(...saved.rows.map((row) => row.minute));
  }
  return minutes;
}

/** Decimal text. */
export interface VolumeHour {
  hour: Date;
  volume: string;
  fees: string | null;
  protocolFees: string | null;
}

const VOLUME: Columns<VolumeHour> = [
  ['hour', 'timestamptz'],
  ['volume', 'numeric'],
  ['fees', 'numeric'],
  ['protocolFees', 'numeric'],
];

/**
 * An hour read before it was over grows, and may be told of its fees later: of each figure the largest stays, in whatever order its readings come.
 * When a page was read is not kept, so a figure that the index has lowered cannot be told from an older one.
 */
const SAVE_VOLUMES = `
INSERT INTO lp_volume_hour AS v (pool_address, hour, volume_usd, fees_usd, protocol_fees_usd)
SELECT $5::text, u.hour, u.volume, u.fees, u."protocolFees" FROM ${unnestOf(VOLUME, 'u')}
ON CONFLICT (pool_address, hour) DO UPDATE SET volume_usd = GREATEST(v.volume_usd, EXCLUDED.volume_usd), fees_usd = GREATEST(v.fees_usd, EXCLUDED.fees_usd),
  protocol_fees_usd = GREATEST(v.protocol_fees_usd, EXCLUDED.protocol_fees_usd)
WHERE EXCLUDED.volume_usd > v.volume_usd OR EXCLUDED.fees_usd > COALESCE(v.fees_usd, -1) OR EXCLUDED.protocol_fees_usd > COALESCE(v.protocol_fees_usd, -1)
RETURNING v.hour`;

/** Keeps the hours of a pool that tell more than is kept. Their months must be there. */
export async function saveVolumes(client: PoolClient, pool_address: string, hours: readonly VolumeHour[]): Promise<Appended> {
  let inserted = 0;
  for (const batch of batchesOf(hours)) {
    const saved = await client.query<{ hour: Date }>({
      name: 'lp_save_volumes',
      text: SAVE_VOLUMES,
      values: [...columnArrays(VOLUME, batch), pool_address],
    });
    await noteHours(
      client,
      pool_address,
      saved.rows.map((row) => row.hour),
    );
    inserted += saved.rows.length;
  }
  return { inserted, duplicates: hours.length - inserted };
}
