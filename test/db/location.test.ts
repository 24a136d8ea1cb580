import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { locateDatabase } from '../../src/db/location';
import { freePort } from '../../src/lib/net';

test('a machine that lost its power leaves no server behind: whoever has its number now is not taken for it', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'location-'));
  const first = await locateDatabase(false, folder);
  const pidFile = path.join(folder, 'postgres/postmaster.pid');
  const [, ...rest] = fs.readFileSync(pidFile, 'utf8').split('\n');
  await first.release();
  rest[2] = String(await freePort());
  fs.writeFileSync(pidFile, [process.pid, ...rest].join('\n'));
  const second = await locateDatabase(false, folder);
  expect(second.name).toBe('embedded PostgreSQL');
  const guest = await locateDatabase(false, folder);
  expect(guest.name).toBe('embedded PostgreSQL (already running)');
  await guest.release();
  await second.release();
  fs.rmSync(folder, { recursive: true, force: true });
}, 60_000);
