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

test('nobody else on the machine is let in; a database that let in whoever came keeps its data, and asks for a password from its next start on', async () => {
  const data = path.join(folder, 'open');
  const ask = async (url: string, text: string): Promise<unknown[]> => {
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  const refused = async (url: string): Promise<void> =>
    expect(ask(url.replace(/:[^:@]+@/, ':guess@'), 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  const first = await locateDatabase(false, data);
  await ask(first.url, 'CREATE TABLE kept AS SELECT 1 AS one');
  await refused(first.url);
  await first.release();
  const [rules, password] = ['pg_hba.conf', 'password'].map((name) => path.join(data, 'postgres', name)) as [string, string];
  expect(fs.statSync(password).mode & 0o777).toBe(0o600);
  fs.writeFileSync(rules, fs.readFileSync(rules, 'utf8').replace(/\bscram-sha-256$/gm, 'trust'));
  fs.rmSync(password);
  const second = await locateDatabase(false, data);
  expect(second.url).not.toContain(first.url.split('@')[0]);
  const guest = await locateDatabase(false, data);
  expect(await ask(guest.url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
  await refused(second.url);
  await guest.release();
  await second.release();
});
