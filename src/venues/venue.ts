import type { GraphQLFieldResolver } from 'graphql';
import type { Pool, PoolClient } from 'pg';
import type { PrismaClient } from '../generated/prisma/client';
import type { Sql } from '../db/sql';
import type { Definition } from '../lib/definition';
import type { VenueName } from '../lib/venue-name';
import type { PendingSignal, Signal, SignalMark, TrackRecord } from '../workers/signal';
import type { LiveSource, RecordedSource, UpstreamRates, UpstreamUrls } from '../workers/source';

/** What an answer says about itself. Resolvers fill in what they know; the gateway adds the rest. */
export interface AnswerMeta {
  timeframe: string | null;
  window: { from: Date; to: Date } | null;
  /** Length of the list that the priced limit bounds, of the longest where there are several; null where there is none. */
  count: number | null;
  next_cursor: string | null;
  score_version: string | null;
  warnings: string[];
  /** Parameters that changed nothing here, and by what: told to those who sent them. */
  ineffective: Record<string, string>;
  /** The instant the answer is as of, where that is not the context's now. */
  as_of: Date | null;
  /** For how many seconds this may be told again as it is; null: as long as its endpoint says. */
  good_for_s: number | null;
  /** How earlier answers of the same signal endpoint turned out; null on all others. */
  track_record: TrackRecord[] | null;
}

/** What every resolver is handed: one per request. */
export interface GraphContext {
  sql: Sql;
  prisma: PrismaClient;
  /** Aborts when the answer is late or nobody waits for it any more: its statements end in the database as well. */
  signal: AbortSignal | undefined;
  /** The instant the whole answer is as of: read once, so that every part of one answer agrees. */
  now: Date;
  /** Day (YYYY-MM-DD) of the newest score run that may tell scores: that of `now`, or an earlier one that a list was begun by. */
  scored_until: string;
  meta: AnswerMeta;
  /** Tells the operator why a part of the answer, which `part` names, was left out; who asked reads only that it was. */
  failed(part: string, cause: unknown): void;
  /** Before this instant no more facts of a venue come in the ordinary way; null where none are expected, or its feeds are too far behind to be waited for. */
  settled(venue: VenueName): Date | null;
  /** Loaders of each wing, made on first use, gone with the request. */
  loaders<L>(make: (context: GraphContext) => L): L;
  /** The same request as of another instant, by scores up to that of a day: it reads by loaders of its own, and tells the same meta. */
  at(now: Date, scored_until?: string): GraphContext;
}

export type Resolver<Source = never, Args = never> = GraphQLFieldResolver<Source, GraphContext, Args>;
export type Resolvers = Record<string, Record<string, unknown>>;

/** The signal endpoints of a wing: what they say, and how it turned out. */
export interface SignalTracking {
  /** Paths after /api/v1/. */
  endpoints: readonly string[];
  /** Words of the horizons, in the order they are told. */
  horizons: readonly string[];
  /** Every signal the endpoint gives as of the context's now by its default parameters, in order; nothing where it answers empty. */
  list(context: GraphContext, endpoint: string): Promise<Signal[]>;
  /** Marks of those pending signals whose horizon has passed by `now` and whose end is known; the others are asked for again. */
  mark(sql: Sql, pending: readonly PendingSignal[], now: Date): Promise<SignalMark[]>;
}

/** What an endpoint's answers are chosen from, rebuilt in the background. */
export interface Snapshot<T = unknown> {
  /** Path of the endpoint after /api/v1/. */
  name: string;
  every_s: number;
  /** Separately kept parts, such as one a category. */
  parts: readonly string[];
  /** Writes what `build` reads and nothing else keeps up to date, as of `now`. */
  refresh?(pool: Pool, now: Date): Promise<void>;
  /** One part as of the context's now, `refreshed` as of then where it is kept: plain data that JSON can hold. */
  build(context: GraphContext, part: string, refreshed?: boolean): Promise<T>;
}

/** The face of a wing: everything the rest of the house may know about a venue. */
export interface Venue {
  name: VenueName;
  /** Resolver map for @graphql-tools/schema; root fields under `Query`. Each must have one. */
  resolvers: Resolvers;
  /** How its figures are computed, in the order they are read. */
  methodology?: readonly Definition[];
  /** Upstream formats it can load from recorded files, tried in this order. */
  sources: RecordedSource[];
  /** Feeds that can be polled with these upstreams (`PREDICTION_DATA_URL` is `data` of prediction …); none: the venue is off. */
  liveSources?(upstreams: UpstreamUrls, rates?: UpstreamRates): LiveSource[];
  /** Time of the newest event seen and time up to which the sources have been read; null before the first load. */
  freshness(db: Pool): Promise<{ last_event_at: Date | null; watermark: Date | null }>;
  /** Recomputes every rollup from facts, inside the caller's transaction; of a first load sooner, where readers of empty rollups may be locked out. */
  rebuild?(client: PoolClient, is_first_load?: boolean): Promise<void>;
  /** Writes the scores and snapshots of the UTC day of `now`, as of `now`; again on the same day: the same result. */
  score?(pool: Pool, now: Date, progress: (wallets: number) => void): Promise<{ wallets: number; scored: number }>;
  /** Table of its scores, one run a `day`; a wing with signals must tell. */
  scoreTable?: string;
  /** Signals whose fate is measured; resolvers of these endpoints are wrapped in `tracked`. */
  signals?: SignalTracking;
  /** Answers of the snapshot class; their resolvers use `readSnapshot`. */
  snapshots?: readonly Snapshot[];
  /** Tables of its facts and of what they are about: the start says how much is in them. */
  factTables: readonly string[];
}
