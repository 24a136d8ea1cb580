import { HOUR_MS } from '../../../lib/time';

/** Hours this close are one range, and more separate ranges than this are joined: a few scans of more rows beat many scans of few. */
const HOURS_APART = 6;
const RANGES_AT_MOST = 100;

/** Half open. */
export interface TimeRange {
  from: Date;
  to: Date;
}

/** The hours in which something changed that figures depend on. */
export class TouchedHours {
  private readonly hours = new Set<number>();

  add(time: Date): void {
    this.hours.add(Math.floor(time.getTime() / HOUR_MS));
  }

  addAll(other: TouchedHours): void {
    for (const hour of other.hours) this.hours.add(hour);
  }

  get empty(): boolean {
    return this.hours.size === 0;
  }

  /** The hours, and short gaps between them, as few ranges, oldest first. With `after`, each hour reaches that many hours further. */
  ranges(after = 0): TimeRange[] {
    const sorted = [...this.hours].sort((a, b) => a - b);
    for (let gap = after + HOURS_APART; ; gap *= 2) {
      const ranges = merged(sorted, gap, after);
      if (ranges.length <= RANGES_AT_MOST) return ranges;
    }
  }
}

function merged(sorted: number[], gap: number, after: number): TimeRange[] {
  const ranges: TimeRange[] = [];
  for (const hour of sorted) {
    const last = ranges.at(-1);
    const to = new Date((hour + 1 + after) * HOUR_MS);
    if (last !== undefined && hour * HOUR_MS <= last.to.getTime() + (gap - after - 1) * HOUR_MS) last.to = to;
    else ranges.push({ from: new Date(hour * HOUR_MS), to });
  }
  return ranges;
}
