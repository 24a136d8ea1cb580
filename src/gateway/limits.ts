import { isIPv6 } from 'node:net';
import { AppError } from '../errors';
import { withDeadline } from '../lib/deadline';
import { lruOf } from '../lib/lru';
import { Semaphore } from '../lib/semaphore';
import { MINUTE_MS } from '../lib/time';

/** Who is counted as one caller: an IPv4 address, or the /64 network of an IPv6 one, for a single customer is given that many. */
export function callerOf(ip: string | undefined): string {
  const address = (ip ?? '').toLowerCase().replace(/^::ffff:(?=\d+\.)|%.*$/g, '');
  if (!isIPv6(address)) return address;
  const [head = [], tail] = address.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const left = [...head];
  if (tail !== undefined) left.push(...Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0'), ...tail);
  return `${left
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

/** Callers remembered at once; the least recent is forgotten first. */
const MOST_CALLERS = 100_000;

/** At most `perMinute` events of one caller within a minute (fixed windows); 0 means no limit. `what` names them to who is refused. */
export class RateLimit {
  private readonly windows = lruOf<{ since: number; count: number }>(MOST_CALLERS);

  constructor(
    private readonly perMinute: number,
    private readonly what: string,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Counts one event. Throws AppError rate_limited when the caller is over the limit. */
  count(caller: string): void {
    this.check(caller);
    this.note(caller);
  }

  /** Counts one event that has happened already. */
  note(caller: string): void {
    if (this.perMinute === 0) return;
    const window = this.windows.get(caller);
    if (window === undefined || this.now() - window.since >= MINUTE_MS) this.windows.set(caller, { since: this.now(), count: 1 });
    else window.count += 1;
  }

  /** Throws AppError rate_limited when one more event would be over the limit. */
  check(caller: string): void {
    if (this.perMinute === 0) return;
    const window = this.windows.get(caller);
    if (window === undefined || this.now() - window.since >= MINUTE_MS || window.count < this.perMinute) return;
    const retryAfter = Math.max(1, Math.ceil((window.since + MINUTE_MS - this.now()) / 1_000));
    throw new AppError('rate_limited', {
      message: `More than ${this.perMinute} ${this.what} in a minute.`,
      retry_after_s: retryAfter,
    });
  }
}

/** `max` executions at once; others wait up to `patienceMs`, in order, then are refused. */
export class Slots extends Semaphore {
  constructor(
    max: number,
    private readonly patienceMs: number,
    watch?: (active: number, waiting: number) => void,
  ) {
    super(max, watch);
  }

  /** Takes a slot. Throws AppError at_capacity when none came free in time, or the signal's reason. */
  override async acquire(signal: AbortSignal): Promise<void> {
    try {
      await withDeadline(this.patienceMs, (soon) => super.acquire(soon), signal);
    } catch {
      signal.throwIfAborted();
      throw new AppError('at_capacity', { retry_after_s: Math.ceil(this.patienceMs / 1_000) });
    }
  }
}
