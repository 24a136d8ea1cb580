import type { PoolClient } from 'pg';
import { addTo } from '../lib/grouped';

/** Work that is done once with all the parts that were left to it. */
type Work<Part> = (client: PoolClient, parts: readonly Part[]) => Promise<void>;

/** What the pages of one transaction leave to its end: what each of them would count anew is counted once. */
export class Remainder {
  private readonly left = new Map<Work<never>, unknown[]>();

  leave<Part>(work: Work<Part>, part: Part): void {
    addTo(this.left, work, part);
  }

  /** What is left to a work so far. */
  leftTo<Part>(work: Work<Part>): readonly Part[] {
    return (this.left.get(work) ?? []) as Part[];
  }

  /** Does what was left, in the transaction of those who left it; nothing is left then. */
  async finish(client: PoolClient): Promise<void> {
    const works = [...this.left];
    this.left.clear();
    for (const [work, parts] of works) await work(client, parts as never[]);
  }
}

/** Leaves the part to the work's turn; without a remainder that is now. */
export async function leaveOrDo<Part>(remainder: Remainder | undefined, client: PoolClient, work: Work<Part>, part: Part): Promise<void> {
  if (remainder === undefined) await work(client, [part]);
  else remainder.leave(work, part);
}
