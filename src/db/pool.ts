import { type EventEmitter, setMaxListeners } from 'node:events';
import os from 'node:os';
import {
  Client,
  type ClientBase,
  type ClientConfig,
  type CustomTypesConfig,
  Pool,
  type PoolClient,
  type PoolConfig,
  type QueryConfig,
  type QueryResult,
  types,
} from 'pg';
import { untilAborted } from '../lib/deadline';
import { isUnable, noteRefusal, unreachable } from './reach';

/** What a session is set to, by name. */
export type Settings = Readonly<Record<string, string | number>>;

/** What a step of a statement keeps in memory at most: the lists of the busiest markets and wallets take some ten megabytes, which else go through files. */
export const ROOM: Settings = { work_mem: '32MB' };

/** Days are UTC days, and drivers read times as UTC in ISO's form, wherever the server believes itself to be. */
const ANYWHERE: Settings = { timezone: 'UTC', datestyle: 'ISO' };
/** What a role or a database may have set for people who type: it would end what waits or works, cut figures short, or read statements otherwise. */
const AS_IT_COMES: Settings = {
  statement_timeout: 0,
  lock_timeout: 0,
  idle_session_timeout: 0,
  idle_in_transaction_session_timeout: 0,
  default_transaction_isolation: 'read committed',
  extra_float_digits: 1,
  standard_conforming_strings: 'on',
};
/** A machine that is gone says no goodbye: its sessions, with all they lock, end within a minute, not in two hours. */
const UNTIL_GONE: Settings = { tcp_keepalives_idle: 30, tcp_keepalives_interval: 10, tcp_keepalives_count: 3 };
/** Nor does a process that was killed, or a connection that was closed: what it asked for ends soon, with all it locks. A server on Windows cannot tell. */
const WHILE_IT_LISTENS =
  "set_config('client_connection_check_interval', CASE WHEN version() ~* 'windows|visual c|mingw' THEN '0' ELSE '2s' END, false)";
/** A Citus cluster plans for values only: without them it refuses what is spread over its nodes. */
const PLANNED_FOR_VALUES =
  "CASE WHEN to_regclass('pg_catalog.pg_dist_node') IS NOT NULL THEN set_config('plan_cache_mode', 'force_custom_plan', false) END";

const backends = new WeakMap<ClientBase, number>();

/** The process of the server that works for a connection that was set up. */
export const backendOf = (client: ClientBase): number | undefined => backends.get(client);

/**
 * Sets up the session of a new connection. By a statement: a pooler refuses or drops what a connection asks for at its start, and an address
 * with options of its own replaces it. Nor is the process that a pooler names the server's.
 */
export async function setUp(client: ClientBase, settings: Settings = {}): Promise<void> {
  const set = Object.entries({ ...ANYWHERE, ...AS_IT_COMES, ...UNTIL_GONE, ...settings }).map(
    ([name, value]) => `set_config('${name}', '${value}', false)`,
  );
  const text = `SELECT pg_backend_pid() AS backend, ${[...set, WHILE_IT_LISTENS, PLANNED_FOR_VALUES].join(', ')}`;
  const { rows } = await client.query<{ backend: number }>({ text, query_timeout: REACHED.connectionTimeoutMillis } as QueryConfig);
  for (const { backend } of rows) backends.set(client, backend);
}

/** A connection that was lost without a word is noticed: one that is made within this time, an idle one soon after. What asks much may wait longer, by `query_timeout`. */
const REACHED = { connectionTimeoutMillis: 10_000, keepAlive: true, keepAliveInitialDelayMillis: 10_000 } satisfies ClientConfig;
const GOODBYE_MS = 2_000;
/** What a connection emits when it is asked something. */
const ASKED = 'asked';
/** What node-postgres says of a statement whose `query_timeout` has passed. */
const LATE = 'Query read timeout';

type Told = (error: Error | null, result: QueryResult) => void;

/**
 * node-postgres' client, whose statements are asked for with a callback always. The promise it makes itself, set on a statement after it
 * was made, keeps the rows of statement after statement alive until the whole heap is collected: half of all rows read were moved to the old
 * generation, and a third of the time of a long list went into moving them. Statements with a callback or a stream of their own are left alone.
 */
export class Connection extends Client {
  constructor(config?: ClientConfig) {
    super({ ...REACHED, ...config });
  }

  /** A server that takes no leave is not waited for. */
  override end(): Promise<void>;
  override end(told: (error: Error) => void): void;
  override end(told?: (error: Error) => void): Promise<void> | void {
    setTimeout(() => this.connection.stream.destroy(), GOODBYE_MS).unref();
    return told === undefined ? super.end() : super.end(told);
  }

  override query(...asked: never[]): never {
    this.emit(ASKED);
    const send = super.query.bind(this) as (...args: unknown[]) => unknown;
    const [first, values, last] = asked as unknown[];
    const own = typeof values === 'function' || typeof last === 'function' || typeof (first as { submit?: unknown }).submit === 'function';
    if (own) return send(...(asked as unknown[])) as never;
    const answer = new Promise<QueryResult>((resolve, reject) => {
      const told: Told = (error, result) => (error ? reject(error) : resolve(result));
      send(first, values, told);
    });
    return answer.catch((error: Error) => {
      // Whatever it says later, nobody would know to which statement.
      if (error.message === LATE) this.connection.stream.destroy();
      // From the socket that told it to who asked.
      Error.captureStackTrace(error);
      throw error;
    }) as never;
  }
}

type Given = (error: Error | undefined, client: PoolClient | undefined, release: (error?: Error | boolean) => void) => void;

/** node-postgres' pool, which tells those who still wait for a connection when it ends that they get none. Left alone they would wait for ever, and a program that stops for them. */
class Connections extends Pool {
  private readonly waiting = new Set<() => void>();

  override connect(): Promise<PoolClient>;
  override connect(told: Given): void;
  override connect(told?: Given): Promise<PoolClient> | void {
    if (told === undefined)
      return new Promise((resolve, reject) => this.connect((error, client) => (client ? resolve(client) : reject(error as Error))));
    const refuse = (): void => told(new Error('The pool of connections ended'), undefined, () => undefined);
    this.waiting.add(refuse);
    super.connect((error, client, release) => {
      if (error) noteRefusal(error);
      if (this.waiting.delete(refuse)) told(error, client, release);
      else if (client) release();
    });
  }

  override async end(): Promise<void> {
    const ended = super.end();
    const refused = [...this.waiting];
    this.waiting.clear();
    for (const refuse of refused) refuse();
    await ended;
  }
}

export interface PoolOptions extends Omit<PoolConfig, 'options' | 'statement_timeout'> {
  settings?: Settings;
  /** Longest one connection may be taken without being asked anything more, in milliseconds: then it is closed, and what waits on it fails. For ever when left out. */
  lease_ms?: number;
  /** Whether the server's processes that work for it leave the processor to others: only where they are of this machine. */
  yields?: boolean;
}

/** Of -20 to 19, the last the most willing. Not that: what such a process holds, others wait for. */
const WILLING = 10;

/** Asks a process of this machine to leave the processor to others. Who may not ask does without. */
function leaveToOthers(backend: number | undefined): void {
  try {
    if (backend !== undefined && os.getPriority(backend) < WILLING) os.setPriority(backend, WILLING);
  } catch {
    // It works as it did.
  }
}

const { TIMESTAMPTZ } = types.builtins;
const readAnyInstant = types.getTypeParser(TIMESTAMPTZ, 'text') as (text: string) => Date;
/** An instant as a session that was set up writes it. */
const WRITTEN = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00$/;

/** The same of what JavaScript's instants tell: of four-digit years, to the millisecond. */
const TOLD = /^[1-9]\d{3}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,3})?\+00$/;

const digit = (text: string, place: number): number => text.charCodeAt(place) - 48;
const two = (text: string, place: number): number => 10 * digit(text, place) + digit(text, place + 1);

/** The fraction of a second in an instant's text, in milliseconds: its zeros at the end are not written. */
function fractionOf(text: string): number {
  let ms = 0;
  for (let place = 20, worth = 100; place < text.length - 3; place += 1, worth /= 10) ms += worth * digit(text, place);
  return ms;
}

/** Reads an instant by its digits, else by JavaScript's own reader: in a fifth and in half of the time that node-postgres takes. */
function readInstant(text: string): Date {
  if (!TOLD.test(text)) return WRITTEN.test(text) ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : readAnyInstant(text);
  const [year, month, day] = [100 * two(text, 0) + two(text, 2), two(text, 5), two(text, 8)];
  return new Date(Date.UTC(year, month - 1, day, two(text, 11), two(text, 14), two(text, 17), fractionOf(text)));
}

/** How values are read: as node-postgres does, but for instants. */
const READERS: CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    type === TIMESTAMPTZ && format !== 'binary' ? readInstant : (types.getTypeParser(type, format as 'text') as (text: string) => unknown),
};

/** A connection of the pool. Throws the signal's reason when that aborts first; a connection that comes later goes back. */
export async function connectUntil(pool: Pool, signal: AbortSignal): Promise<PoolClient> {
  signal.throwIfAborted();
  const asked = pool.connect();
  try {
    return await untilAborted(asked, signal);
  } catch (error) {
    asked.then((late) => late.release()).catch(() => undefined);
    throw error;
  }
}

/**
 * The pool as one sees it who works until `signal` aborts: then nobody waits for a connection any more, and those that were taken are closed, so that
 * whatever waits on them fails, even where the server says nothing any more. It knows statements with promises alone.
 */
export function poolUntil(pool: Pool, signal: AbortSignal): Pool {
  // Whoever waits for a connection listens, and Node 20 takes more than ten for a leak.
  setMaxListeners(Infinity, signal);
  const connect = async (): Promise<PoolClient> => {
    const client = await connectUntil(pool, signal);
    const { release } = client;
    const close = (): void => void client.end().catch(() => undefined);
    signal.addEventListener('abort', close, { once: true });
    client.release = (error) => {
      signal.removeEventListener('abort', close);
      release(error);
    };
    return client;
  };
  const query = async (...asked: [string, unknown[]]): Promise<QueryResult> => {
    const client = await connect();
    let spoilt = false;
    try {
      return await client.query(...asked);
    } catch (error) {
      spoilt = isUnable(error);
      throw error;
    } finally {
      client.release(spoilt);
    }
  };
  return new Proxy(pool, {
    get: (target, property) => (property === 'connect' ? connect : property === 'query' ? query : boundTo(target, property)),
  });
}

/** A property of an object, as that of the object itself where it is asked for on a proxy of it. */
export function boundTo(target: object, property: string | symbol): unknown {
  const value: unknown = Reflect.get(target, property, target);
  return typeof value === 'function' ? (value.bind(target) as unknown) : value;
}

/** Connections to the database at `url`, made when they are needed. */
export function makePool(url: string, { settings, lease_ms, yields, ...config }: PoolOptions): Pool {
  const onConnect = async (client: ClientBase): Promise<void> => {
    await setUp(client, { statement_timeout: 65_000, ...settings });
    if (yields === true) leaveToOthers(backendOf(client));
  };
  const pool = new Connections({ ...config, onConnect, connectionString: url, types: READERS, Client: Connection });
  // A dropped idle connection is the pool's business, not a crash.
  pool.on('error', () => undefined);
  // Nor is one that drops in the middle of a transaction: its next statement fails, which is told to who asks it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  if (lease_ms !== undefined) lease(pool, lease_ms);
  return pool;
}

/** Whatever a connection is waiting for, a lock that nobody lets go of or a server that is frozen: it waits no longer than this. Many statements may take longer together. */
function lease(pool: Pool, ms: number): void {
  const ends = new WeakMap<ClientBase, NodeJS.Timeout>();
  pool.on('acquire', (client) => void ends.set(client, setTimeout(() => void client.end().catch(() => undefined), ms).unref()));
  pool.on('connect', (client) => (client as EventEmitter).on(ASKED, () => ends.get(client)?.refresh()));
  pool.on('release', (_, client) => {
    clearTimeout(ends.get(client));
    ends.delete(client);
  });
}

/** Connections to the database at `url`, one of them tried. Throws one clear sentence when it cannot be reached. */
export async function openPool(url: string, config: PoolOptions): Promise<Pool> {
  const pool = makePool(url, config);
  try {
    await pool.query('SELECT 1');
  } catch (error) {
    await pool.end();
    throw unreachable(url, error);
  }
  return pool;
}
