import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { type Located, locateDatabase } from '../../src/db/location';
import { freePort } from '../../src/lib/net';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'location-'));
const opened: Located[] = [];
async function locate(): Promise<Located> {
  const located = await locateDatabase(false, folder);
  opened.push(located);
  return located;
}
afterAll(async () => {
  for (const located of opened.reverse()) await located.release().catch(() => undefined);
  fs.rmSync(folder, { recursive: true, force: true });
});

test('a machine that lost its power leaves no server behind: whoever has its number now is not taken for it', async () => {
  const first = await locate();
  const pidFile = path.join(folder, 'postgres/postmaster.pid');
  const [, ...rest] = fs.readFileSync(pidFile, 'utf8').split('\n');
  await first.release();
  rest[2] = String(await freePort());
  fs.writeFileSync(pidFile, [process.pid, ...rest].join('\n'));
  const again = await locate();
  expect(again.name).toBe('embedded PostgreSQL');
  expect((await locate()).name).toBe('embedded PostgreSQL (already running)');
  // Whoever reaches it is let in.
  const client = new Client({ connectionString: again.url });
  await client.connect();
  const { rows } = await client.query(
    "SELECT setting FROM pg_settings WHERE name IN ('listen_addresses', 'unix_socket_directories') ORDER BY name",
  );
  await client.end();
  expect(rows).toEqual([{ setting: '127.0.0.1' }, { setting: '' }]);
});

test('how other servers are reached, by the environment, is not how the own one is', async () => {
  process.env.PGSSLMODE = 'require';
  try {
    await locate();
    expect((await locate()).name).toBe('embedded PostgreSQL (already running)');
  } finally {
    delete process.env.PGSSLMODE;
  }
});

test('a database that somebody else looks after is named without its password, and may be of another machine', async () => {
  const located = await locateDatabase('postgresql://me:hush@db.example:5433/smart', folder);
  expect([located.name, located.embedded]).toEqual(['PostgreSQL at db.example:5433', false]);
});
