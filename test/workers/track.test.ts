import type { PoolClient } from 'pg';
import { inTransaction, writersTurn } from '../../src/db/transaction';
import { makeContext } from '../../src/graph/context';
import { makeLogger } from '../../src/observability/logger';
import type { GraphContext, SignalTracking, Venue } from '../../src/venues/venue';
import { runScores } from '../../src/workers/scores';
import type { PendingSignal, Signal } from '../../src/workers/signal';
import { trackSignals, watchSignals } from '../../src/workers/track';
import { readTrackRecord, takeLaterMarksBack, takeMarksBack, tracked } from '../../src/workers/track-record';
import { testDatabase } from '../support/database';
import { until } from '../support/feeds';

const at = (iso: string): Date => new Date(`2026-03-${iso}Z`);
const HORIZONS = ['1h', '24h'] as const;
const hours = (horizon: string): number => Number.parseInt(horizon, 10);
const up = (subject: string, price: number): Signal => ({ endpoint: 'coins/signals', subject, part: '', direction: 1, price });

/** A wing that says what it is told to say; every price has doubled after an hour and is back after a day. */
function wing(said: (endpoint: string) => Signal[], scores = false): Venue {
  const signals: SignalTracking = {
    endpoints: ['coins/signals', 'coins/other'],
    horizons: HORIZONS,
    list: async (_context, endpoint) => said(endpoint).filter((signal) => signal.endpoint === endpoint),
    mark: async (_sql, pending, now) =>
      pending.flatMap(({ endpoint, day, rank, horizon, taken_at }: PendingSignal) => {
        const end = new Date(taken_at.getTime() + hours(horizon) * 3_600_000);
        const return_pct = horizon === '1h' ? 100 : 0;
        return end > now ? [] : [{ endpoint, day, rank, horizon, at: end, hit: return_pct > 0, return_pct, baseline: 0.25 }];
      }),
  };
  const score = scores ? { score: async () => ({ wallets: 0, scored: 0 }) } : {};
  return { name: 'perps', resolvers: {}, sources: [], freshness: async () => ({ last_event_at: null, watermark: null }), factTables: [], signals, ...score }; // prettier-ignore
}

describe('signals of a wing', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let said: Signal[];
  const context = (now: Date): GraphContext => makeContext(db, now);
  const track = (now: Date, retake = false, venue = wing(() => said)) => trackSignals(db.pool, venue, () => context(now), retake);
  const record = (now: Date) => readTrackRecord(context(now).sql, 'coins/signals', HORIZONS, now);
  const stored = async () => (await db.pool.query('SELECT day::text, rank, subject, price::float8 AS price FROM signal ORDER BY day, rank')).rows; // prettier-ignore

  beforeEach(async () => {
    db = await testDatabase();
    said = [up('BTC', 50), up('ETH', 4)];
  });
  afterEach(() => db.drop());

  test('stored once a day, in order, none dropped; marked when a horizon has passed', async () => {
    expect(await track(at('01T12:00:00'))).toEqual({ venue: 'perps', stored: 2, marked: 0 });
    said = [up('SOL', 9)];
    expect(await track(at('01T12:30:00'))).toEqual({ venue: 'perps', stored: 0, marked: 0 });
    expect(await track(at('01T13:00:00'))).toEqual({ venue: 'perps', stored: 0, marked: 2 });
    expect(await track(at('02T11:00:00'))).toEqual({ venue: 'perps', stored: 1, marked: 0 });
    expect(await track(at('02T12:00:00'))).toEqual({ venue: 'perps', stored: 0, marked: 3 });
    expect(await track(at('02T12:00:00'))).toEqual({ venue: 'perps', stored: 0, marked: 0 });
    expect(await stored()).toEqual([
      { day: '2026-03-01', rank: 1, subject: 'BTC', price: 50 },
      { day: '2026-03-01', rank: 2, subject: 'ETH', price: 4 },
      { day: '2026-03-02', rank: 1, subject: 'SOL', price: 9 },
    ]);
    // Three of three: the lower bound is 3 / (3 + 1.645²); six decimals, as everywhere.
    const [hour, day] = await record(at('02T12:00:00'));
    expect(hour).toEqual({ horizon: '1h', signals: 3, hit_rate: 1, hit_rate_lb: Number((3 / (3 + 1.645 ** 2)).toFixed(6)), mean_return_pct: 100, baseline_hit_rate: 0.25, backdated: 0, from: '2026-03-01T12:00:00Z', to: '2026-03-02T11:00:00Z' }); // prettier-ignore
    expect(day).toEqual({ horizon: '24h', signals: 2, hit_rate: 0, hit_rate_lb: 0, mean_return_pct: 0, baseline_hit_rate: 0.25, backdated: 0, from: '2026-03-01T12:00:00Z', to: '2026-03-01T12:00:00Z' }); // prettier-ignore
  });

  test('a record of then knows nothing that came later; without marks it is empty', async () => {
    await track(at('01T12:00:00'));
    await track(at('05T12:00:00'));
    expect((await record(at('01T12:59:59'))).map(({ signals, hit_rate, from }) => [signals, hit_rate, from])).toEqual([[0, null, null], [0, null, null]]); // prettier-ignore
    expect((await record(at('01T13:00:00'))).map(({ signals }) => signals)).toEqual([2, 0]);
    expect((await record(at('09T00:00:00'))).map(({ signals }) => signals)).toEqual([2, 2]);
  });

  test('the record is what the marks known by then come to, also where some of a snapshot are known later, or are taken back', async () => {
    const signals: SignalTracking = {
      endpoints: ['coins/signals'],
      horizons: ['resolution'],
      list: async () => said,
      // Each so many hours later as its rank says.
      mark: async (_sql, pending, now) =>
        pending.flatMap(({ endpoint, day, rank, horizon, taken_at }) => {
          const end = new Date(taken_at.getTime() + rank * 3_600_000);
          return end > now
            ? []
            : [{ endpoint, day, rank, horizon, at: end, hit: rank % 2 === 0, return_pct: 10.25 * rank - 25, baseline: rank / 8 }];
        }),
    };
    const venue = { ...wing(() => said), signals };
    const round = (value: number): number => Number(value.toFixed(6));
    const check = async (): Promise<number> => {
      const { rows } = await db.pool.query<{ at: Date; hit: boolean; return_pct: number; baseline: number }>(
        'SELECT at, hit, return_pct::float8, baseline::float8 FROM signal_mark',
      );
      for (const now of ['01T12:59', '01T13:00', '01T14:30', '02T14:10', '03T13:30', '09T00:00'].map((time) => at(`${time}:00`))) {
        const known = rows.filter((row) => row.at <= now);
        const mean = (values: number[]): number | null => (values.length === 0 ? null : round(values.reduce((sum, value) => sum + value, 0) / values.length)); // prettier-ignore
        const [told] = await readTrackRecord(context(now).sql, 'coins/signals', ['resolution'], now);
        expect(told).toMatchObject({ signals: known.length, hit_rate: mean(known.map(({ hit }) => Number(hit))), mean_return_pct: mean(known.map((row) => row.return_pct)), baseline_hit_rate: mean(known.map(({ baseline }) => baseline)) }); // prettier-ignore
      }
      return rows.length;
    };
    said = [up('BTC', 50), up('ETH', 4), up('SOL', 9), up('DOGE', 1)];
    for (const day of ['01', '02', '03']) await track(at(`${day}T12:00:00`), false, venue);
    expect(await check()).toBe(8);
    await track(at('03T14:30:00'), false, venue);
    expect(await check()).toBe(10);
    const takingBack = (work: (client: PoolClient) => Promise<void>): Promise<void> => inTransaction(db.pool, work);
    await takingBack((client) => takeLaterMarksBack(client, 'perps', [{ subject: 'ETH', since: at('02T13:00:00') }], 7 * 86_400_000));
    expect(await check()).toBe(8);
    await takingBack((client) => takeMarksBack(client, 'perps', ['BTC', 'SOL', 'DOGE']));
    expect(await check()).toBe(1);
    expect((await db.pool.query('SELECT day::text, signals FROM signal_record')).rows).toEqual([{ day: '2026-03-01', signals: 1 }]);
    await track(at('09T00:00:00'), false, venue);
    expect(await check()).toBe(12);
  });

  test('a wing marks its own signals, and takes back no marks of another', async () => {
    const tracking = wing(() => []).signals as SignalTracking;
    const list = async (): Promise<Signal[]> => [{ ...up('BTC', 1), endpoint: 'pools/signals' }];
    await track(at('01T12:00:00'), false, { ...wing(() => []), name: 'lp', signals: { ...tracking, endpoints: ['pools/signals'], list } });
    expect(await track(at('01T13:30:00'))).toEqual({ venue: 'perps', stored: 2, marked: 0 });
    expect(await track(at('01T14:30:00'))).toEqual({ venue: 'perps', stored: 0, marked: 2 });
    await inTransaction(db.pool, async (client) => {
      await takeMarksBack(client, 'lp', ['BTC', 'ETH']);
      await takeLaterMarksBack(client, 'lp', [{ subject: 'BTC', since: at('01T00:00:00') }], 7 * 86_400_000);
    });
    expect((await record(at('02T00:00:00')))[0]?.signals).toBe(2);
  });

  test('an empty snapshot counts as taken, and is taken again when asked', async () => {
    said = [];
    expect((await track(at('01T12:00:00')))?.stored).toBe(0);
    expect((await db.pool.query('SELECT endpoint, signals FROM signal_snapshot ORDER BY 1')).rows).toEqual([{ endpoint: 'coins/other', signals: 0 }, { endpoint: 'coins/signals', signals: 0 }]); // prettier-ignore
    said = [up('BTC', 50)];
    expect((await track(at('01T13:00:00')))?.stored).toBe(0);
    expect((await track(at('01T14:00:00'), true))?.stored).toBe(1);
    said = [up('ETH', 4), up('SOL', 9)];
    expect((await track(at('01T15:00:00'), true))?.stored).toBe(0);
    // Nor does the next day take again what this one found nothing of.
    await track(at('02T12:00:00'), true);
    const { rows } = await db.pool.query("SELECT endpoint FROM signal_snapshot WHERE day = '2026-03-01' ORDER BY 1");
    expect(rows.map(({ endpoint }: { endpoint: string }) => endpoint)).toEqual(['coins/other', 'coins/signals']);
  });

  test('a wing that scores is asked once it is scored today', async () => {
    const venue = wing(() => said, true);
    expect((await track(at('01T12:00:00'), false, venue))?.stored).toBe(0);
    await runScores(db.pool, venue, at('01T12:00:00'), () => undefined);
    expect((await track(at('02T00:00:30'), false, venue))?.stored).toBe(0);
    expect((await track(at('01T12:00:00'), false, venue))?.stored).toBe(2);
  });

  test('a day whose feeds lag behind is not told until they have caught up; what has come due is marked meanwhile', async () => {
    await track(at('01T12:00:00'));
    const look = (now: Date, caughtUp: boolean): Promise<unknown> =>
      trackSignals(db.pool, wing(() => said), () => context(now), false, () => Promise.resolve(caughtUp)); // prettier-ignore
    expect(await look(at('02T00:10:00'), false)).toEqual({ venue: 'perps', stored: 0, marked: 2 });
    said = [up('SOL', 9)];
    expect(await look(at('02T00:20:00'), true)).toEqual({ venue: 'perps', stored: 1, marked: 0 });
  });

  test('two processes at once store one snapshot; a wing without signals has none', async () => {
    const runs = await Promise.all([1, 2, 3].map(() => track(at('01T12:00:00'))));
    expect(runs.map((run) => run?.stored).sort()).toEqual([0, 0, 2]);
    expect(await trackSignals(db.pool, { ...wing(() => said), signals: undefined }, () => context(at('01T12:00:00')))).toBeNull();
  });

  test('who finds a snapshot stored that was not there when it asked stores none', async () => {
    const { signals, ...venue } = wing(() => said);
    let other: ReturnType<typeof track> | undefined;
    const list: SignalTracking['list'] = async (...asked) => {
      await (other ??= track(at('01T12:00:00')));
      return (signals as SignalTracking).list(...asked);
    };
    expect((await track(at('01T12:00:00'), false, { ...venue, signals: { ...(signals as SignalTracking), list } }))?.stored).toBe(0);
    expect(await stored()).toHaveLength(2);
  });

  test('marks wait for whoever writes facts of the venue', async () => {
    await track(at('01T12:00:00'));
    let marking: ReturnType<typeof track> = Promise.resolve(null);
    let over = false;
    await inTransaction(db.pool, async (client) => {
      await client.query(writersTurn('perps'));
      marking = track(at('01T13:00:00')).finally(() => (over = true));
      const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";
      await until(async () => over || (await db.pool.query(waiting)).rowCount === 1, 'it waits');
      expect(over).toBe(false);
    });
    expect(await marking).toMatchObject({ marked: 2 });
  });

  test('the watch goes on after a failure, and stops', async () => {
    let asked = 0;
    const failing = wing(() => {
      asked += 1;
      if (asked === 1) throw new Error('not now');
      return said;
    });
    const watch = watchSignals(db.pool, [failing], () => context(at('01T12:00:00')), makeLogger('silent'), undefined, 5);
    while ((await stored()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await watch.stop();
    // Of one endpoint and the other, then of the first again.
    expect(asked).toBe(3);
  });

  test('an endpoint that cannot answer keeps neither the others from being stored nor what is due from being marked', async () => {
    await track(at('01T12:00:00'));
    const failing = wing((endpoint) => {
      if (endpoint === 'coins/signals') throw new Error('not now');
      return [{ ...up('SOL', 9), endpoint }];
    });
    await expect(track(at('02T12:00:00'), false, failing)).rejects.toThrow('not now');
    expect((await record(at('02T12:00:00'))).map(({ signals }) => signals)).toEqual([2, 2]);
    expect((await stored()).map(({ day, subject }) => [day, subject])).toEqual([['2026-03-01', 'BTC'], ['2026-03-01', 'ETH'], ['2026-03-02', 'SOL']]); // prettier-ignore
    expect(await track(at('02T12:10:00'))).toEqual({ venue: 'perps', stored: 2, marked: 0 });
  });

  test('a tracked resolver tells its endpoint’s record beside its answer', async () => {
    await track(at('01T12:00:00'));
    await track(at('01T13:00:00'));
    const now = context(at('01T13:00:00'));
    const answer = await tracked('coins/signals', HORIZONS, async () => ['an answer'])(undefined as never, undefined as never, now, undefined as never); // prettier-ignore
    expect(answer).toEqual(['an answer']);
    expect(now.meta.track_record).toEqual(await record(at('01T13:00:00')));
  });
});
