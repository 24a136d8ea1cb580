import crypto from 'node:crypto';
import { Client } from 'pg';
import { type Database, openDatabase } from '../../src/db/client';

export type TestDatabase = Database & {
  url: string;
  /** Cuts every connection and takes no new ones, until what it resolves to is called. */
  shut(): Promise<() => Promise<void>>;
  drop(): Promise<void>;
};

/** A database of this test's own, a copy of `template` (file by file, the shortest way in memory): as it stands, migrated and empty. Call `drop` in afterAll. */
export async function testDatabase(template = process.env.TEST_TEMPLATE): Promise<TestDatabase> {
  const name = `test_${process.pid}_${crypto.randomBytes(6).toString('hex')}`;
  const adminUrl = process.env.TEST_ADMIN_URL as string;
  await onServer(adminUrl, (admin) => admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`));
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const database = await openDatabase(url.href);
  return {
    ...database,
    url: url.href,
    shut: async () => {
      const open = (yes: boolean) => onServer(adminUrl, (admin) => admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${yes}`));
      await open(false);
      await onServer(adminUrl, (admin) => admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`));
      return () => open(true);
    },
    drop: async () => {
      await database.close();
      await onServer(adminUrl, (admin) => admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

/** A copy of the database that `fill` fills once in a run, whichever test file comes first; the others wait for it. */
export async function copyOfFilled(name: string, fill: (database: TestDatabase) => Promise<void>): Promise<TestDatabase> {
  const template = `${process.env.TEST_TEMPLATE}_${name}`;
  await onServer(process.env.TEST_ADMIN_URL as string, async (admin) => {
    await admin.query('SELECT pg_advisory_lock(hashtext($1))', [template]);
    const { rowCount } = await admin.query('SELECT FROM pg_database WHERE datname = $1', [template]);
    if (rowCount !== 0) return;
    const database = await testDatabase();
    await fill(database);
    await database.close();
    await admin.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} RENAME TO ${template}`);
  });
  return testDatabase(template);
}

/** Works over a connection of its own, which ends, and lets go of its locks, whatever happens. */
async function onServer(url: string, work: (admin: Client) => Promise<unknown>): Promise<void> {
  const admin = new Client({ connectionString: url });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}
