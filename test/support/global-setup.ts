import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { startEmbedded } from '../../src/db/embedded';
import { migrate, migrationsOf } from '../../src/db/migrate';
import { isAlive } from './processes';

const GB = 1024 ** 3;

/**
 * Where the databases of a run live: in memory, where there is plenty (they need one GB). Hundreds are made and removed, of some thousand files each, and a file
 * system on disk looks long for names that were not just let go.
 */
function homeOfDatabases(): string {
  const memory = '/dev/shm';
  try {
    const { bavail, bsize } = fs.statfsSync(memory);
    if (bavail * bsize > 4 * GB && os.freemem() > 4 * GB) return memory;
  } catch {
    // No such place here.
  }
  return os.tmpdir();
}

const NAME = /^smart-money-test-(\d+)-/;

/** A folder of this run's; those of one's own runs that were stopped in their midst are removed, for memory is dear. */
function makeFolder(home: string): string {
  for (const entry of fs.readdirSync(home)) {
    const [, pid] = NAME.exec(entry) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const left = path.join(home, entry);
    if (fs.statSync(left, { throwIfNoEntry: false })?.uid === process.getuid?.()) fs.rmSync(left, { recursive: true, force: true });
  }
  return fs.mkdtempSync(path.join(home, `smart-money-test-${process.pid}-`));
}

/**
 * One server for the whole run; each test file clones the migrated template database. TEST_DATABASE_URL runs the suite
 * against a PostgreSQL of your own (its user must be allowed to create databases).
 */
export default async function globalSetup(): Promise<void> {
  const shared = globalThis as Record<string, unknown>;
  let url = process.env.TEST_DATABASE_URL;
  if (url === undefined) {
    const folder = makeFolder(homeOfDatabases());
    const server = await startEmbedded(path.join(folder, 'pg'), {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: 300,
      // Statistics are taken again and again, of worlds of some thousand rows.
      default_statistics_target: '10',
    });
    shared.__stopDatabase = async () => {
      await server.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    };
    url = server.url;
  }
  const admin = new Client({ connectionString: url });
  await admin.connect();
  const template = `template_${process.pid}`;
  await admin.query(`CREATE DATABASE ${template}`);
  await admin.end();
  const templateUrl = new URL(url);
  templateUrl.pathname = `/${template}`;
  await migrate(templateUrl.href, migrationsOf(path.resolve(__dirname, '../..')));
  process.env.TEST_ADMIN_URL = url;
  process.env.TEST_TEMPLATE = template;
}
