import type { Pool } from 'pg';
import { liveMarkets } from '../../../../src/venues/prediction/sources/live-markets';
import type { FeedCursor, LiveContext } from '../../../../src/workers/source';
import type { Upstream } from '../../../../src/workers/upstream';
import { market } from '../small-world';
import { condition } from '../support';

const NOW = Date.parse('2026-05-04T12:00:00Z');

/** A catalogue whose clock shows so many seconds more than ours. */
class Catalogue implements Upstream {
  private readonly changed = new Map<number, { at: number; closed: boolean }>();
  /** What changed later its listing of closed markets does not tell yet. */
  closedUntil = Number.POSITIVE_INFINITY;
  constructor(private readonly ahead_s: number) {}

  change(n: number, at: number, closed = false): void {
    this.changed.set(n, { at: at + this.ahead_s * 1_000, closed });
  }

  get(_path: string, query: Readonly<Record<string, unknown>>): Promise<unknown> {
    const listed = [...this.changed]
      .filter(([, { at, closed }]) => closed === query.closed && (!closed || at <= this.closedUntil))
      .sort(([, a], [, b]) => b.at - a.at);
    return Promise.resolve({ markets: listed.map(([n, { at, closed }]) => market(n, { closed, updatedAt: new Date(at).toISOString() })) });
  }

  post(): Promise<unknown> {
    return Promise.reject(new Error('nothing is posted to a catalogue'));
  }
}

async function poll(catalogue: Catalogue, cursor: FeedCursor, now: number): Promise<{ cursor: FeedCursor; markets: unknown[] }> {
  const db = { query: () => Promise.resolve({ rows: [] }) } as unknown as Pool;
  const context = { signal: new AbortController().signal, db, now: () => new Date(now) } satisfies LiveContext;
  const told = { cursor, markets: [] as unknown[] };
  for await (const step of liveMarkets(catalogue, 1).update(cursor, new Date(now), context)) {
    for (const { page } of step.pages)
      for await (const record of page.records) told.markets.push((record as { conditionId: string }).conditionId);
    told.cursor = step.cursor;
  }
  return told;
}

test.each([-3_600, -600, 0, 600])(
  'no change is passed over by a catalogue whose clock shows %i seconds more than ours',
  async (ahead_s) => {
    const catalogue = new Catalogue(ahead_s);
    for (let n = 1; n <= 10; n += 1) catalogue.change(n, NOW - 86_400_000 * n);
    let { cursor } = await poll(catalogue, liveMarkets(catalogue, 1).begin(new Date(NOW - 86_400_000 * 20)), NOW);
    for (let n = 1; n <= 10; n += 1) {
      const now = NOW + n * 300_000;
      catalogue.change(n, now - 1_000);
      const told = await poll(catalogue, cursor, now);
      expect(told.markets).toContain(condition(n));
      // What is known is not read again and again.
      expect(told.markets.length).toBeLessThan(6);
      cursor = told.cursor;
    }
  },
);

test('a change that claims to be of the future hides none that follow', async () => {
  const catalogue = new Catalogue(0);
  catalogue.change(1, NOW + 1e11);
  const { cursor } = await poll(catalogue, liveMarkets(catalogue, 1).begin(new Date(NOW - 86_400_000)), NOW);
  catalogue.change(2, NOW + 60_000);
  expect((await poll(catalogue, cursor, NOW + 61_000)).markets).toContain(condition(2));
});

test('a listing of closed markets that lags behind that of open ones hides none of its changes', async () => {
  const catalogue = new Catalogue(0);
  let { cursor } = await poll(catalogue, liveMarkets(catalogue, 1).begin(new Date(NOW - 86_400_000)), NOW);
  const told: unknown[] = [];
  for (let n = 1; n <= 10; n += 1) {
    const now = NOW + n * 60_000;
    catalogue.change(n, now - 1_000, n % 2 === 0);
    catalogue.closedUntil = now - 300_000;
    const polled = await poll(catalogue, cursor, now);
    cursor = polled.cursor;
    told.push(...polled.markets);
  }
  catalogue.closedUntil = Number.POSITIVE_INFINITY;
  told.push(...(await poll(catalogue, cursor, NOW + 660_000)).markets);
  expect(new Set(told)).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(condition)));
});
