import { lruOf } from './lru';
import { MINUTE_MS } from './time';

/** What was quiet for so long begins anew: longer than anything waits that tries again, an upstream that says nothing to any of its attempts at three questions among it. */
const QUIET_MS = 6 * MINUTE_MS;
const AGAIN_MS = 10 * MINUTE_MS;
const MOST_KINDS = 100;

/** The kind of an error: its code where it has one, for its words may name another file or process each time. */
const kindOf = (error: unknown): string => {
  const { code, message } = error as Error & { code?: string };
  return code ?? message;
};

/** Who tells of a failure that goes on: when it begins, and every ten minutes while it does. A database that is away fails whoever asks it. */
export class FailureThrottle {
  private readonly kinds = lruOf<{ seen: number; told: number; untold: number }>(MOST_KINDS);

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Calls `tell` where this failure, of what is named by `of`, is to be told, with how many of its kind were not since the last one. */
  note(error: unknown, tell: (untold: number) => void, of = ''): void {
    const [kind, now] = [`${of} ${kindOf(error)}`, this.now()];
    const known = this.kinds.get(kind);
    if (known !== undefined && now - known.seen < QUIET_MS && now - known.told < AGAIN_MS) {
      known.seen = now;
      known.untold += 1;
      return;
    }
    this.kinds.set(kind, { seen: now, told: now, untold: 0 });
    tell(known?.untold ?? 0);
  }
}
