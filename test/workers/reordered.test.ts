import fc from 'fast-check';
import type { VenueName } from '../../src/lib/venue-name';
import { type PageLoader, together } from '../../src/workers/ingest';
import { loadPage } from '../support/load-page';
import { testDatabase } from '../support/database';
import { differencesOf, dumpOf, keptTables } from '../support/dump';
import { type LoadablePage, pagesOf } from '../support/world-pages';

jest.setTimeout(600_000);

// However pages come (twice, late, in any order), the store ends as one clean run leaves it, to the last digit.

const START = new Date('2026-03-01T00:00:00Z');

async function stored(venue: VenueName, pages: readonly LoadablePage[], apart = true): Promise<Record<string, string[]>> {
  const db = await testDatabase();
  const alone: PageLoader = (source, page, options) => loadPage(db.pool, venue, source, page, options);
  const loadAll = async (load: PageLoader): Promise<void> => {
    for (const { source, page } of pages) await load(source, page(), { progress: () => undefined });
  };
  try {
    await (apart ? loadAll(alone) : together(db.pool, venue, loadAll));
    return await dumpOf(db.pool, await keptTables(db.pool, venue));
  } finally {
    await db.drop();
  }
}

const WORLDS = [
  ['prediction', 2.5],
  ['perps', 1.5],
  ['lp', 1.5],
] as const;

describe.each(WORLDS)('%s', (venue, days) => {
  let pages: LoadablePage[];
  let clean: Record<string, string[]>;
  beforeAll(async () => {
    pages = await pagesOf(venue, { seed: 1, size: 6_000, start: START }, new Date(START.getTime() + days * 86_400_000));
    clean = await stored(venue, pages);
  });

  test('pages in order, some of them twice', async () => {
    expect(
      differencesOf(
        await stored(
          venue,
          pages.flatMap((page, index) => (index % 3 === 0 ? [page, page] : [page])),
        ),
        clean,
      ),
    ).toEqual({});
    expect(pages.length).toBeGreaterThan(3);
  });

  test('pages that share transactions', async () => {
    expect(differencesOf(await stored(venue, pages, false), clean)).toEqual({});
  });

  test('pages in any order, some of them twice, each alone or in transactions that they share', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(pages, { minLength: pages.length }),
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        async (shuffled, again, apart) => {
          const order = [...shuffled, ...shuffled.filter((_, index) => index % again === 0)];
          expect(differencesOf(await stored(venue, order, apart), clean)).toEqual({});
        },
      ),
      { numRuns: 6, endOnFailure: true },
    );
  });
});
