import { LRUCache } from 'lru-cache';

/**
 * At most `most` entries, the least recently used forgotten first, each after `ttl_ms` where that is given. Memory is taken as it fills: bounded by
 * `max` instead, lru-cache takes all of it when it is made (20 ms and 4 MB for 100,000 entries).
 */
export const lruOf = <V extends object | string | true>(most: number, ttl_ms?: number): LRUCache<string, V> =>
  new LRUCache<string, V>({ maxSize: most, sizeCalculation: () => 1, ...(ttl_ms !== undefined && { ttl: ttl_ms }) });
