import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Pool } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { VenueName } from '../../src/venues/venue';
import { testDatabase } from '../support/database';
import { type Figure, printTable, timed } from './measure';
import { WORLD_NOW, WORLD_START, loadAll, simulatorOf, venueOf } from './world-build';

/** Facts of each venue's world that are loaded, about. */
const FACTS = Number(process.env.BENCH_INGEST ?? 60_000);

const FACT_TABLES: Record<VenueName, readonly string[]> = {
  prediction: ['pm_trade'],
  perps: ['perp_fill', 'perp_match'],
  lp: ['lp_event', 'lp_swap', 'lp_reward', 'lp_position_event', 'dca_event', 'lp_volume_hour'],
};
const PREFIXES: Record<VenueName, string> = { prediction: '^pm_', perps: '^perp_', lp: '^(lp_|dca_|token_)' };

/** The venue's tables that hold rows; of partitioned ones the parents. */
async function tablesOf(pool: Pool, venue: VenueName): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace AND relname ~ $1 ORDER BY 1",
    [PREFIXES[venue]],
  );
  return rows.map(({ name }) => name);
}

async function copyOut(pool: Pool, table: string, file: string): Promise<void> {
  const client = await pool.connect();
  try {
    await pipeline(client.query(copyTo(`COPY (SELECT * FROM ${table}) TO STDOUT`)), createWriteStream(file));
  } finally {
    client.release();
  }
}

/** Rows that a bare COPY put into the table. */
async function copyIn(pool: Pool, table: string, file: string): Promise<number> {
  const client = await pool.connect();
  try {
    const into = client.query(copyFrom(`COPY ${table} FROM STDIN`));
    await pipeline(createReadStream(file), into);
    return into.rowCount;
  } finally {
    client.release();
  }
}

/** Copies the tables' rows back into them, emptied, indexes in place; seconds and rows. */
async function copyAll(pool: Pool, tables: readonly string[], folder: string): Promise<{ rows: number; seconds: number }> {
  await pool.query(`TRUNCATE ${tables.join(', ')}`);
  const { result, seconds } = await timed(async () => {
    let rows = 0;
    for (const table of tables) rows += await copyIn(pool, table, path.join(folder, table));
    return rows;
  });
  return { rows: result, seconds };
}

test.each(['prediction', 'perps', 'lp'] as const)('loading %s', async (name) => {
  const db = await testDatabase();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-ingest-'));
  try {
    const pages = [...simulatorOf(name, FACTS, 1).pages(WORLD_START, WORLD_NOW)];
    const loaded = await timed(() => loadAll(db.pool, venueOf(name), pages));
    const tables = await tablesOf(db.pool, name);
    for (const table of tables) await copyOut(db.pool, table, path.join(folder, table));
    const facts = await copyAll(db.pool, FACT_TABLES[name], folder);
    const whole = await copyAll(db.pool, tables, folder);
    const rate = (rows: number, seconds: number): number => Math.round(rows / seconds);
    const share = (seconds: number): string => `${((100 * seconds) / loaded.seconds).toFixed(0)} %`;
    const rows: Figure[] = [
      { what: 'through the source, with rollups', rows: loaded.result.facts, seconds: loaded.seconds.toFixed(1), 'rows/s': rate(loaded.result.facts, loaded.seconds), share: '' },
      { what: 'COPY of the fact tables alone', rows: facts.rows, seconds: facts.seconds.toFixed(1), 'rows/s': rate(facts.rows, facts.seconds), share: share(facts.seconds) },
      { what: 'COPY of facts, catalogue and rollups', rows: whole.rows, seconds: whole.seconds.toFixed(1), 'rows/s': rate(whole.rows, whole.seconds), share: share(whole.seconds) },
    ]; // prettier-ignore
    printTable(`Loading ${name}; share = time of the COPY over time through the source`, rows);
  } finally {
    rmSync(folder, { recursive: true });
    await db.drop();
  }
});
