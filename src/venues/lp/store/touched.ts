import { HOUR_MS, MINUTE_MS } from '../../../lib/time';

/** Minutes this close are one range, and more separate ranges than this are joined: a few scans of more rows beat many scans of few. */
const APART_MS = 6 * HOUR_MS;
const RANGES_AT_MOST = 100;

/** Half open. */
export interface TimeRange {
  from: Date;
  to: Date;
}

/** The minutes in which something changed that figures depend on. */
export class TouchedMinutes {
  private readonly minutes = new Set<number>();

  add(time: Date): void {
    this.minutes.add(Math.floor(time.getTime() / MINUTE_MS));
  }

  addAll(other: TouchedMinutes): void {
    for (const minute of other.minutes) this.minutes.add(minute);
  }

  get empty(): boolean {
    return this.minutes.size === 0;
  }

  /** The minutes, and short gaps between them, as few ranges, oldest first; each minute reaches `after_ms` beyond its end. */
  ranges(after_ms = 0): TimeRange[] {
    const sorted = [...this.minutes].sort((a, b) => a - b);
    for (let apart = APART_MS; ; apart *= 2) {
      const ranges = merged(sorted, apart, after_ms);
      if (ranges.length <= RANGES_AT_MOST) return ranges;
    }
  }
}

function merged(sorted: readonly number[], apart_ms: number, after_ms: number): TimeRange[] {
  const ranges: TimeRange[] = [];
  for (const minute of sorted) {
    const from = minute * MINUTE_MS;
    const to = new Date(from + MINUTE_MS + after_ms);
    const last = ranges.at(-1);
    if (last !== undefined && from <= last.to.getTime() + apart_ms) last.to = to;
    else ranges.push({ from: new Date(from), to });
  }
  return ranges;
}
