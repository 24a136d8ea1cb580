import type { Pool } from 'pg';
import type { Clock } from '../lib/clock';
import { inTime } from '../lib/deadline';
import { roundTo } from '../lib/statistics';
import { isoSecond } from '../lib/time';
import type { Metrics } from '../observability/metrics';
import type { Payments } from '../payments/protocol';
import type { Slots } from './limits';
import { type VenueFreshness, failsForLong, lagsBehind, scoresTooOld } from './stale';

/** What /health is made of. Everything in it is measured when asked. */
export interface HealthDeps {
  /** Databases by name; the first is the one that is written. */
  backends: readonly { name: string; pool: Pick<Pool, 'query'> }[];
  payments: Payments;
  metrics: Metrics;
  slots: Slots;
  clock: Clock;
  version: string;
  network: string;
  freshness(): Record<string, VenueFreshness>;
  /** Up to which instant each venue was last scored. */
  scored(): Promise<Record<string, Date | null>>;
  /** Copies of what is rebuilt in the background, by name: how old the oldest part is, and whether it is sold still. */
  snapshots(): Promise<Record<string, { as_of: Date; served: boolean }>>;
  /** Migrations of the database that a newer version made. */
  newer(): Promise<string[]>;
}

interface HealthReport {
  status: 'ok' | 'degraded' | 'down';
  [field: string]: unknown;
}

export interface Health {
  report(): Promise<HealthReport>;
}

/** Who asks for health does not wait long: what has not answered by then is down. */
const PATIENCE_MS = 3_000;

async function timed<T>(work: () => Promise<T>): Promise<{ ok: boolean; told: T | null; latency_ms: number }> {
  const started = performance.now();
  const answer = await inTime(PATIENCE_MS, work).then(
    (told) => ({ ok: true, told }),
    () => ({ ok: false, told: null }),
  );
  return { ...answer, latency_ms: roundTo(performance.now() - started, 1) };
}

/** Seconds by which a replica is behind what it was sent; null where nothing was. One that was promoted grows older and older. */
async function askReplayed(pool: Pick<Pool, 'query'>): Promise<number | null> {
  const { rows } = await pool.query<{ lag: number | null }>(
    'SELECT extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8 AS lag',
  );
  const lag = rows[0]?.lag ?? null;
  return lag === null ? null : Math.max(0, roundTo(lag, 1));
}

/** A database that only reads, as one is that others have replaced or whose disk is nearly full, takes no payments. */
async function askWritten(pool: Pick<Pool, 'query'>): Promise<null> {
  const { rows } = await pool.query<{ no: string }>("SELECT current_setting('transaction_read_only') AS no");
  if (rows[0]?.no === 'on') throw new Error('The database takes no writes.');
  return null;
}

const isoOrNull = (date: Date | null): string | null => (date === null ? null : isoSecond(date));

/** Seconds from the time up to which the sources were read to now; null before the first load; never negative. */
export function lagSeconds(freshness: { watermark: Date | null } | undefined, now: Date): number | null {
  if (!freshness?.watermark) return null;
  return Math.max(0, Math.round((now.getTime() - freshness.watermark.getTime()) / 1_000));
}

type VenueStatus = 'ok' | 'stale' | 'empty';

/** What /health says of a venue: `stale` when a live feed lags so far that answers are not sold. */
function freshnessReport(fresh: VenueFreshness, now: Date): { status: VenueStatus; [field: string]: unknown } {
  const lag = lagSeconds(fresh, now);
  return {
    last_event_at: isoOrNull(fresh.last_event_at),
    lag_s: lag,
    status: lag === null ? 'empty' : lagsBehind(fresh, now) ? 'stale' : 'ok',
    mode: fresh.mode,
    feeds: fresh.feeds.map(({ feed, gates, totals, lag: event_lag, failure, ...marks }) => ({
      feed,
      gates,
      lag_s: lagSeconds(marks, now),
      last_event_at: isoOrNull(marks.last_event_at),
      event_lag,
      records: totals,
      failure,
    })),
  };
}

/** Whoever asks while a report is made is given that one: anybody may ask, as often as they like, and takes one connection, not all. */
export function makeHealth(deps: HealthDeps): Health {
  let making: Promise<HealthReport> | undefined;
  return { report: () => (making ??= assemble(deps).finally(() => (making = undefined))) };
}

/**
 * Assembles the report: `down` when a database or every payment method is, `degraded` when a part is, no data is loaded or some is too old to be
 * sold, a feed fails for long, or a newer version has taken over.
 */
async function assemble(deps: HealthDeps): Promise<HealthReport> {
  const [databases, methods, scored, snapshots, newer] = await Promise.all([
    Promise.all(deps.backends.map(({ pool }, index) => timed(() => (index === 0 ? askWritten(pool) : askReplayed(pool))))),
    deps.payments.health(),
    inTime(PATIENCE_MS, () => deps.scored()).catch((): Record<string, Date | null> => ({})),
    inTime(PATIENCE_MS, () => deps.snapshots()).catch((): Awaited<ReturnType<HealthDeps['snapshots']>> => ({})),
    inTime(PATIENCE_MS, () => deps.newer()).catch(() => []),
  ]);
  const enabled = Object.values(methods).filter(({ status }) => status !== 'off');
  const payable = enabled.some(({ status }) => status === 'ok');
  const now = deps.clock.now();
  const freshness = Object.entries(deps.freshness());
  const venues = freshness.map(([venue, fresh]) => [venue, freshnessReport(fresh, now)] as const);
  const whole =
    [...enabled, ...venues.map(([, venue]) => venue)].every(({ status }) => status === 'ok') &&
    !freshness.some(([, { feeds }]) => feeds.some((feed) => failsForLong(feed, now))) &&
    !Object.values(scored).some((at) => scoresTooOld(at, now)) &&
    Object.values(snapshots).every(({ served }) => served) &&
    newer.length === 0;
  const recent = deps.metrics.lastMinute();
  const backends = databases.map(({ ok, told, latency_ms }, index) => ({
    name: deps.backends[index]?.name,
    status: ok ? 'ok' : 'down',
    latency_ms,
    replay_lag_s: told,
  }));
  return {
    status: !databases.every(({ ok }) => ok) || !payable ? 'down' : whole ? 'ok' : 'degraded',
    service: 'smart-money-api',
    version: deps.version,
    auth_mode: 'x402+mpp',
    network: deps.network,
    uptime_s: Math.round(process.uptime()),
    postgres: { status: backends[0]?.status, latency_ms: backends[0]?.latency_ms },
    backends,
    newer_migrations: newer,
    facilitator: payable,
    payments: Object.fromEntries(
      Object.entries(methods).map(([name, method]) => [name, { ...method, last_settlement_at: isoOrNull(method.last_settlement_at) }]),
    ),
    semaphore: { active: deps.slots.active, waiting: deps.slots.waiting, max: deps.slots.max, timeouts_1m: recent.timeouts },
    queries_1m: recent.queries,
    cache_1m: recent.cache,
    top_errors: recent.errors,
    data_freshness: {
      ...Object.fromEntries(venues),
      scores: Object.fromEntries(Object.entries(scored).map(([venue, at]) => [venue, isoOrNull(at)])),
      snapshots: Object.fromEntries(Object.entries(snapshots).map(([name, { as_of }]) => [name, isoOrNull(as_of)])),
    },
  };
}
