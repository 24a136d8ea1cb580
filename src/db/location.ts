import path from 'node:path';
import { Client } from 'pg';
import { pause } from '../lib/deadline';
import { type EmbeddedPostgres, embeddedUrl, isSomethingElse, readLockFile, startEmbedded } from './embedded';
import { unreachable } from './reach';

/** A database that can be used, and how to let go of it. */
export interface Located {
  url: string;
  /** In words, for people. */
  name: string;
  /** Whether its processes are surely of this machine. */
  embedded: boolean;
  /** Resolves when no other process uses a database that this one started; hears first when it has to wait. */
  untilAlone(waiting: () => void): Promise<void>;
  /** Resolves when a database that this process started has ended by itself. */
  lost: Promise<Error>;
  release(): Promise<void>;
}

const nobody = async (): Promise<void> => undefined;
/** Of a database that somebody else looks after. */
const NEVER = new Promise<Error>(() => undefined);

/** The folder of the embedded database's files. */
const embeddedFolder = (dataDir: string): string => path.join(dataDir, 'postgres');

/** The configured database; else the embedded one, joined where it runs already, started (with `settings`) where it does not. */
export async function locateDatabase(
  databaseUrl: string | false,
  dataDir: string,
  settings: Record<string, string | number> = {},
): Promise<Located> {
  if (databaseUrl !== false)
    return {
      url: databaseUrl,
      name: `PostgreSQL at ${new URL(databaseUrl).host}`,
      embedded: false,
      untilAlone: nobody,
      lost: NEVER,
      release: nobody,
    };
  const url = runningServer(embeddedFolder(dataDir));
  if (url !== null) {
    const guest = await connect(url, GUEST);
    return {
      url,
      name: 'embedded PostgreSQL (already running)',
      embedded: true,
      untilAlone: nobody,
      lost: NEVER,
      release: () => guest.end(),
    };
  }
  const server: EmbeddedPostgres = await startEmbedded(embeddedFolder(dataDir), settings);
  const untilAlone = (waiting: () => void): Promise<void> => untilNoGuests(server.url, waiting);
  return { url: server.url, name: 'embedded PostgreSQL', embedded: true, untilAlone, lost: server.lost, release: () => server.stop() };
}

/** Name of the one connection by which a process that joined the embedded database is known as long as it uses it. */
const GUEST = 'smart-money-api guest';
const ASK_MS = 500;

async function connect(url: string, application_name: string): Promise<Client> {
  const client = new Client({ connectionString: url, application_name });
  // Whoever started the database may end it at any time: what works on it hears of that by itself.
  client.on('error', () => undefined);
  await client.connect().catch((error: unknown) => {
    throw unreachable(url, error);
  });
  return client;
}

async function untilNoGuests(url: string, waiting: () => void): Promise<void> {
  const client = await connect(url, 'smart-money-api');
  try {
    const guests = (): Promise<{ rowCount: number | null }> =>
      client.query('SELECT 1 FROM pg_stat_activity WHERE application_name = $1', [GUEST]);
    if ((await guests()).rowCount !== 0) waiting();
    while ((await guests()).rowCount !== 0) await pause(ASK_MS);
  } finally {
    await client.end();
  }
}

/** Address of a live server over `folder`, by its own lock file, or null. */
function runningServer(folder: string): string | null {
  const file = readLockFile(folder);
  // A server that ended with its machine leaves its file behind, and its number to another process.
  return file?.ready === true && isAlive(file.pid) && !isSomethingElse(file.pid) ? embeddedUrl(folder, file.port) : null;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
