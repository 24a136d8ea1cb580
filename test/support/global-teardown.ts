import { Client } from 'pg';

export default async function globalTeardown(): Promise<void> {
  const stop = (globalThis as Record<string, unknown>).__stopDatabase as (() => Promise<void>) | undefined;
  if (stop !== undefined) return stop();
  const admin = new Client({ connectionString: process.env.TEST_ADMIN_URL });
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${process.env.TEST_TEMPLATE} WITH (FORCE)`);
  await admin.end();
}
