import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
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
  expect((await locate()).name).toBe('embedded PostgreSQL');
  expect((await locate()).name).toBe('embedded PostgreSQL (already running)');
});
