import type { Pool } from 'pg';
import { liveMarkets } from '../../../../src/venues/prediction/sources/live-markets';
import type { FeedCursor, LiveContext } from '../../../../src/workers/source';
import type { Upstream } from '../../../../src/workers/upstream';
import { market } from '../small-world';
import { condition } from '../support';

const NOW = Date.parse('2026-05-04T12:00:00Z');

/** A catalogue whose clock shows so many seconds more than ours. */
class Catalogue implements Upstream {
  private readonly changed = new Map<number, number>();
  constructor(private readonly ahead_s: number) {}

  change(n: number, at: number): void {
    this.changed.set(n, at + this.ahead_s * 1_000);
  }

  get(_path: string, query: Readonly<Record<string, unknown>>): Promise<unknown> {
    const listed = [...this.changed].sort(([, a], [, b]) => b - a);
    const markets = listed.map(([n, at]) => market(n, { updatedAt: new Date(at).toISOString() }));
    return Promise.resolve({ markets: query.closed === true ? [] : markets });
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
