import fs from 'node:fs';
import path from 'node:path';
import { type EmbeddedPostgres, startEmbedded } from './embedded';

/** A database that can be used, and how to let go of it. */
export interface Located {
  url: string;
  /** In words, for people. */
  name: string;
  release(): Promise<void>;
}

/** The folder of the embedded database's files. */
const embeddedFolder = (dataDir: string): string => path.join(dataDir, 'postgres');

/** The configured database; else the embedded one, joined where it runs already, started (with `settings`) where it does not. */
export async function locateDatabase(
  databaseUrl: string | false,
  dataDir: string,
  settings: Record<string, string | number> = {},
): Promise<Located> {
  if (databaseUrl !== false)
    return { url: databaseUrl, name: `PostgreSQL at ${new URL(databaseUrl).host}`, release: async () => undefined };
  const running = runningServer(embeddedFolder(dataDir));
  if (running !== null) return { url: running, name: 'embedded PostgreSQL (already running)', release: async () => undefined };
  const server: EmbeddedPostgres = await startEmbedded(embeddedFolder(dataDir), settings);
  return { url: server.url, name: 'embedded PostgreSQL', release: () => server.stop() };
}

/** Address of a live server over `folder`, from its own lock file (line 1: process, 4: port, 8: status), or null. */
function runningServer(folder: string): string | null {
  try {
    const lines = fs.readFileSync(path.join(folder, 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(lines[0]), 0);
    return lines[7]?.trim() === 'ready' ? `postgresql://app@127.0.0.1:${Number(lines[3])}/postgres` : null;
  } catch {
    return null;
  }
}
