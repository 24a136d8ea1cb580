import type { Pool } from 'pg';
import type { WorldPage } from '../../../src/sandbox/simulator/world';
import { prediction } from '../../../src/venues/prediction/index';
import { recognise } from '../../../src/workers/ingest';
import { openPage, pageOf } from '../../../src/workers/pages';
import type { IngestReport, RecordedPage } from '../../../src/workers/source';
import { loadPage } from '../../support/load-page';

const quiet = { progress: () => undefined };

/** Loads a page through whichever source of the wing recognises it. */
export async function loadRecorded(pool: Pool, recorded: RecordedPage): Promise<{ source: string; report: IngestReport }> {
  const { source, page } = await recognise(prediction, recorded);
  if (source === null) throw new Error(`${recorded.name} is not recognised`);
  return { source: source.name, report: await loadPage(pool, prediction.name, source, page, quiet) };
}

/** Loads records as a page of that name. */
export const loadRecords = (
  pool: Pool,
  name: string,
  records: unknown[],
  format: RecordedPage['format'] = 'json',
): Promise<{ source: string; report: IngestReport }> => loadRecorded(pool, pageOf(name, format, records));

/** Loads simulated pages, or those whose place among them is wanted. */
export async function loadPart(pool: Pool, pages: Iterable<WorldPage>, part: (index: number) => boolean = () => true): Promise<void> {
  for (const [index, page] of [...pages].entries()) if (part(index)) await loadRecords(pool, page.name, page.records, page.format);
}

/** Loads a recorded file. */
export const loadFile = (pool: Pool, file: string): Promise<{ source: string; report: IngestReport }> => loadRecorded(pool, openPage(file));

/** A wallet, condition or transaction id for small worlds. */
export const wallet = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
export const condition = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
export const tx = (n: number): string => `0x${(0xabc0000 + n).toString(16).padStart(64, '0')}`;
/** Token of outcome `index` of market `n`. */
export const token = (n: number, index: number): string => String(n * 1_000 + index + 1);
