import type { IngestReport, RecordedSource } from './source';
import { UpstreamError } from './upstream';

/** Fewer may be odd ones. */
const MANY = 20;

/**
 * Counts what could not be read of a step's records, but for what no question asks for. A feed of which nothing can be read any more has changed its
 * format: if it went on, all that it tells meanwhile would be lost.
 */
export class Unread {
  private known = 0;
  private readonly reasons = new Map<string, number>();

  /** `before`: unread records of the steps before, since the last of which something was read. */
  constructor(private readonly before: number) {}

  /** How many unread records stand in a row after the step, `own` of them of the step itself. */
  inARow(own: number): number {
    return this.known > 0 ? 0 : this.before + own;
  }

  add({ harmless = [] }: Pick<RecordedSource, 'harmless'>, { inserted, duplicates, skipped }: IngestReport): void {
    this.known += inserted + duplicates;
    for (const [reason, count] of Object.entries(skipped)) if (!harmless.includes(reason)) this.note(reason, count);
  }

  note(reason: string, count: number): void {
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + count);
  }

  /** Throws UpstreamError, with the commonest reason, when there were many and not one was read. */
  check(feed: string): void {
    const reasons = [...this.reasons].sort(([, a], [, b]) => b - a);
    const count = reasons.reduce((sum, [, each]) => sum + each, 0);
    if (this.known > 0 || count === 0 || this.before + count < MANY) return;
    throw new UpstreamError(`${feed} tells nothing that can be read: of ${this.before + count} records none (${reasons[0]?.[0]})`, null);
  }
}
