import type { Pool } from 'pg';
import { MINUTE_MS } from '../../../lib/time';
import { readUntil } from '../../../workers/feed-store';
import { pageOf } from '../../../workers/pages';
import type { LiveSource, LiveStep } from '../../../workers/source';
import { type Failing, askPatiently } from '../../../workers/turns';
import type { Upstream } from '../../../workers/upstream';
import { positionHistory } from './position-history';

/** The index tells an event a little after the chain does. */
const SETTLED_MS = 30_000;
/** What it has not told by then is asked for once more when its events are so old: it may have been behind. */
const AGAIN_MS = 10 * MINUTE_MS;

interface PositionsCursor {
  /** Positions with events up to this instant were asked for. */
  until: string;
  /** And up to this instant once more. Left out: as far as the first time. */
  again?: string;
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
      const { until, again = until, failing: before = {} } = cursor as unknown as PositionsCursor;
      const place = { until, again };
      let failing = before;
      const ask = ({ position_address }: Touched): Promise<unknown> => dlmm.get(`/positions/${position_address}/historical`, {}, signal);
      const ends = { again: new Date(Math.min(Date.parse(until), to.getTime() - AGAIN_MS)), until: to };
      for (const mark of ['again', 'until'] as const) {
        for (let whole = false; !whole;) {
          const touched = await listTouched(db, place[mark], ends[mark], positions_a_poll);
          // Their turn comes no more: while the index fails, they wait.
          const { told, skipped, failure, ...polls } = await askPatiently('position', touched, keyOf, ask, { failing });
          // At others it may have failed in the other round.
          failing = { ...omitted(failing, touched.map(keyOf)), ...polls.failing };
          if (failure !== null) {
            yield { pages: [], cursor: { ...place, failing } satisfies PositionsCursor, watermark: null };
            throw failure;
          }
          whole = touched.length < positions_a_poll;
          place[mark] = (whole ? later(place[mark], ends[mark]) : (touched.at(-1) as Touched).at).toISOString();
          const watermark = mark === 'again' ? null : new Date(whole ? to : place.until);
          if (mark === 'until' || touched.length > 0)
            yield { pages: told.map(pageFor), skipped, cursor: { ...place } satisfies PositionsCursor, watermark };
        }
      }
    },
  };
}

const pageFor = ({ one, answer }: { one: Touched; answer: unknown }): LiveStep['pages'][number] => ({
  source: positionHistory,
  page: pageOf(`positions_${one.position_address}_historical.json`, 'json', [answer]),
});

const later = (until: string, to: Date): Date => (Date.parse(until) > to.getTime() ? new Date(until) : to);

interface Touched {
  position_address: string;
  at: Date;
}

const keyOf = ({ position_address }: Touched): string => position_address;

const omitted = (failing: Failing, keys: readonly string[]): Failing =>
  Object.fromEntries(Object.entries(failing).filter(([key]) => !keys.includes(key)));

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
