import { execFileSync } from 'node:child_process';
import path from 'node:path';
import type { Pool, PoolClient } from 'pg';
import { Remainder, leaveOrDo } from '../../src/workers/remainder';
import { together } from '../../src/workers/ingest';
import { pageOf } from '../../src/workers/pages';
import type { RecordedSource } from '../../src/workers/source';

const ROOT = path.join(__dirname, '../..');
const REGISTER = path.join(ROOT, 'test/support/register-typescript.js');

// In a process of its own: what goes unheard ends it, and jest hides that.
const PROGRAM = `
const { together } = require('./src/workers/ingest');
const pool = { connect: async () => ({ query: async () => undefined, release: () => undefined }) };
const turn = new Promise((_, reject) => setTimeout(() => reject(new Error('the one before failed')), 5));
turn.catch(() => undefined);
const source = {
  load: async (_page, _client, { turn }) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    await turn;
  },
};
together(pool, 'lp', (load) => load(source, {}, { turn })).catch((error) => console.log('told:', error.message));
`;

test('a page whose turn never comes hears of it when it asks, and the process goes on', () => {
  const told = execFileSync(process.execPath, ['--require', REGISTER, '-e', PROGRAM], { cwd: ROOT, encoding: 'utf8' });
  expect(told).toBe('told: the one before failed\n');
});

/** A connection that writes down what it is asked, by the first word. */
function written(): { pool: Pool; log: string[] } {
  const log: string[] = [];
  const query = async (text: string): Promise<void> => void log.push(text.replace(/[; ].*$/s, ''));
  const client = { query, release: () => void log.push('released') };
  return { pool: { connect: async () => client } as unknown as Pool, log };
}

const left = async (client: PoolClient, parts: readonly string[]): Promise<void> => void (await client.query(`left:${parts.join(',')}`));

let clock = 0;
beforeEach(() => void jest.spyOn(performance, 'now').mockImplementation(() => clock));
afterEach(() => jest.restoreAllMocks());

/** A feed whose pages write their names, leave them to the end, and take so long; one named so is broken. */
const feedOf = (name: string, takes_ms = 0): RecordedSource => ({
  name: 'test.feed',
  recognises: () => true,
  load: async (page, client, { turn, remainder }) => {
    await turn;
    await client.query(page.name);
    if (page.name === 'broken') throw new Error('broken');
    await leaveOrDo(remainder, client, left, name);
    clock += takes_ms;
    return { read: 1, inserted: 1, duplicates: 0, skipped: {} };
  },
});

const page = (name: string): ReturnType<typeof pageOf> => pageOf(name, 'json', []);
const quiet = { progress: () => undefined };

test('pages that follow each other share a transaction, and what they leave is done once at its end', async () => {
  const { pool, log } = written();
  await together(pool, 'lp', async (load) => {
    for (const name of ['a', 'b', 'c']) await load(feedOf(name), page(name), quiet);
  });
  expect(log).toEqual(['BEGIN', 'a', 'b', 'c', 'left:a,b,c', 'COMMIT', 'released']);
});

test('a transaction that has taken five seconds is ended before the next page', async () => {
  const { pool, log } = written();
  await together(pool, 'lp', async (load) => {
    await load(feedOf('a'), page('a'), quiet);
    await load(feedOf('b', 5_000), page('b'), quiet);
    await load(feedOf('c'), page('c'), quiet);
  });
  expect(log).toEqual(['BEGIN', 'a', 'b', 'left:a,b', 'COMMIT', 'BEGIN', 'c', 'left:c', 'COMMIT', 'released']);
});

test('a broken page takes back what its transaction holds, and not what is in', async () => {
  const { pool, log } = written();
  const loading = together(pool, 'lp', async (load) => {
    await load(feedOf('a', 5_000), page('a'), quiet);
    await load(feedOf('b'), page('b'), quiet);
    await load(feedOf('c'), page('broken'), quiet);
  });
  await expect(loading).rejects.toThrow('broken');
  expect(log).toEqual(['BEGIN', 'a', 'left:a', 'COMMIT', 'BEGIN', 'b', 'broken', 'ROLLBACK', 'released']);
});

test('what is left is gone once it is done, and without a remainder it is done at once', async () => {
  const { pool, log } = written();
  const client = await pool.connect();
  const remainder = new Remainder();
  await leaveOrDo(remainder, client, left, 'a');
  await remainder.finish(client);
  await remainder.finish(client);
  await leaveOrDo(undefined, client, left, 'b');
  expect(log).toEqual(['left:a', 'left:b']);
});
