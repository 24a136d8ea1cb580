import fs from 'node:fs';
import { Client, type Pool, type QueryConfig } from 'pg';
import { VENUES } from '../../src/wings';
import { type Database, openDatabase } from '../../src/db/client';
import { migrate, migrationsOf } from '../../src/db/migrate';
import { makeContext } from '../../src/graph/context';
import type { VenueName } from '../../src/lib/venue-name';
import { type ScoreRun, runScores } from '../../src/workers/scores';
import { buildSnapshots } from '../../src/workers/snapshots';
import { trackSignals } from '../../src/workers/track';
import { ROOT } from '../support/root';
import { type TestDatabase, testDatabase } from '../support/database';
import { differencesOf, dumpOf, keptTables } from '../support/dump';
import type { ThreeWorlds } from '../support/three-worlds';
import { loadWorld } from '../support/world';
import { type Sent, labelOf, sentOverThreeWorlds } from './citus-statements';
import { DISTRIBUTION_FILE, distribution } from './distribution';

// The product on a real cluster. Without CITUS_URL, a database on the coordinator that holds nothing but the extension citus, all of it is skipped.

const CITUS = process.env.CITUS_URL;
const onCluster = CITUS === undefined ? describe.skip : describe;
const SIZE = 4_000;
const DAYS = 8;

/** Copies the rows of the tables, whose partitions must exist in `to`. They stay text on the way: a numeric has more digits than a number. */
async function copyTables(from: Pool, to: Client, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    const { rows } = await from.query<{ row: string }>(`SELECT to_jsonb(r)::text AS row FROM ${table} r`);
    for (let first = 0; first < rows.length; first += 1_000)
      await to.query(`INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`, [
        `[${rows.slice(first, first + 1_000).map(({ row }) => row).join()}]`, // prettier-ignore
      ]);
  }
}

/** Makes the months that `from` has partitions of. */
async function makeMonths(from: Pool, to: Client): Promise<void> {
  const { rows } = await from.query<{ parent: string; month: string }>(
    `SELECT p.relname AS parent, right(c.relname, 6) AS month FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
     WHERE p.relkind = 'p' AND c.relname ~ '_[0-9]{6}$' ORDER BY 1, 2`,
  );
  for (const { parent, month } of rows)
    await to.query('SELECT ensure_month_partitions($1, $2, $2)', [parent, `${month.slice(0, 4)}-${month.slice(4)}-01T00:00:00Z`]);
}

/** The rows that one row tells by column, in lists of one length; else the row itself. */
function rowsWithin(row: object): object[] {
  const columns = Object.entries(row) as [string, unknown][];
  const [first] = columns.map(([, values]) => values);
  if (!Array.isArray(first) || !columns.every(([, values]) => Array.isArray(values) && values.length === first.length)) return [row];
  return first.map((_value, place) => Object.fromEntries(columns.map(([name, values]) => [name, (values as unknown[])[place]])));
}

/** A value with its lists in one order: a cluster gathers rows as they come. */
function inOneOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => JSON.stringify(inOneOrder(item))).sort();
  const isRecord = typeof value === 'object' && value !== null && !(value instanceof Date);
  return isRecord ? Object.fromEntries(Object.entries(value).map(([name, own]) => [name, inOneOrder(own)])) : value;
}

/** Rows as text, in no order, with 12 digits of each number: sums of floats depend on the order of their parts. */
const plainRows = (rows: readonly object[]): string[] =>
  rows
    .flatMap(rowsWithin)
    .map((row) => JSON.stringify(inOneOrder(row)).replace(/-?\d+\.\d+/g, (digits) => Number(Number(digits).toPrecision(12)).toString()))
    .sort();

/** Dumped tables, as `plainRows` tells rows. */
const plainTables = (dumped: Record<string, string[]>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(dumped).map(([table, rows]) => [table, plainRows(rows.map((row) => JSON.parse(row) as object))]));

/** By-key reads have no name; some pick one of equals. */
const isNamed = ({ name }: QueryConfig): boolean => name !== undefined;

/** The statement's rows, in a transaction that is taken back. */
async function rowsOf(client: Pick<Client, 'query'>, { text, values }: QueryConfig): Promise<string[]> {
  await client.query("BEGIN; SET LOCAL TIME ZONE 'UTC'");
  try {
    return plainRows((await client.query({ text, values })).rows as object[]);
  } finally {
    await client.query('ROLLBACK');
  }
}

onCluster(`on a Citus cluster${CITUS === undefined ? ' (skipped: CITUS_URL is not set)' : ''}`, () => {
  let worlds: ThreeWorlds;
  let sent: Sent;
  let cluster: Database;
  /** One PostgreSQL into which the same is loaded, and scored, beside the cluster. */
  let alone: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    ({ worlds, sent } = await sentOverThreeWorlds(SIZE, DAYS));
    alone = await testDatabase();
    await migrate(CITUS as string, migrationsOf(ROOT));
    client = new Client({ connectionString: CITUS });
    await client.connect();
    await client.query(fs.readFileSync(DISTRIBUTION_FILE, 'utf8'));
    cluster = await openDatabase(CITUS as string);
    await makeMonths(worlds.database.pool, client);
  }, 600_000);
  afterAll(async () => {
    await client?.end();
    await cluster?.close();
    await alone?.drop();
    await worlds?.close();
  });

  const compared = async (venue: VenueName): Promise<[Record<string, string[]>, Record<string, string[]>]> => {
    const tables = await keptTables(alone.pool, venue);
    return [await dumpOf(alone.pool, tables), await dumpOf(cluster.pool, tables)];
  };

  test.each([['prediction'], ['perps'], ['lp']] as const)(
    'pages of %s load through their sources, and every table holds what one PostgreSQL holds',
    async (venue) => {
      const start = new Date(worlds.now.getTime() - DAYS * 86_400_000);
      await loadWorld(cluster.pool, venue, SIZE, start, worlds.now);
      await loadWorld(alone.pool, venue, SIZE, start, worlds.now);
      const [here, there] = await compared(venue);
      expect(differencesOf(here, there)).toEqual({});
      expect(Object.values(there).reduce((total, rows) => total + rows.length, 0)).toBeGreaterThan(SIZE);
    },
    300_000,
  );

  test.each(VENUES.map((venue) => [venue.name, venue] as const))(
    '%s is scored there, its snapshots are built and its signals stored, and every table holds what one PostgreSQL holds',
    async (name, venue) => {
      const daily = async (db: Database): Promise<[ScoreRun | null, Record<string, string[]>]> => {
        const run = await runScores(db.pool, venue, worlds.now, () => undefined);
        await buildSnapshots(db.pool, venue, () => makeContext(db, worlds.now));
        await trackSignals(db.pool, venue, () => makeContext(db, worlds.now));
        const { rows: snapshot } = await db.pool.query<object>('SELECT name, part, as_of, body FROM snapshot WHERE venue = $1', [name]);
        const { rows: signal } = await db.pool.query<object>('SELECT * FROM signal WHERE venue = $1', [name]);
        return [run, { snapshot: plainRows(snapshot), signal: plainRows(signal) }];
      };
      const [there, here] = [await daily(cluster), await daily(alone)];
      expect(there).toEqual(here);
      expect(there[0]?.scored).toBeGreaterThan(0);
      expect(there[1].snapshot).toHaveLength((venue.snapshots ?? []).reduce((sum, { parts }) => sum + parts.length, 0));
      const [kept, kept_there] = await compared(name);
      expect(differencesOf(plainTables(kept), plainTables(kept_there))).toEqual({});
    },
    300_000,
  );

  test('questions answer there as here', async () => {
    const tables = [...distribution().keys()].filter((table) => table !== '_prisma_migrations');
    for (const table of tables) await client.query(`DELETE FROM ${table}`);
    await copyTables(worlds.database.pool, client, tables);
    const [here, there] = [await worlds.database.pool.connect(), await cluster.keyed.connect()];
    const [refused, differing]: [Record<string, string>, string[]] = [{}, []];
    for (const statement of [...sent.values()].filter(({ values }) => values !== undefined)) {
      const expected = await rowsOf(here, statement);
      const found = await rowsOf(there, statement).catch((error: Error) => error.message);
      if (typeof found === 'string') refused[labelOf(statement)] = found;
      else if (isNamed(statement) ? JSON.stringify(found) !== JSON.stringify(expected) : found.length !== expected.length)
        differing.push(labelOf(statement));
    }
    here.release();
    there.release();
    // A name here: write the statement so that it runs there; what must be said another way is a function (prisma/citus/distribution.sql).
    expect({ differing, refused }).toEqual({ differing: [], refused: {} });
  });
});
