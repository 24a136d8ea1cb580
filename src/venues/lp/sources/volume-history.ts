import { HOUR_MS } from '../../../lib/time';
import type { RecordedSource } from '../../../workers/source';
import type { VolumeHour } from '../store/stated';
import { addDecimals } from './decimal';
import { loadPage, type PageLoad, type Write } from './page-load';
import { addressInName, amount, instant, isObject, type Json, listOf } from './record';

/**
 * `/pools/{address}/volume/history`: what the index counts per bucket, `{timeframe, data: [{timestamp, volume, fees,
 * protocol_fees}]}`. The answer does not say which pool it is of, so the page's name must hold the address. Buckets of an
 * hour or less are kept, summed to hours.
 */
export const volumeHistory: RecordedSource = {
  name: 'lp.volume_history',
  recognises: (first) => isHistory(first),
  load: (page, client, options) => loadPage('lp.volume_history', page, client, options, readHistory),
};
const SHORT_ENOUGH = ['5m', '15m', '30m', '1h'];

const isHistory = (value: unknown): value is Json => {
  const first = isObject(value) ? listOf(value.data)[0] : undefined;
  return isObject(first) && 'timestamp' in first && 'volume' in first && !('open' in first);
};

/** Decimal text; null where no bucket of the hour says it. */
interface Hour {
  volume: string;
  fees: string | null;
  protocolFees: string | null;
}

function readHistory(records: unknown[], { page, log, writer }: PageLoad): Write {
  const histories: { pool: string; hours: VolumeHour[] }[] = [];
  for (const record of records) {
    const pool = addressInName(page.name);
    const buckets = isObject(record) ? listOf(record.data) : [];
    if (!isHistory(record)) log.skip('unusable_history');
    else if (pool === null) log.skip('pool_not_named', buckets.length);
    else if (!isShortEnough(record, buckets)) log.skip('bucket_too_long', buckets.length);
    else {
      const usable = buckets.flatMap((bucket) => decodeBucket(bucket) ?? []);
      const distinct = withoutRepeated(usable);
      log.skip('unusable_bucket', buckets.length - usable.length);
      log.skip('repeated_bucket', usable.length - distinct.length);
      const hours = new Map<number, Hour>();
      for (const bucket of distinct) addBucket(bucket, hours);
      log.read += hours.size;
      for (const hour of hours.keys()) log.saw(new Date(hour));
      const told = [...hours].map(([hour, { volume, fees, protocolFees }]) => ({ hour: new Date(hour), volume, fees, protocolFees }));
      histories.push({ pool, hours: told });
    }
  }
  return async () => {
    for (const { pool, hours } of histories) await writer.volumes(pool, hours);
  };
}

/** By what the answer says, which may be null, or by two neighbours: where none was asked for, the index's buckets are of a day. */
function isShortEnough({ timeframe }: Json, buckets: unknown[]): boolean {
  if (typeof timeframe === 'string') return SHORT_ENOUGH.includes(timeframe);
  const times = [...new Set(buckets.flatMap((bucket) => decodeBucket(bucket)?.at ?? []))].sort((a, b) => a - b);
  return times.some((time, i) => time - (times[i - 1] ?? Number.NaN) <= HOUR_MS);
}

interface Bucket extends Hour {
  at: number;
}

function decodeBucket(bucket: unknown): Bucket | undefined {
  const at = isObject(bucket) ? instant(bucket.timestamp) : null;
  const volume = isObject(bucket) ? amount(bucket.volume) : null;
  if (!isObject(bucket) || at === null || volume === null) return undefined;
  return { at: at.getTime(), volume, fees: amount(bucket.fees), protocolFees: amount(bucket.protocol_fees) };
}

/** A bucket that is told twice is not the sum of both: the larger stays, as of an hour that is read twice. */
function withoutRepeated(buckets: readonly Bucket[]): Bucket[] {
  const largest = new Map<number, Bucket>();
  for (const bucket of buckets) {
    const other = largest.get(bucket.at);
    if (other === undefined || Number(bucket.volume) > Number(other.volume)) largest.set(bucket.at, bucket);
  }
  return [...largest.values()];
}

function addBucket(bucket: Bucket, hours: Map<number, Hour>): void {
  const start = Math.floor(bucket.at / HOUR_MS) * HOUR_MS;
  const hour = hours.get(start) ?? { volume: '0', fees: null, protocolFees: null };
  const plus = (sum: string | null, value: string | null): string | null => (value === null ? sum : addDecimals(sum ?? '0', value));
  hours.set(start, {
    volume: addDecimals(hour.volume, bucket.volume),
    fees: plus(hour.fees, bucket.fees),
    protocolFees: plus(hour.protocolFees, bucket.protocolFees),
  });
}
