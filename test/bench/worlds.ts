import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Client, type Pool } from 'pg';
import { openDatabase } from '../../src/db/client';
import { locateDatabase } from '../../src/db/location';
import { migrate } from '../../src/db/migrate';
import type { VenueName } from '../../src/lib/venue-name';
import { ROOT } from '../support/root';
import { layInTime } from './world-order';
import { type BuiltWorld, WORLD_NOW, type WorldId, buildWorld, builtOf, dayOf, liveDays, liveOn, renewWorld } from './world-build';

/** The venues that are measured. */
export const VENUES = (process.env.BENCH_VENUE?.split(',') ?? ['prediction', 'perps', 'lp']) as VenueName[];

/** A simulated world in a database that is kept from one run to the next: loaded through the venue's own sources, and scored. */
export interface BenchWorld extends WorldId {
  /** Address of its database, for a server of the product's own. */
  url: string;
  pool: Pool;
  /** The instant everything in it is before: the clock to answer by. */
  now: Date;
  facts: number;
  /** How it was built, whenever that was. */
  built: BuiltWorld;
  /** Closes the pool, and stops the server if this process started it; the database stays. */
  close(): Promise<void>;
}

// Nothing here is worth an fsync: a half-built database is thrown away, and a finished one can be built again.
const SERVER = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  maintenance_work_mem: '256MB',
  max_connections: 100,
};

/**
 * The world of `venue` with about `size` facts over 30 days, seed 1 unless said, and the hours since they were scored: built at first use, opened afterwards. Databases are kept on
 * an embedded server under BENCH_DATA (else a folder of the system's temporary ones), or on the server BENCH_DATABASE_URL, one for each venue,
 * size, seed and state of the simulator; one that older migrations made is migrated, rebuilt from its facts and scored again. Prints progress
 * to stderr while it builds.
 */
export const openBenchWorld = (venue: VenueName, size: number, seed = 1): Promise<BenchWorld> => {
  const world = { venue, size, seed };
  return openKept(world, stemOf(world), WORLD_NOW, async (admin, url) => {
    const name = url.pathname.slice(1);
    if ((await names(admin, name)).includes(name)) await renew(url.href, venue);
    else await build(admin, url, world);
    await live(url.href, world);
  });
};

/**
 * The world of `venue` with about `size` facts every 30 days, seed 1, as a server comes to have it in so many `days`: read page by page, scored at midnights, its signals stored and marked.
 * Kept as those of `openBenchWorld`, but built anew where older migrations made it. It grows from the oldest younger one that is kept.
 */
export const openAgedWorld = (venue: VenueName, size: number, days: number): Promise<BenchWorld> => {
  const world = { venue, size, seed: 1 };
  const stem = `${stemOf(world)}_${migrationsState(venue)}_`;
  return openKept(world, `${stem}${days}`, dayOf(days), async (admin, url) => {
    const ages = (await names(admin, stem)).map((name) => Number(name.slice(stem.length))).filter((age) => age <= days);
    const from = Math.max(0, ...ages);
    if (from < days) await draft(admin, url, venue, from === 0 ? null : `${stem}${from}`, (pool) => liveDays(pool, world, from, days, say));
  });
};

async function openKept(world: WorldId, name: string, now: Date, bring: (admin: Client, url: URL) => Promise<void>): Promise<BenchWorld> {
  const folder = process.env.BENCH_DATA ?? path.join(os.tmpdir(), 'smart-money-bench');
  fs.mkdirSync(folder, { recursive: true });
  const server = await locateDatabase(process.env.BENCH_DATABASE_URL ?? false, folder, SERVER);
  try {
    const url = databaseAt(server.url, name);
    await asOnlyBuilder(server.url, name, (admin) => bring(admin, url));
    const db = await openDatabase(url.href, { statement_timeout_ms: 0 });
    const built = await builtOf(db.pool);
    const close = async (): Promise<void> => {
      await db.close();
      await server.release();
    };
    return { ...world, url: url.href, pool: db.pool, now, facts: built.facts + built.live_facts, built, close };
  } catch (error) {
    await server.release();
    throw error;
  }
}

const stemOf = ({ venue, size, seed }: WorldId): string => `bench_${venue}_${size}_${seed}_${simulatorState(venue)}`;

function databaseAt(server: string | URL, name: string): URL {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url;
}

/** Databases whose names begin so. */
async function names(admin: Client, stem: string): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>('SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)', [stem]);
  return rows.map(({ name }) => name);
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const build = (admin: Client, url: URL, world: WorldId): Promise<void> =>
  draft(admin, url, world.venue, null, async (pool) => {
    const built = await buildWorld(pool, world, say);
    await layInTime(pool, say);
    return built;
  });

/** Built under another name, from nothing or from a copy of `template`, and renamed when whole, so that a build that was interrupted is never taken for a world. */
async function draft(
  admin: Client,
  url: URL,
  venue: VenueName,
  template: string | null,
  work: (pool: Pool) => Promise<BuiltWorld>,
): Promise<void> {
  const name = url.pathname.slice(1);
  const unfinished = `${name}_draft`;
  await admin.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${unfinished}${template === null ? '' : ` TEMPLATE ${template}`}`);
  const { href } = databaseAt(url, unfinished);
  await migrate(href, path.join(ROOT, 'prisma/migrations'));
  const db = await openDatabase(href, { statement_timeout_ms: 0 });
  try {
    const built = await work(db.pool);
    await db.pool.query('DROP TABLE IF EXISTS bench_world');
    await db.pool.query('CREATE TABLE bench_world (built jsonb NOT NULL, migrations text NOT NULL)');
    await db.pool.query('INSERT INTO bench_world VALUES ($1, $2)', [JSON.stringify(built), migrationsState(venue)]);
  } finally {
    await db.close();
  }
  await admin.query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`);
}

/** Brings a world of older migrations to those of today; rebuilds it where they touch its venue's tables. */
async function renew(url: string, venue: VenueName): Promise<void> {
  await migrate(url, path.join(ROOT, 'prisma/migrations'));
  const db = await openDatabase(url, { statement_timeout_ms: 0 });
  try {
    const { rows } = await db.pool.query<{ migrations: string }>('SELECT migrations FROM bench_world');
    if (rows[0]?.migrations === migrationsState(venue)) return;
    await renewWorld(db.pool, venue, say);
    await layInTime(db.pool, say);
    await db.pool.query('UPDATE bench_world SET migrations = $1', [migrationsState(venue)]);
  } finally {
    await db.close();
  }
}

/** Brings a world from its score run to its clock, once; a page that was read before changes nothing. */
async function live(url: string, world: WorldId): Promise<void> {
  const db = await openDatabase(url, { statement_timeout_ms: 0 });
  try {
    const { rowCount } = await db.pool.query("SELECT FROM bench_world WHERE built -> 'live_facts' > '0'");
    if (rowCount === 1) return;
    const facts = await liveOn(db.pool, world, say);
    await db.pool.query("UPDATE bench_world SET built = built || jsonb_build_object('live_facts', $1::int)", [facts]);
  } finally {
    await db.close();
  }
}

async function asOnlyBuilder<T>(url: string, name: string, work: (admin: Client) => Promise<T>): Promise<T> {
  const admin = new Client({ connectionString: url });
  await admin.connect();
  try {
    await admin.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
    return await work(admin);
  } finally {
    await admin.end();
  }
}

const TABLES: Record<VenueName, string> = { prediction: 'pm_', perps: 'perp_', lp: 'lp_' };

const migrationsState = (venue: VenueName): string =>
  digestOf(filesBelow(path.join(ROOT, 'prisma/migrations')).filter((file) => fs.readFileSync(file, 'utf8').includes(TABLES[venue])));

function simulatorState(venue: VenueName): string {
  const simulator = `src/sandbox/simulator/${venue}`;
  return digestOf([simulator, `${simulator}.ts`, 'src/sandbox/simulator/world.ts'].flatMap((place) => filesBelow(path.join(ROOT, place))));
}

/** Short digest of files. */
function digestOf(files: string[]): string {
  const hash = crypto.createHash('sha256');
  for (const file of files) hash.update(file.slice(ROOT.length)).update(fs.readFileSync(file));
  return hash.digest('hex').slice(0, 10);
}

function filesBelow(place: string): string[] {
  if (fs.statSync(place).isFile()) return [place];
  return fs
    .readdirSync(place)
    .sort()
    .flatMap((name) => filesBelow(path.join(place, name)));
}
