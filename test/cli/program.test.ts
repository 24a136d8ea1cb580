import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { migrate, migrationsOf } from '../../src/db/migrate';
import { freePort } from '../../src/lib/net';
import { ROOT } from '../support/root';
import { testDatabase } from '../support/database';
import { until } from '../support/feeds';
import { isAlive } from '../support/processes';

// The program as a person runs it: what it says, what it leaves behind.

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'program-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

interface Run {
  child: ChildProcess;
  output(): string;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
  said(text: string): Promise<void>;
}

function program(args: readonly string[], environment: Record<string, string>): Run {
  const child = spawn(
    process.execPath,
    ['-r', path.join(ROOT, 'test/support/register-typescript.js'), path.join(ROOT, 'src/main.ts'), ...args],
    {
      env: { ...process.env, NODE_OPTIONS: '', WORLD: 'none', UNPAID_PER_MINUTE: '0', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return {
    child,
    output: () => output,
    ended,
    said: async (text) => {
      for (let tries = 0; tries < 2_400 && !output.includes(text); tries += 1) {
        if (child.exitCode !== null) throw new Error(`ended before it said "${text}": ${output}`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      if (!output.includes(text)) throw new Error(`never said "${text}": ${output}`);
    },
  };
}

/** Data of the first test's program. */
const kept = path.join(folder, 'kept');

/** A data folder with what a former start made; where that test was not run, the program makes it. */
function usedFolder(name: string): string {
  const data = path.join(folder, name);
  if (fs.existsSync(kept)) execFileSync('cp', ['-a', kept, data]);
  return data;
}

const postmaster = (data: string): number => Number(fs.readFileSync(path.join(data, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);

test('starts, answers, stops at Ctrl-C with everything it started, and keeps the data for the next start', async () => {
  const environment = { DATA_DIR: kept, PORT: String(await freePort()), INTERNAL_PORT: String(await freePort()) };
  const first = program(['serve'], environment);
  await first.said('Internal');
  const health = await fetch(`http://localhost:${environment.PORT}/health`);
  expect([health.status, ((await health.json()) as { status: string }).status]).toEqual([200, 'degraded']);
  const server = postmaster(kept);
  const ingest = program(['ingest', '--venue', 'perps', '--from', path.join(ROOT, 'test/fixtures/perps')], environment);
  expect(await ingest.ended).toBe(0);
  const report = JSON.parse(ingest.output().trim().split('\n').at(-1) as string) as { venue: string; inserted: number };
  expect(report).toMatchObject({ venue: 'perps', inserted: expect.any(Number) });
  expect(report.inserted).toBeGreaterThan(0);
  fs.writeFileSync(path.join(folder, 'torn.ndjson'), '{"coin":');
  const torn = program(['ingest', '--venue', 'perps', '--from', path.join(folder, 'torn.ndjson')], environment);
  expect([await torn.ended, torn.output().trim().split('\n').at(-1)]).toEqual([1, 'torn.ndjson: Line 1 is not JSON: {"coin":']);
  first.child.kill('SIGINT');
  expect(await first.ended).toBe(0);
  expect(isAlive(server)).toBe(false);

  const second = program(['serve'], environment);
  await second.said('Internal');
  expect(second.output()).not.toContain('migrations applied');
  expect(second.output()).not.toContain('perps: 0 ');
  second.child.kill('SIGTERM');
  expect(await second.ended).toBe(0);
});

test.each(['Database: ', 'Loading ', 'World: '])(
  'stops while it is still starting, after "%s"',
  async (line) => {
    const name = `early-${line.slice(0, 2)}`;
    const data = line === 'Database: ' ? path.join(folder, name) : usedFolder(name);
    const ports = { PORT: String(await freePort()), INTERNAL_PORT: String(await freePort()) };
    const run = program(['serve'], { DATA_DIR: data, ...ports, WORLD: '1000:7' });
    await run.said(line);
    const server = postmaster(data);
    run.child.kill('SIGTERM');
    expect(await run.ended).toBe(0);
    expect(isAlive(server)).toBe(false);
    expect(run.output().split('Stopping …\n')[1]).toMatch(/^(Loading .*\n)*$/);
  },
  300_000,
);

test('serves, and stops, while a table of facts is held by somebody: how much is in the store is not waited for', async () => {
  const db = await testDatabase();
  const holder = await db.pool.connect();
  await holder.query('BEGIN; LOCK TABLE dca_event IN ACCESS EXCLUSIVE MODE');
  const run = program(['serve'], { DATABASE_URL: db.url, PORT: String(await freePort()), INTERNAL_PORT: String(await freePort()) });
  await run.said('Internal');
  expect(run.output()).toContain('\nlp: not counted in time\n');
  expect(run.output()).toContain('\nperps: 0 perp_fill, ');
  run.child.kill('SIGTERM');
  expect(await run.ended).toBe(0);
  holder.release(true);
  await db.drop();
});

test('serves while the scores of the day are made, where there were some before', async () => {
  const db = await testDatabase();
  await db.pool.query(
    `INSERT INTO source_cursor (source, venue, cursor) VALUES ('score.perps', 'perps', '{"day":"2026-01-01","as_of":"2026-01-01T00:00:00.000Z"}')`,
  );
  // Somebody else scores for a long time.
  const holder = await db.pool.connect();
  await holder.query("SELECT pg_advisory_lock(hashtext('score.prediction'))");
  const run = program(['serve'], { DATABASE_URL: db.url, PORT: String(await freePort()), INTERNAL_PORT: String(await freePort()) });
  await run.said('Internal');
  const waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"; // prettier-ignore
  await until(async () => (await db.pool.query(waits)).rowCount === 1, 'the scores wait');
  run.child.kill('SIGTERM');
  holder.release(true);
  expect(await run.ended).toBe(0);
  const { rows } = await db.pool.query("SELECT source FROM source_cursor WHERE source LIKE 'score.%' ORDER BY 1");
  expect(rows.length).toBeLessThan(3);
  await db.drop();
});

test('answers once its replica has what was migrated, says that it waits for that, and may be stopped meanwhile', async () => {
  const [database, replica] = [await testDatabase(), await testDatabase('template0')];
  const environment = async () => ({
    DATABASE_URL: database.url,
    DATABASE_REPLICA_URL: replica.url,
    PORT: String(await freePort()),
    INTERNAL_PORT: String(await freePort()),
  });
  try {
    const runs = [program(['serve'], await environment()), program(['serve'], await environment())] as const;
    await Promise.all(runs.map((run) => run.said('waiting until it has replayed')));
    runs[0].child.kill('SIGTERM');
    expect(await runs[0].ended).toBe(0);
    await migrate(replica.url, migrationsOf(ROOT));
    await runs[1].said('Internal');
    runs[1].child.kill('SIGTERM');
    expect(await runs[1].ended).toBe(0);
  } finally {
    await Promise.all([database.drop(), replica.drop()]);
  }
});

test('score returns once its replica has the scores, and says that it waits for that', async () => {
  const [database, replica] = await Promise.all([testDatabase(), testDatabase()]);
  try {
    const run = program(['score'], { DATABASE_URL: database.url, DATABASE_REPLICA_URL: replica.url });
    await run.said('waiting until it has replayed');
    await replica.pool.query(
      "INSERT INTO source_cursor (source, venue, cursor, updated_at) SELECT 'score.' || venue, venue, '{}', now() FROM unnest($1::text[]) AS venue",
      [['prediction', 'perps', 'lp']],
    );
    expect(await run.ended).toBe(0);
  } finally {
    await Promise.all([database.drop(), replica.drop()]);
  }
});

test('rebuild recounts each venue, and has the copies that are kept of its answers made anew', async () => {
  const db = await testDatabase();
  await db.pool.query(
    `INSERT INTO snapshot (name, part, venue, as_of, built_at, body) VALUES ('markets/similar', 'all', 'prediction', now(), now(), '{}')`,
  );
  await db.pool.query("INSERT INTO perp_volume_hour (hour, volume_usd) VALUES ('2026-01-01T00:00:00Z', 1)");
  const run = program(['rebuild'], { DATABASE_URL: db.url });
  expect(await run.ended).toBe(0);
  expect(run.output().match(/^(prediction|perps|lp): rebuilt in \d+\.\d s$/gm)).toHaveLength(3);
  const { rows } = await db.pool.query(
    'SELECT extract(epoch FROM built_at)::int AS built, (SELECT count(*)::int FROM perp_volume_hour) AS hours FROM snapshot',
  );
  expect(rows).toEqual([{ built: 0, hours: 0 }]);
  await db.drop();
});

test('a command that started the database leaves it to those who joined it meanwhile', async () => {
  const environment = { DATA_DIR: path.join(folder, 'joined') };
  const pipes = ['first', 'second'].map((name) => path.join(folder, `${name}.ndjson`));
  for (const pipe of pipes) execFileSync('mkfifo', [pipe]);
  const page = fs.readFileSync(path.join(ROOT, 'test/fixtures/perps/node-fills.ndjson'));
  const [first, second] = pipes as [string, string];
  const starter = program(['ingest', '--venue', 'perps', '--from', first], environment);
  await starter.said('0 records');
  const guest = program(['ingest', '--venue', 'perps', '--from', second], environment);
  await guest.said('0 records');
  await fs.promises.writeFile(first, page);
  await starter.said('is in use by another process');
  expect(starter.output()).toContain('"inserted":2');
  await fs.promises.writeFile(second, page);
  expect(await guest.ended).toBe(0);
  expect(guest.output()).toContain('"duplicates":2');
  expect(await starter.ended).toBe(0);
});

test('work goes on when nobody reads what it tells', async () => {
  const run = program(['endpoints'], {});
  run.child.stdout?.destroy();
  expect(await run.ended).toBe(0);
  expect(run.output()).toBe('');
});

(fs.existsSync('/dev/full') ? test : test.skip)('work goes on where there is no room for what it tells, which its exit code says', () => {
  const [nowhere, main] = [fs.openSync('/dev/full', 'w'), [path.join(ROOT, 'src/main.ts'), 'endpoints']];
  const register = path.join(ROOT, 'test/support/register-typescript.js');
  const { status, stderr } = spawnSync(process.execPath, ['-r', register, ...main], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', nowhere, 'pipe'],
    encoding: 'utf8',
  });
  fs.closeSync(nowhere);
  expect([status, stderr]).toEqual([1, '']);
});

test('ends with one clear sentence when its database is killed', async () => {
  const data = usedFolder('lost');
  const run = program(['serve'], { DATA_DIR: data, PORT: String(await freePort()), INTERNAL_PORT: String(await freePort()) });
  await run.said('Internal');
  process.kill(postmaster(data), 'SIGKILL');
  expect(await run.ended).toBe(1);
  expect(run.output()).toContain('\nThe embedded database stopped (SIGKILL): ');
});

test('children end with a killed program', async () => {
  const data = usedFolder('killed');
  const run = program(['serve'], { DATA_DIR: data, PORT: String(await freePort()), INTERNAL_PORT: String(await freePort()) });
  await run.said('Internal');
  const server = postmaster(data);
  run.child.kill('SIGKILL');
  await run.ended;
  for (let tries = 0; tries < 600 && isAlive(server); tries += 1) await new Promise((resolve) => setTimeout(resolve, 100));
  expect(isAlive(server)).toBe(false);
});

describe('one clear sentence, exit code 1', () => {
  test('a busy port', async () => {
    const port = await freePort();
    const holder = net.createServer().listen(port, '0.0.0.0');
    const run = program(['serve'], { DATA_DIR: path.join(folder, 'busy'), PORT: String(port), INTERNAL_PORT: String(await freePort()) });
    expect(await run.ended).toBe(1);
    expect(run.output().trim()).toBe(`Port ${port} is already in use. Stop the other program, or set PORT and INTERNAL_PORT.`);
    holder.close();
  });

  test('an unreachable database, without its password', async () => {
    const run = program(['serve'], { DATABASE_URL: 'postgresql://me:hush@127.0.0.1:9/smart', PORT: '0', INTERNAL_PORT: '0' });
    expect(await run.ended).toBe(1);
    expect(run.output()).toContain('The database at 127.0.0.1:9/smart cannot be reached');
    expect(run.output()).not.toContain('hush');
  });

  test('half of a pair of upstreams, before anything is made', async () => {
    const data = path.join(folder, 'pair');
    const environment = { DATA_DIR: data, PORT: '0', INTERNAL_PORT: '0', PREDICTION_GAMMA_URL: 'http://127.0.0.1:9' };
    const run = program(['serve'], environment);
    expect(await run.ended).toBe(1);
    expect(run.output().trim()).toBe('PREDICTION_GAMMA_URL and PREDICTION_DATA_URL must be set together.');
    expect(fs.existsSync(data)).toBe(false);
  });

  test('a half-made data folder', async () => {
    const data = path.join(folder, 'half');
    fs.mkdirSync(path.join(data, 'postgres/base'), { recursive: true });
    const run = program(['serve'], { DATA_DIR: data, PORT: '0', INTERNAL_PORT: '0' });
    expect(await run.ended).toBe(1);
    expect(run.output().trim()).toContain('is half made');
  });

  test.each([
    [['dance'], 'Unknown command dance.'],
    [['ingest', '--venue', 'moon', '--from', 'x'], 'Usage: npm run ingest'],
    [['ingest', '--venue', 'perps', '--form', 'x'], "Unknown option '--form'"],
    [['buy', 'FETCH', '/x'], 'Usage: npm run buy'],
    [['buy', 'GET', '/api/v1/perps/platform/stats', '--protocol', 'cash'], '--protocol must be one of x402, tempo, solana'],
    [['buy', '/api/v1/perps/platform/stats', '--url', 'here'], '--url must be a URL such as http://localhost:3000, not here.'],
    [['sweep', '--url', 'here'], '--url must be a URL such as http://localhost:3000, not here.'],
    [['quote', 'GET', '/api/v1/nowhere'], 'No endpoint at /api/v1/nowhere'],
    [['quote', 'POST', '/api/v1/markets/trending'], '/api/v1/markets/trending is asked by GET, not by POST.'],
    [['quote', 'GET', '/api/v1/markets/trending', '--body', '{}'], 'A GET has no --body'],
    [['quote', 'POST', '/api/v1/wallets/profile?wallet=0x1'], "/api/v1/wallets/profile takes its parameters as --body '{…}'"],
    [['endpoints', 'cheap'], 'Unknown argument cheap. Usage: npm run endpoints'],
    [['rebuild', '--all'], "Unknown option '--all'. Usage: npm run rebuild"],
    [['quote', 'GET', '/api/v1/markets/trending', 'now'], 'Unknown argument now. Usage: npm run quote'],
    [['serve', '--port', '4000'], "Unknown option '--port'. Usage: npm start"],
    [['serve'], 'PORT must be a whole number', { PORT: 'eighty' }],
  ] as const)(
    '%j',
    async (args, sentence, environment: Record<string, string> = {}) => {
      const run = program(args, { DATA_DIR: path.join(folder, 'none'), ...environment });
      expect(await run.ended).toBe(1);
      expect(run.output()).toContain(sentence);
      expect(run.output()).not.toContain('node_modules');
    },
    300_000,
  );
});

test.each(['serve', 'rebuild', 'buy'])(
  '%s tells what it takes, and does nothing else',
  async (name) => {
    const data = path.join(folder, 'asked');
    const run = program([name, '--help'], { DATA_DIR: data });
    expect(await run.ended).toBe(0);
    expect(run.output()).toMatch(/^Usage: npm (run|start)/);
    expect(fs.existsSync(data)).toBe(false);
  },
  300_000,
);

test('quote explains a price', async () => {
  const run = program(['quote', 'GET', '/api/v1/markets/trending?timeframe=7d&category=Politics'], {});
  expect(await run.ended).toBe(0);
  expect(run.output()).toMatch(
    /base\s+\$0\.02\s+\(medium\)[^]*timeframe\s+× 2[^]*filters\s+× 0\.7\s+\(category × 0\.7\)[^]*price\s+\$0\.028\s+\(28000 micro-USDC\)/,
  );
});

test('quote writes dollars as the price list does', async () => {
  const run = program(['quote', 'GET', '/api/v1/wallets/top-performers?timeframe=24h'], {});
  expect(await run.ended).toBe(0);
  expect(run.output()).toMatch(/price\s+\$0\.10\s+\(100000 micro-USDC\)/);
});

test('quote says what is wrong, and what may have been meant', async () => {
  const run = program(['quote', 'GET', '/api/v1/markets/trending?limt=5&category=Sprots'], {});
  expect(await run.ended).toBe(1);
  for (const told of ['! category is not a category', '! limt is unknown', '? category: perhaps Sports', '? limt: perhaps limit'])
    expect(run.output()).toContain(told);
});

test('quote names the windows that a price of several is made for', async () => {
  const run = program(['quote', 'GET', '/api/v1/markets/capital-flow-comparison'], {});
  expect(await run.ended).toBe(0);
  expect(run.output()).toMatch(/timeframe\s+× 3\s+\(24h,7d,30d\)/);
});
