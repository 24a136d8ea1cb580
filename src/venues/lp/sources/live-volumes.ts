import type { Pool } from 'pg';
import { pageOf } from '../../../workers/pages';
import type { LiveSource, LiveStep } from '../../../workers/source';
import { askInTurn } from '../../../workers/turns';
import type { PoolType } from '../chain-addresses';
import { type Indexes, stampOf } from './live-pools';
import { volumeHistory } from './volume-history';

/** Pools whose volume the index is asked for: the largest ones, in turn. */
const POOLS = 200;
/** Hours that are read again: the index corrects its newest ones. */
const BACK_S = 6 * 3_600;

interface VolumesCursor {
  /** How many of the pools were asked for in this round. */
  done: number;
  /** End of the round before; null: none yet. */
  round_at: string | null;
  /** Beginning of this round. */
  began_at: string;
}

/** Hourly swap volume and fees of the largest pools, as the index states them. */
export function liveVolumes(indexes: Indexes, poll_ms: number, pools_a_poll: number): LiveSource {
  return {
    name: 'lp.volumes',
    continues: 'lp.volume_history',
    gates: false,
    poll_ms,
    begin: (from) => ({ done: 0, round_at: from.toISOString(), began_at: from.toISOString() }) satisfies VolumesCursor,
    head: ({ now }) => Promise.resolve(now()),
    async *update(cursor, to, { signal, db }) {
      const known = cursor as unknown as VolumesCursor;
      const began_at = known.done === 0 ? to.toISOString() : known.began_at;
      const pools = await listLargest(db, known.done, pools_a_poll);
      const from = Math.floor(Date.parse(known.round_at ?? began_at) / 1_000) - BACK_S;
      const query = { timeframe: '1h', start_time: from, end_time: Math.floor(to.getTime() / 1_000) };
      const ask = ({ pool_address, pool_type }: LargePool): Promise<unknown> =>
        indexes[pool_type].get(`/pools/${pool_address}/volume/history`, query, signal);
      const { told, skipped } = await askInTurn('pool', pools, ask, true);
      const pages = told.flatMap(({ one, answer }): LiveStep['pages'] => {
        const name = `pools_${one.pool_address}_volume_history_1h_${stampOf(to)}.json`;
        return isEmpty(answer) ? [] : [{ source: volumeHistory, page: pageOf(name, 'json', [answer]) }];
      });
      const over = pools.length < pools_a_poll;
      const next = over
        ? { done: 0, round_at: began_at, began_at }
        : { done: known.done + pools.length, round_at: known.round_at, began_at };
      yield { pages, skipped, cursor: next satisfies VolumesCursor, watermark: over ? new Date(began_at) : null };
    },
  };
}

const isEmpty = (answer: unknown): boolean => (answer as { data?: unknown[] } | null)?.data?.length === 0;

interface LargePool {
  pool_address: string;
  pool_type: PoolType;
}

async function listLargest(db: Pool, offset: number, limit: number): Promise<LargePool[]> {
  const { rows } = await db.query<LargePool>(
    'SELECT pool_address, pool_type FROM lp_pool WHERE catalogued ORDER BY tvl_usd DESC NULLS LAST, pool_address OFFSET $1 LIMIT $2',
    [offset, Math.max(0, Math.min(limit, POOLS - offset))],
  );
  return rows;
}
