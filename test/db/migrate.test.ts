import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { migrate } from '../../src/db/migrate';
import { type TestDatabase, testDatabase } from '../support/database';
import { until } from '../support/feeds';

let database: TestDatabase;
let folder: string;

beforeEach(async () => {
  database = await testDatabase('template0');
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'migrations-'));
});
afterEach(async () => {
  await database.drop();
  fs.rmSync(folder, { recursive: true });
});

function write(name: string, sql: string): void {
  fs.mkdirSync(path.join(folder, name), { recursive: true });
  fs.writeFileSync(path.join(folder, name, 'migration.sql'), sql);
}

const tables = async (): Promise<string[]> =>
  (
    await database.pool.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname LIKE 't%' ORDER BY 1",
    )
  ).rows.map(({ name }) => name);

test('each migration is applied once, in name order', async () => {
  write('2_second', 'ALTER TABLE t1 RENAME TO t2');
  write('1_first', 'CREATE TABLE t1 ()');
  expect(await migrate(database.url, folder)).toEqual({ applied: ['1_first', '2_second'], newer: [] });
  expect(await migrate(database.url, folder)).toEqual({ applied: [], newer: [] });
  write('3_third', 'CREATE TABLE t3 ()');
  expect(await migrate(database.url, folder)).toEqual({ applied: ['3_third'], newer: [] });
  expect(await tables()).toEqual(['t2', 't3']);
  const left =
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND application_name = ''";
  await until(async () => (await database.pool.query(left)).rowCount === 0, 'its connections are closed', 20_000);
});

test('processes that start together apply each once', async () => {
  write('1_first', 'CREATE TABLE t1 ()');
  const both = await Promise.all([migrate(database.url, folder), migrate(database.url, folder)]);
  expect(both.flatMap(({ applied }) => applied)).toEqual(['1_first']);
});

test('one that fails leaves nothing of itself, and those before it stay', async () => {
  write('1_first', 'CREATE TABLE t1 ()');
  write('2_second', 'CREATE TABLE t2 (); SELECT 1 / 0');
  await expect(migrate(database.url, folder)).rejects.toThrow('Migration 2_second failed: division by zero');
  expect(await tables()).toEqual(['t1']);
  write('2_second', 'CREATE TABLE t2 ()');
  expect((await migrate(database.url, folder)).applied).toEqual(['2_second']);
});

test.each(['finished_at = NULL', 'rolled_back_at = now()'])(
  'one that Prisma began and did not end is not taken for applied: %s',
  async (how) => {
    write('1_first', 'CREATE TABLE t1 ()');
    await migrate(database.url, folder);
    await database.pool.query('DROP TABLE t1; UPDATE _prisma_migrations SET ' + how);
    expect(await migrate(database.url, folder)).toEqual({ applied: ['1_first'], newer: [] });
    expect(await tables()).toEqual(['t1']);
  },
);

test('one that was edited after it was applied is refused', async () => {
  write('1_first', 'CREATE TABLE t1 ()');
  await migrate(database.url, folder);
  write('1_first', 'CREATE TABLE t1 (n int)');
  await expect(migrate(database.url, folder)).rejects.toThrow('Migration 1_first was edited after it was applied.');
});

test('where all are applied, a user who may create nothing finds nothing to do', async () => {
  write('1_first', 'CREATE TABLE t1 ()');
  await migrate(database.url, folder);
  const [user, url] = [`only_uses_${process.pid}`, new URL(database.url)];
  await database.pool.query(`CREATE ROLE ${user} LOGIN PASSWORD 'its'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${user}`);
  [url.username, url.password] = [user, 'its'];
  try {
    expect(await migrate(url.href, folder)).toEqual({ applied: [], newer: [] });
  } finally {
    await database.pool.query(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
  }
});

test('a user who may make no tables, and texts that are not UTF-8, are told in a sentence', async () => {
  const name = `odd_${process.pid}`;
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  const refused = (): Promise<unknown> => migrate(url.href, folder).catch((error: Error) => error.message);
  const rights = `No tables can be made in the database at ${url.host}/${name}: `;
  await database.pool.query(`CREATE ROLE ${name} LOGIN PASSWORD 'its'`);
  await database.pool.query(`CREATE DATABASE ${name} TEMPLATE template0`);
  try {
    await database.pool.query(`ALTER ROLE ${name} SET search_path = nowhere`);
    [url.username, url.password] = [name, 'its'];
    expect(await refused()).toBe(
      `${rights}no schema has been selected to create in. Its user must own the database or a schema on its search_path.`,
    );
    await database.pool.query(`ALTER ROLE ${name} RESET search_path`);
    expect(await refused()).toBe(
      `${rights}permission denied for schema public. Its user must own the database or a schema on its search_path.`,
    );
    await database.pool.query(`DROP DATABASE ${name}`);
    await database.pool.query(
      `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' OWNER ${name}`,
    );
    expect(await refused()).toBe(`The database at ${url.host}/${name} keeps texts as SQL_ASCII; it must be made with ENCODING 'UTF8'.`);
  } finally {
    await database.pool.query(`DROP DATABASE IF EXISTS ${name}`);
    await database.pool.query(`DROP ROLE ${name}`);
  }
});

test('migrations of a newer version are told', async () => {
  write('1_first', 'CREATE TABLE t1 ()');
  write('2_second', 'CREATE TABLE t2 ()');
  await migrate(database.url, folder);
  fs.rmSync(path.join(folder, '2_second'), { recursive: true });
  expect(await migrate(database.url, folder)).toEqual({ applied: [], newer: ['2_second'] });
});

test('a pooler that keeps no sessions is refused', async () => {
  // Two connections that one process of the server works for: it says so here.
  const name = new URL(database.url).pathname.slice(1);
  await database.pool.query(`CREATE FUNCTION public.pg_backend_pid() RETURNS int RETURN 1`);
  await database.pool.query(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`);
  await expect(migrate(database.url, folder)).rejects.toThrow('does not keep sessions');
});

test('a server that takes the connection and says nothing is not waited for for ever', async () => {
  // Of whom nothing is read, it is not heard that they leave: a connection would stay, and hold the worker.
  const mute = net.createServer((caller) => caller.resume()).listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const { port } = mute.address() as AddressInfo;
  const sentence = `The database at 127.0.0.1:${port}/smart cannot be reached: timeout expired`;
  await expect(migrate(`postgresql://me@127.0.0.1:${port}/smart`, folder)).rejects.toThrow(sentence);
  await new Promise((resolve) => mute.close(resolve));
});

test('a database that ends in the middle of one is told in a sentence', async () => {
  write('1_first', 'SELECT pg_sleep(60)');
  const told = migrate(database.url, folder).then(
    () => 'done',
    (error: Error) => error.message,
  );
  const ended =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query = 'SELECT pg_sleep(60)'";
  await until(async () => (await database.pool.query(ended)).rowCount === 1, 'it runs');
  expect(await told).toBe('Migration 1_first failed: terminating connection due to administrator command');
});
