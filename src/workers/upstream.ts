import { setTimeout as sleep } from 'node:timers/promises';
import { withDeadline } from '../lib/deadline';
import { MINUTE_MS } from '../lib/time';

/** How an upstream may be asked. */
export interface UpstreamOptions {
  /** Base URL, with or without a slash at the end. */
  url: string;
  /** Requests a second on average, over all feeds that share the object: make one per host. */
  per_second: number;
  /** Longest wait for a whole answer. */
  timeout_ms?: number;
  /** How often one request is sent at most. */
  attempts?: number;
  /** Largest answer that is read into memory. */
  max_bytes?: number;
}

/** Values of a query string; lists are repeated, undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | readonly (string | number)[] | undefined>>;

/** An upstream that answers JSON over HTTP. Requests are spaced, retried with back-off and given up after some attempts. */
export interface Upstream {
  /** GET of a path below the base URL. Throws UpstreamError, or the signal's reason. */
  get(path: string, query: Query, signal: AbortSignal): Promise<unknown>;
  /** POST of a JSON body. `weight`: how many requests it counts as. */
  post(path: string, body: unknown, signal: AbortSignal, weight?: number): Promise<unknown>;
}

/** A request that failed for good: its words name host and path, never a query, a body or a key. */
export class UpstreamError extends Error {
  constructor(
    message: string,
    /** HTTP status; null where there was no answer. */
    readonly status: number | null,
    /** How long the upstream asked to be left alone. */
    readonly retry_after_ms: number | null = null,
  ) {
    super(message);
    this.name = 'UpstreamError';
  }

  /** Its kind, whatever was asked for: what happened, without the host and path that it is told with first. */
  get code(): string {
    return this.message.replace(/^\S+ /, '');
  }
}

const TIMEOUT_MS = 20_000;
const ATTEMPTS = 4;
const MAX_BYTES = 64 * 1024 * 1024;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;

/** An upstream is left alone no longer, whatever it asks. */
const LONGEST_REST_MS = 15 * MINUTE_MS;

/** Milliseconds for which the upstream asked to be left alone, 15 minutes at most; 0 where it did not ask. */
export const restAfter = (error: unknown): number =>
  error instanceof UpstreamError ? Math.min(error.retry_after_ms ?? 0, LONGEST_REST_MS) : 0;

/** Full jitter: uniform between nothing and the exponential bound, so that many askers do not come back together. */
export function backOff(attempt: number, first_ms = FIRST_WAIT_MS, longest_ms = LONGEST_WAIT_MS): number {
  return Math.random() * Math.min(longest_ms, first_ms * 2 ** attempt);
}

/** Retry-After as milliseconds: seconds or an HTTP date; null for anything else. */
export function retryAfterMs(header: string | null, now = Date.now()): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** Spaces requests evenly: each waits for its place. */
class Pace {
  private next = 0;
  constructor(private readonly gap_ms: number) {}
  async wait(weight: number, signal: AbortSignal): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, this.next);
    this.next = at + this.gap_ms * weight;
    if (at > now) await sleep(at - now, undefined, { signal });
  }
  /** Nobody asks before then. */
  hold(ms: number): void {
    this.next = Math.max(this.next, performance.now() + ms);
  }
}

/** Makes the one asker of a host. */
export function makeUpstream(options: UpstreamOptions): Upstream {
  const base = options.url.replace(/\/+$/, '');
  const pace = new Pace(1_000 / options.per_second);

  function ask(path: string, target: string, init: RequestInit, weight: number, signal: AbortSignal): Promise<unknown> {
    const where = `${new URL(base).host}${path}`;
    const own = { ...init, headers: { accept: 'application/json', ...init.headers } };
    const read = (response: Response): Promise<unknown> | undefined =>
      response.ok ? parsed(where, response, options.max_bytes ?? MAX_BYTES) : undefined;
    const once = async (): Promise<unknown> => {
      await pace.wait(weight, signal);
      return request(where, target, own, options.timeout_ms ?? TIMEOUT_MS, signal, read);
    };
    return persistently(options.attempts ?? ATTEMPTS, once, signal, (failure) => pace.hold(restAfter(failure)));
  }

  return {
    get: (path, query, signal) => ask(path, `${base}${path}${textOf(query)}`, { method: 'GET' }, 1, signal),
    post: (path, body, signal, weight = 1) =>
      ask(
        path,
        `${base}${path}`,
        { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
        weight,
        signal,
      ),
  };
}

/** The same asker, asked no oftener than this on average: for a path that has a limit of its own within its host's. */
export function atMost(per_second: number, upstream: Upstream): Upstream {
  const pace = new Pace(1_000 / per_second);
  return {
    get: async (path, query, signal) => {
      await pace.wait(1, signal);
      return upstream.get(path, query, signal);
    },
    post: async (path, body, signal, weight = 1) => {
      await pace.wait(weight, signal);
      return upstream.post(path, body, signal, weight);
    },
  };
}

function textOf(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]),
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

/** Whether asking again may help: too many requests, a fault of the server or of the network. */
function isPassing({ status, retry_after_ms }: UpstreamError): boolean {
  if (retry_after_ms !== null && retry_after_ms > LONGEST_WAIT_MS) return false;
  return status === null || status === 408 || status === 425 || status === 429 || status >= 500;
}

/**
 * What `once` brings, asked again where that may help: after as long as the upstream asked for, else after a back-off. `failed` hears of each
 * failure. Throws the last UpstreamError, or the signal's reason.
 */
export async function persistently<T>(
  attempts: number,
  once: () => Promise<T>,
  signal: AbortSignal,
  failed: (failure: UpstreamError) => void = () => undefined,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof UpstreamError)) throw error;
      failed(error);
      if (attempt >= attempts || !isPassing(error)) throw error;
      await sleep(error.retry_after_ms ?? backOff(attempt), undefined, { signal });
    }
  }
}

/**
 * One request, and what `read` makes of its answer; undefined: its status is a failure. Throws UpstreamError in words of ours, which tell
 * `where`, or the signal's reason.
 */
export async function request<T>(
  where: string,
  target: string,
  init: RequestInit,
  timeout_ms: number,
  signal: AbortSignal,
  read: (response: Response) => Promise<T> | undefined,
): Promise<T> {
  const once = async (deadline: AbortSignal): Promise<T> => {
    const response = await fetch(target, { ...init, signal: deadline });
    try {
      const answer = read(response);
      if (answer !== undefined) return await answer;
      throw new UpstreamError(`${where} answered ${response.status}`, response.status, retryAfterMs(response.headers.get('retry-after')));
    } finally {
      if (!response.bodyUsed) await response.body?.cancel();
    }
  };
  try {
    return await withDeadline(timeout_ms, once, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UpstreamError) throw error;
    const late = (error as Error).name === 'TimeoutError';
    throw new UpstreamError(late ? `${where} did not answer in time` : `${where} could not be reached (${causeOf(error)})`, null);
  }
}

/** The network's own word (ECONNREFUSED …), or the kind of error. */
function causeOf(error: unknown): string {
  const { code } = ((error as Error).cause ?? {}) as { code?: string };
  return code ?? (error as Error).name;
}

async function* streamOf(response: Response): AsyncGenerator<Uint8Array> {
  if (response.body !== null) yield* response.body as unknown as AsyncIterable<Uint8Array>;
}

async function parsed(where: string, response: Response, max_bytes: number): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of streamOf(response)) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream.
    if (size > max_bytes) throw new UpstreamError(`${where} answered more than ${max_bytes} bytes`, response.status);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    throw new UpstreamError(`${where} answered something that is not JSON`, null);
  }
}
