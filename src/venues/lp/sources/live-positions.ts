import type { Pool } from 'pg';
import { readUntil } from '../../../workers/feed-store';
import { pageOf } from '../../../workers/pages';
import type { LiveSource } from '../../../workers/source';
import { type Failing, askPatiently } from '../../../workers/turns';
import type { Upstream } from '../../../workers/upstream';
import { positionHistory } from './position-history';

/** The index tells an event a little after the chain does. */
const SETTLED_MS = 30_000;

interface PositionsCursor {
  /** Positions with events up to this instant were asked for. */
  until: string;
  /** At which positions the last polls failed. */
  failing?: Failing;
}

/** Histories of the bin positions in which something happened: the index knows the USD of each event at its time. */
export function livePositions(dlmm: Upstream, poll_ms: number, positions_a_poll: number): LiveSource {
  return {
    name: 'lp.positions',
    continues: 'lp.position_history',
    gates: false,
    poll_ms,
    begin: (from) => ({ until: from.toISOString() }) satisfies PositionsCursor,
    // What the chain's feed has not read yet cannot be asked for.
    head: async ({ now, db }) => {
      const read = await readUntil(db, ['lp.chain']);
      return new Date(Math.min(read?.getTime() ?? 0, now().getTime() - SETTLED_MS));
    },
    async *update(cursor, to, { signal, db }) {
      for (let { until, failing = {} } = cursor as unknown as PositionsCursor; ;) {
        const touched = await listTouched(db, until, to, positions_a_poll);
        const ask = ({ position_address }: Touched): Promise<unknown> => dlmm.get(`/positions/${position_address}/historical`, {}, signal);
        // Their turn comes once: while the index fails, they wait.
        const { told, skipped, failure, ...polls } = await askPatiently('position', touched, keyOf, ask, { failing });
        failing = polls.failing;
        if (failure !== null) {
          yield { pages: [], cursor: { until, failing } satisfies PositionsCursor, watermark: null };
          throw failure;
        }
        const pages = told.map(({ one, answer }) => {
          const name = `positions_${one.position_address}_historical.json`;
          return { source: positionHistory, page: pageOf(name, 'json', [answer]) };
        });
        const whole = touched.length < positions_a_poll;
        until = whole ? later(until, to).toISOString() : (touched.at(-1) as Touched).at.toISOString();
        yield { pages, skipped, cursor: { until } satisfies PositionsCursor, watermark: whole ? to : new Date(until) };
        if (whole) return;
      }
    },
  };
}

const later = (until: string, to: Date): Date => (Date.parse(until) > to.getTime() ? new Date(until) : to);

interface Touched {
  position_address: string;
  at: Date;
}

const keyOf = ({ position_address }: Touched): string => position_address;

/** Positions with events that nobody stated in USD, each with its newest one, oldest first; more than `limit` where times are equal. */
async function listTouched(db: Pool, until: string, to: Date, limit: number): Promise<Touched[]> {
  const { rows } = await db.query<Touched>(
    `SELECT position_address, max("timestamp") AS at FROM lp_event
     WHERE "timestamp" > $1 AND "timestamp" <= $2 AND pool_type = 'dlmm' AND NOT usd_stated AND position_address <> ''
     GROUP BY position_address ORDER BY at FETCH FIRST $3 ROWS WITH TIES`,
    [until, to, limit],
  );
  return rows;
}
