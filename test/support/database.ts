import crypto from 'node:crypto';
import { Client } from 'pg';
import { type Database, openDatabase } from '../../src/db/client';

/** A migrated, empty database of this test's own. Call `drop` in afterAll. */
export async function testDatabase(): Promise<Database & { url: string; drop(): Promise<void> }> {
  const name = `test_${process.pid}_${crypto.randomBytes(6).toString('hex')}`;
  const adminUrl = process.env.TEST_ADMIN_URL as string;
  await onServer(adminUrl, `CREATE DATABASE ${name} TEMPLATE ${process.env.TEST_TEMPLATE}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const database = await openDatabase(url.href);
  return {
    ...database,
    url: url.href,
    drop: async () => {
      await database.close();
      await onServer(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function onServer(url: string, statement: string): Promise<void> {
  const admin = new Client({ connectionString: url });
  await admin.connect();
  try {
    await admin.query(statement);
  } finally {
    await admin.end();
  }
}
