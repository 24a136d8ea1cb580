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

  add({ harmless = [] }: Pick<RecordedSource, 'harmless'>, { inserted, duplicates, skipped }: IngestReport): void {
    this.known += inserted + duplicates;
    for (const [reason, count] of Object.entries(skipped))
      if (!harmless.includes(reason)) this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + count);
  }

  /** Throws UpstreamError, with the commonest reason, when there were many and not one was read. */
  check(feed: string): void {
    const reasons = [...this.reasons].sort(([, a], [, b]) => b - a);
    const count = reasons.reduce((sum, [, each]) => sum + each, 0);
    if (this.known > 0 || count < MANY) return;
    throw new UpstreamError(`${feed} tells nothing that can be read: of ${count} records none (${reasons[0]?.[0]})`, null);
  }
}
