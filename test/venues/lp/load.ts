import fs from 'node:fs';
import zlib from 'node:zlib';
import { parse } from 'csv-parse/sync';
import type { Pool } from 'pg';
import { LONG_WORK, inTransaction } from '../../../src/db/transaction';
import { lockRollups } from '../../../src/venues/lp/rollups/recount';
import { recountSmart } from '../../../src/venues/lp/rollups/smart';
import { sources } from '../../../src/venues/lp/sources/all';
import { openPage } from '../../../src/workers/pages';
import type { IngestReport, RecordedPage } from '../../../src/workers/source';

/** A page of records as the ingest command would hand it over. */
export function pageOf(name: string, records: unknown[], format: RecordedPage['format'] = 'json'): RecordedPage {
  return {
    name,
    format,
    records: (async function* () {
      yield* records;
    })(),
  };
}

/** Loads a page in a transaction of its own, by the source that recognises it. Throws when none does. */
export async function loadRecords(
  pool: Pool,
  name: string,
  records: unknown[],
  format: RecordedPage['format'] = 'json',
): Promise<IngestReport> {
  const source = sources.find((candidate) => candidate.recognises(records[0], { name, format }));
  if (source === undefined) throw new Error(`no source recognises ${name}`);
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const report = await source.load(pageOf(name, records, format), client, { progress: () => undefined });
    await client.query('COMMIT');
    return report;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

/** Counts smart days anew after scores were written past the daily run. */
export const scoresWritten = (pool: Pool): Promise<void> =>
  inTransaction(
    pool,
    async (client) => {
      await lockRollups(client);
      await recountSmart(client, '2000-01-01');
    },
    LONG_WORK,
  );

/** Records of a gzipped NDJSON file. */
export async function readNdjson<Row>(file: string): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of openPage(file).records) rows.push(row as Row);
  return rows;
}

/** Rows of a gzipped CSV file with a header. */
export const readRows = <Row>(file: string): Row[] => parse(zlib.gunzipSync(fs.readFileSync(file)).toString('utf8'), { columns: true });
