import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Pool } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { DAY_MS } from '../../src/lib/time';
import type { VenueName } from '../../src/lib/venue-name';
import { testDatabase } from '../support/database';
import { wingOf } from '../support/world';
import { type Figure, printTable } from './measure';
import { backfill, together } from '../../src/workers/ingest';
import { runScores } from '../../src/workers/scores';
import { type Spent, spending } from './spent';
import { WORLD_SCORED, WORLD_START, byPage, loadAll, simulatorOf } from './world-build';
import { VENUES } from './worlds';

// BENCH_VENUE=prediction|perps|lp (all), BENCH_INGEST=facts of each venue's world, about (60000), BENCH_PAGED=no leaves out what takes longest by far.

const FACTS = Number(process.env.BENCH_INGEST ?? 60_000);
const PAGED = process.env.BENCH_PAGED !== 'no';

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

/** Copies the tables' rows back into them, emptied, indexes in place. */
async function copyAll(pool: Pool, tables: readonly string[], folder: string): Promise<Spent & { result: number }> {
  await pool.query(`TRUNCATE ${tables.join(', ')}`);
  return spending(pool, async () => {
    let rows = 0;
    for (const table of tables) rows += await copyIn(pool, table, path.join(folder, table));
    return rows;
  });
}

test.each(VENUES)('loading %s', async (name) => {
  const db = await testDatabase();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-ingest-'));
  try {
    const pages = [...simulatorOf(name, FACTS, 1).pages(WORLD_START, WORLD_SCORED)];
    const venue = wingOf(name);
    const tables = await tablesOf(db.pool, name);
    const paged = PAGED
      ? await spending(db.pool, () => together(db.pool, name, async (load) => (await loadAll(load, venue, pages)).facts))
      : null;
    if (paged !== null) await db.pool.query(`TRUNCATE ${tables.join(', ')}; DELETE FROM source_cursor`);
    const later = await spending(db.pool, async () => (await backfill(db.pool, venue, (load) => loadAll(load, venue, pages))).facts);
    for (const table of tables) await copyOut(db.pool, table, path.join(folder, table));
    const facts = await copyAll(db.pool, FACT_TABLES[name], folder);
    const whole = await copyAll(db.pool, tables, folder);
    const line = (what: string, { result, seconds, cpu }: Spent & { result: number }): Figure => ({
      what,
      rows: result,
      seconds: seconds.toFixed(1),
      'rows/s': Math.round(result / seconds),
      'processor s': cpu.toFixed(1),
      'rows per processor s': Math.round(result / cpu),
      'share of COPY': `${((100 * whole.seconds) / seconds).toFixed(0)} %`,
    });
    const rows = [
      ...(paged === null ? [] : [line('through the source, page after page', paged)]),
      line('through the source, rollups at its end', later),
      line('COPY of the fact tables alone', facts),
      line('COPY of facts, catalogue and rollups', whole),
    ];
    printTable(`Loading ${name}; share of COPY = seconds of the last line over those of this one`, rows);
  } finally {
    rmSync(folder, { recursive: true });
    await db.drop();
  }
});

/** Where the scored part of a world ends. */
const SCORED_TO = new Date(WORLD_SCORED.getTime() - 10 * DAY_MS);

test('loading prediction into a scored store, page by page', async () => {
  const venue = wingOf('prediction');
  const world = simulatorOf('prediction', FACTS, 1);
  const scored = await testDatabase();
  const rows: Figure[] = [];
  try {
    await backfill(scored.pool, venue, (load) => loadAll(load, venue, [...world.pages(WORLD_START, SCORED_TO)]));
    await runScores(scored.pool, venue, SCORED_TO, () => undefined);
    await scored.close();
    const pages = [...world.pages(SCORED_TO, WORLD_SCORED)];
    // In turns, the first of each warms up.
    for (const kept of [true, false, true, false, true, false]) {
      const db = await testDatabase(new URL(scored.url).pathname.slice(1));
      if (!kept) await db.pool.query('DELETE FROM pm_smart_run; DELETE FROM pm_smart_position');
      const { result, seconds, cpu } = await spending(db.pool, async () => (await loadAll(byPage(db.pool, venue), venue, pages)).facts);
      rows.push({
        what: kept ? 'as it is' : 'what smart wallets hold not kept',
        rows: result,
        seconds: seconds.toFixed(2),
        'processor s': cpu.toFixed(2),
      });
      await db.drop();
    }
    printTable('Ten days of prediction after a score run, page by page', rows.slice(2));
  } finally {
    await scored.drop();
  }
});
