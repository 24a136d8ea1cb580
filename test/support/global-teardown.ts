import { Client } from 'pg';

export default async function globalTeardown(): Promise<void> {
  const stop = (globalThis as Record<string, unknown>).__stopDatabase as (() => Promise<void>) | undefined;
  if (stop !== undefined) return stop();
  const admin = new Client({ connectionString: process.env.TEST_ADMIN_URL });
  await admin.connect();
  const { rows } = await admin.query<{ name: string }>(
    'SELECT datname AS name FROM pg_database WHERE datname = $1 OR datname LIKE $1 || $2',
    [process.env.TEST_TEMPLATE, '\\_%'],
  );
  for (const { name } of rows) await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  await admin.end();
}
