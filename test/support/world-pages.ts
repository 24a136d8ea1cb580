import type { WorldOptions } from '../../src/sandbox/simulator/world';
import type { VenueName } from '../../src/lib/venue-name';
import { recognise } from '../../src/workers/ingest';
import { pageOf } from '../../src/workers/pages';
import type { RecordedPage, RecordedSource } from '../../src/workers/source';
import { WORLDS, wingOf } from './world';

/** A page of a simulated world that can be loaded more than once. */
export interface LoadablePage {
  name: string;
  source: RecordedSource;
  page(): RecordedPage;
}

/** The pages a venue's world tells from its start to `to`, each with the source that loads it. */
export async function pagesOf(venue: VenueName, options: WorldOptions, to: Date): Promise<LoadablePage[]> {
  const pages: LoadablePage[] = [];
  for (const { name, format, records } of WORLDS[venue](options).pages(options.start, to)) {
    const { source } = await recognise(wingOf(venue), pageOf(name, format, records));
    if (source !== null) pages.push({ name, source, page: () => pageOf(name, format, records) });
  }
  return pages;
}
