import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Client, type ClientBase } from 'pg';
import { backendOf, setUp } from './pool';
import { unreachable } from './reach';

const LOCK = 72_707_369;
/** A server that takes a connection and then says nothing is frozen, or none of PostgreSQL. */
const REACHED_WITHIN_MS = 10_000;
// Prisma Migrate's own table and checksums, so that its command line agrees with what we applied.
const MIGRATIONS_TABLE = `CREATE TABLE _prisma_migrations (
  id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz, migration_name varchar(255) NOT NULL,
  logs text, rolled_back_at timestamptz, started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count int NOT NULL DEFAULT 0)`;

const DONE = 'rolled_back_at IS NULL AND finished_at IS NOT NULL';
const NEWER = `SELECT migration_name AS name FROM _prisma_migrations WHERE ${DONE} AND migration_name <> ALL ($1) ORDER BY 1`;

/** SQL after which no migration begins until the transaction ends. */
export const BEFORE_MIGRATIONS = `SELECT pg_advisory_xact_lock_shared(${LOCK})`;

/** Names of migrations. */
export interface Migrated {
  applied: string[];
  /** Those the database has and this version does not: a newer version made them. */
  newer: string[];
}

/** The folder of the migrations. */
export const migrationsOf = (root: string): string => path.join(root, 'prisma/migrations');

/** Applies the SQL files of `folder` that are not applied yet, in name order, one transaction each. */
export async function migrate(url: string, folder: string): Promise<Migrated> {
  const applied: string[] = [];
  const client = await connect(url);
  try {
    await checkSessions(url, client);
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    // Even where it is there, CREATE TABLE IF NOT EXISTS asks for the right to create.
    if (!(await isMigrated(client))) await begin(url, client);
    const done = await client.query<{ name: string; checksum: string }>(
      `SELECT migration_name AS name, checksum FROM _prisma_migrations WHERE ${DONE}`,
    );
    const known = new Map(done.rows.map((row) => [row.name, row.checksum]));
    for (const { name, sql, checksum } of migrationsIn(folder)) {
      const seen = known.get(name);
      known.delete(name);
      if (seen === checksum) continue;
      if (seen !== undefined) throw new Error(`Migration ${name} was edited after it was applied.`);
      await apply(client, name, sql, checksum);
      applied.push(name);
    }
    return { applied, newer: [...known.keys()].sort() };
  } finally {
    await client.end();
  }
}

/** Migrations that a database has and a version does not, in name order: a newer version made them. */
export type ListNewer = (db: Pick<ClientBase, 'query'>) => Promise<string[]>;

/** As seen by the version whose migrations are in `folder`. */
export function newerThan(folder: string): ListNewer {
  const own = migrationsIn(folder).map(({ name }) => name);
  return async (db) => {
    const { rows } = await db.query<{ name: string }>(NEWER, [own]);
    return rows.map(({ name }) => name);
  };
}

/** Migrations of `folder` that a database has not, in name order. */
export function missingFrom(folder: string): (db: Pick<ClientBase, 'query'>) => Promise<string[]> {
  const own = migrationsIn(folder).map(({ name }) => name);
  return async (db) => {
    if (!(await isMigrated(db))) return own;
    const { rows } = await db.query<{ name: string }>(`SELECT migration_name AS name FROM _prisma_migrations WHERE ${DONE}`);
    const done = new Set(rows.map(({ name }) => name));
    return own.filter((name) => !done.has(name));
  };
}

/** Whether migrations were ever applied. */
async function isMigrated(db: Pick<ClientBase, 'query'>): Promise<boolean> {
  const { rows } = await db.query<{ there: boolean }>("SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there");
  return rows[0]?.there === true;
}

/** Makes the table of migrations. Throws one sentence where no tables can be made, or texts would not be kept. */
async function begin(url: string, client: Client): Promise<void> {
  const { host, pathname } = new URL(url);
  const { rows } = await client.query<{ encoding: string }>("SELECT current_setting('server_encoding') AS encoding");
  const encoding = rows[0]?.encoding;
  if (encoding !== 'UTF8')
    throw new Error(`The database at ${host}${pathname} keeps texts as ${encoding}; it must be made with ENCODING 'UTF8'.`);
  await client.query(MIGRATIONS_TABLE).catch((error: Error) => {
    const words = `${error.message}. Its user must own the database or a schema on its search_path.`;
    throw new Error(`No tables can be made in the database at ${host}${pathname}: ${words}`, { cause: error });
  });
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: REACHED_WITHIN_MS });
  // One that is lost fails its statement, which is told.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await setUp(client);
    return client;
  } catch (error) {
    await client.end();
    throw unreachable(url, error);
  }
}

/** Throws where a second connection is worked for by the process of the first: behind a pooler that lends it for a transaction each. */
async function checkSessions(url: string, client: Client): Promise<void> {
  const other = await connect(url);
  await other.end();
  if (backendOf(other) === backendOf(client))
    throw new Error(
      `A pooler at ${new URL(url).host} does not keep sessions, in which locks and prepared statements live: set it to (PgBouncer: pool_mode = session).`,
    );
}

function migrationsIn(folder: string): { name: string; sql: string; checksum: string }[] {
  return fs
    .readdirSync(folder)
    .sort()
    .map((name) => ({ name, file: path.join(folder, name, 'migration.sql') }))
    .filter(({ file }) => fs.existsSync(file))
    .map(({ name, file }) => {
      const sql = fs.readFileSync(file, 'utf8');
      return { name, sql, checksum: crypto.createHash('sha256').update(sql).digest('hex') };
    });
}

async function apply(client: Client, name: string, sql: string, checksum: string): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(sql);
    await client.query(
      'INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count) VALUES ($1, $2, $3, now(), 1)',
      [crypto.randomUUID(), checksum, name],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error });
  }
}
