import { setMaxListeners } from 'node:events';
import type { Pool, PoolClient } from 'pg';
import { BEFORE_MIGRATIONS, type ListNewer } from '../db/migrate';
import { poolUntil } from '../db/pool';
import { inTransaction } from '../db/transaction';
import { CLOCKS_DIFFER_MS, type Clock } from '../lib/clock';
import { inTime, pause, withDeadline } from '../lib/deadline';
import { repeat } from '../lib/repeat';
import { FailureThrottle } from '../lib/failure-throttle';
import { DAY_MS, later } from '../lib/time';
import type { Logger } from '../observability/logger';
import type { Metrics } from '../observability/metrics';
import type { VenueName } from '../lib/venue-name';
import { type FeedRow, Overtaken, beginFeed, findFeed, forgetFailure, holdFeed, moveFeed, noteFailure, recordedUntil } from './feed-store';
import { addReport, emptyReport, writing } from './ingest';
import { LagMeter } from './lag';
import { inTurns } from './read-ahead';
import { Remainder } from './remainder';
import type { IngestReport, LiveSource, LiveStep } from './source';
import { Unread } from './unread';
import { UpstreamError, backOff, restAfter } from './upstream';

/** What the runner tells of its work; shown to operators. */
export type IngestFigures = Pick<Metrics, 'loaded' | 'failed' | 'visible'>;

export interface RunnerOptions {
  /** Writes; statements may take long. Needs one connection a venue for its lock and one a feed. */
  pool: Pool;
  feeds: Readonly<Partial<Record<VenueName, readonly LiveSource[]>>>;
  clock: Clock;
  logger: Logger;
  figures: IngestFigures;
  /** Once there are such migrations nothing is read any more: what this version counts is not what the newer one answers from. */
  newer: ListNewer;
  /** How often a process that stands by asks whether the reading one is gone. */
  standby_ms?: number;
  /** The database takes its turn and its step away from a process that says nothing for so long: it is frozen, or its machine is gone. */
  silence_ms?: number;
}

/** A newer version has migrated the database: this one must not write what that one answers from. */
class Outdated extends Error {
  constructor(readonly migrations: readonly string[]) {
    super('A newer version has migrated the database.');
    this.name = 'Outdated';
  }
}

/** Reads the live feeds of every venue until stopped. */
export interface Runner {
  start(): void;
  /** Gives up running requests, lets a running transaction end, and returns when nothing works any more. */
  stop(): Promise<void>;
}

const STANDBY_MS = 3_000;
const SILENCE_MS = 20_000;
const silenceOf = ({ silence_ms = SILENCE_MS }: RunnerOptions): number => silence_ms;
/** So often in that time a process says that it is there. */
const PULSES = 10;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** A feed that continues no recording begins this long before now. */
const LOOK_BACK_MS = DAY_MS;
/** Class of the advisory locks by which one process reads a venue. */
const LOCK_CLASS = 731_554;

/** Makes the runner; nothing is read before `start`. */
export function makeRunner(options: RunnerOptions): Runner {
  const end = new AbortController();
  let working: Promise<unknown> = Promise.resolve();
  return {
    start: () => {
      const venues = Object.entries(options.feeds).filter(([, sources]) => sources.length > 0);
      working = Promise.all(venues.map(([venue, sources]) => standBy(venue, sources, options, end.signal)));
    },
    stop: async () => {
      end.abort(new Error('The process stops.'));
      await working;
    },
  };
}

/** Waits for the venue's lock, reads while it is held, and waits again when it is lost; no more once a newer version has migrated the database. */
async function standBy(venue: string, sources: readonly LiveSource[], options: RunnerOptions, signal: AbortSignal): Promise<void> {
  const failing = new FailureThrottle();
  while (!signal.aborted) {
    try {
      const turn = await withDeadline(silenceOf(options), (late) => takeTurn(poolUntil(options.pool, late), options, venue), signal);
      if (turn !== null) await readVenue(venue, sources, options, turn, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Outdated) {
        const { message: reason, migrations } = error;
        options.logger.warn({ venue, reason, migrations }, 'live feeds are left to newer processes');
        return;
      }
      failing.note(error, (untold) =>
        options.logger.warn({ venue, reason: wordsOf(error), untold }, 'reading of live feeds was interrupted'),
      );
    }
    await pause(options.standby_ms ?? STANDBY_MS, signal);
  }
}

/** A connection that holds the venue's lock: it is gone with the connection, so a dead process never keeps it, and a silent one not for long. */
async function takeTurn(pool: Pool, options: RunnerOptions, venue: string): Promise<PoolClient | null> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1, hashtext($2)) AS mine', [LOCK_CLASS, venue]);
    if (rows[0]?.mine) {
      await client.query(`SET idle_session_timeout = ${silenceOf(options)}`);
      return client;
    }
  } catch (error) {
    client.release(true);
    throw error;
  }
  client.release();
  return null;
}

async function readVenue(
  venue: string,
  sources: readonly LiveSource[],
  options: RunnerOptions,
  turn: PoolClient,
  stopped: AbortSignal,
): Promise<void> {
  const lost = new AbortController();
  turn.on('error', (error) => lost.abort(error));
  // A connection that died quietly is noticed by its silence, and takes with it those on which a step may wait for an answer.
  const feel = (): Promise<unknown> => inTime(silenceOf(options) / 2, () => turn.query('SELECT 1'));
  const pulse = repeat(async () => void (await feel().catch((error: Error) => lost.abort(error))), silenceOf(options) / PULSES);
  const pool = poolUntil(options.pool, lost.signal);
  try {
    const signal = AbortSignal.any([stopped, lost.signal]);
    // Each request of each feed listens to it.
    setMaxListeners(Infinity, signal);
    await Promise.all(
      sources.map((source) => new FeedReader(venue, source, { ...options, pool }, signal).run().catch((error: Error) => lost.abort(error))),
    );
    if (lost.signal.aborted && !stopped.aborted) throw lost.signal.reason;
  } finally {
    void pulse.stop();
    turn.release(true);
  }
}

/** Polls one feed, step by step, until its signal aborts. Throws Overtaken when another process reads it, Outdated when only a newer one may. */
class FeedReader {
  private readonly lag = new LagMeter();
  private readonly failing = new FailureThrottle();
  private failures = 0;
  /** Records in a form that cannot be read, since the last that could be: a poll of a second holds few. */
  private unread = 0;

  constructor(
    private readonly venue: string,
    private readonly source: LiveSource,
    private readonly options: RunnerOptions,
    private readonly signal: AbortSignal,
  ) {}

  async run(): Promise<void> {
    while (!this.signal.aborted) await pause(await this.attempt(), this.signal);
  }

  /** One poll; tells how long to wait before the next. */
  private async attempt(): Promise<number> {
    try {
      await this.poll();
      this.failures = 0;
      return this.source.poll_ms;
    } catch (error) {
      if (this.signal.aborted) return 0;
      if (error instanceof Overtaken || error instanceof Outdated) throw error;
      await this.noteFailure(error);
      return Math.max(restAfter(error), backOff(this.failures, FIRST_WAIT_MS, LONGEST_WAIT_MS));
    }
  }

  private async poll(): Promise<void> {
    const context = { signal: this.signal, db: this.options.pool, now: () => this.options.clock.now() };
    let row = await this.putRight((await findFeed(this.options.pool, this.source.name)) ?? (await this.begin()));
    const head = await this.source.head(context);
    for await (const step of this.source.update(row.at, head, context)) {
      this.signal.throwIfAborted();
      row = await this.take(row, step);
    }
    if (row.failure !== null) await forgetFailure(this.options.pool, this.source.name);
  }

  private async begin(): Promise<FeedRow> {
    const { pool } = this.options;
    const from = await this.beginning();
    await beginFeed(pool, this.venue, this.source.name, this.source.begin(from), from);
    return (await findFeed(pool, this.source.name)) as FeedRow;
  }

  private async beginning(): Promise<Date> {
    const { pool, clock } = this.options;
    const recorded = this.source.continues === null ? null : await recordedUntil(pool, this.source.continues);
    const now = clock.now();
    return recorded === null ? new Date(now.getTime() - LOOK_BACK_MS) : notAfter(recorded, now);
  }

  /** A mark in the future was made by a clock that has been set back since: what came meanwhile lies before it, so reading goes on from the newest event that is in. */
  private async putRight(row: FeedRow): Promise<FeedRow> {
    const now = this.options.clock.now();
    if (row.watermark === null || row.watermark.getTime() <= now.getTime() + CLOCKS_DIFFER_MS) return row;
    const from = row.last_event_at === null ? await this.beginning() : notAfter(row.last_event_at, now);
    const to = { at: this.source.begin(from), watermark: from, report: emptyReport(), lag: this.lag.figures(), last_event_at: null };
    return this.inStep(async (client) => {
      await holdFeed(client, row);
      return moveFeed(client, { ...row, watermark: null }, to);
    });
  }

  /** Facts, rollups, cursor and watermark of a step become visible together, or not at all: not where nothing of it can be read. */
  private async take(row: FeedRow, step: LiveStep): Promise<FeedRow> {
    const appended: Date[] = [];
    const watermark = step.watermark === null ? null : notAfter(step.watermark, this.options.clock.now());
    const move = async (client: PoolClient): Promise<{ moved: FeedRow; report: IngestReport }> => {
      await holdFeed(client, row);
      const report = await this.load(client, step, appended);
      const last_event_at = appended.reduce<Date | null>(later, null);
      const to = { at: step.cursor, watermark, report, lag: this.lag.figures(), last_event_at };
      return { moved: await moveFeed(client, row, to), report };
    };
    const { moved, report } = await this.inStep(move);
    this.tell(report, appended);
    return moved;
  }

  private inStep<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const { pool, newer } = this.options;
    const asLongAsCurrent = async (client: PoolClient): Promise<T> => {
      const migrations = await newer(client);
      if (migrations.length > 0) throw new Outdated(migrations);
      return work(client);
    };
    const silent = `SET LOCAL idle_in_transaction_session_timeout = ${silenceOf(this.options)}`;
    return inTransaction(pool, asLongAsCurrent, `${silent}; ${writing(this.venue)}; ${BEFORE_MIGRATIONS}`);
  }

  private async load(client: PoolClient, step: LiveStep, appended: Date[]): Promise<IngestReport> {
    const report: IngestReport = { ...emptyReport(), skipped: { ...step.skipped, ...step.unread } };
    report.read = Object.values(report.skipped).reduce((sum, count) => sum + count, 0);
    if (step.invalidates !== undefined) {
      if (this.source.invalidate === undefined) throw new Error(`${this.source.name} cannot take anything back.`);
      const removed = await this.source.invalidate(client, step.invalidates);
      this.options.logger.warn({ feed: this.source.name, ...step.invalidates, removed }, 'the upstream took events back');
    }
    const told = { progress: () => undefined, appended: (times: readonly Date[]) => void appended.push(...times) };
    const remainder = new Remainder();
    const unread = new Unread(this.unread);
    for (const [reason, count] of Object.entries(step.unread ?? {})) unread.note(reason, count);
    await inTurns(step.pages, async ({ source, page }, turn) => {
      const part = await source.load(page, client, { turn, remainder, ...told });
      addReport(report, part);
      unread.add(source, part);
    });
    unread.check(this.source.name);
    this.unread = unread.inARow(Object.values(step.unread ?? {}).reduce((sum, count) => sum + count, 0));
    await remainder.finish(client);
    return report;
  }

  private tell(report: IngestReport, appended: readonly Date[]): void {
    const { figures, clock } = this.options;
    const now = clock.now().getTime();
    for (const at of appended) {
      const seconds = Math.max(0, now - at.getTime()) / 1_000;
      this.lag.add(seconds);
      figures.visible(this.source.name, seconds);
    }
    figures.loaded(this.source.name, report);
  }

  private async noteFailure(error: unknown): Promise<void> {
    const { pool, clock, logger, figures } = this.options;
    this.failures += 1;
    figures.failed(this.source.name);
    const [feed, reason] = [this.source.name, wordsOf(error)];
    this.failing.note(error, (untold) => logger.warn({ feed, failures: this.failures, reason, untold }, 'a live feed could not be read'));
    await noteFailure(pool, feed, reason, clock.now()).catch(() => undefined);
  }
}

/** No upstream has been read beyond now, whatever time its events tell: a mark in the future would hide that it stands still. */
const notAfter = (at: Date, now: Date): Date => (at > now ? now : at);

/** What may stand in a log and in /health: the upstream's error in our own words, else the kind of error. */
function wordsOf(error: unknown): string {
  if (error instanceof UpstreamError || error instanceof Overtaken) return error.message;
  const { name, code, message } = error as Error & { code?: string };
  // A database's or parser's message may quote data, never a secret of ours: those stand in URLs only.
  return `${name}${code === undefined ? '' : ` ${code}`}: ${message.replace(/\b[a-z]+:\/\/\S+/gi, '<url>').slice(0, 300)}`;
}
