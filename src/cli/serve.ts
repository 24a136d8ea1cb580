import { type App, checkUpstreams, readEnough, startApp } from '../app';
import { type Config, makeConfig } from '../config';
import { type Database, openDatabase } from '../db/client';
import { type Located, locateDatabase } from '../db/location';
import { migrate, migrationsOf, missingFrom, newerThan } from '../db/migrate';
import { catchUpMonths, keepMonthsAhead } from '../db/months-ahead';
import { poolUntil } from '../db/pool';
import { untilReplayed } from '../db/replica';
import { rowCounts } from '../db/row-counts';
import { tryPort } from '../lib/net';
import { type Repeated, repeat } from '../lib/repeat';
import { HOUR_MS } from '../lib/time';
import { type Logger, makeLogger } from '../observability/logger';
import type { PaymentsSettings } from '../payments/config';
import { takeForFinal } from '../payments/upkeep';
import { type LiveWorlds, startWorlds } from '../sandbox/live-world';
import { joinSandboxChains, sandboxRuns, startSandboxChains } from '../sandbox/sandbox';
import type { Venue } from '../venues/venue';
import { type IsRead, catchUpScores, keepScores, lastScored } from '../workers/scores';
import { watchSnapshots } from '../workers/snapshots';
import { watchSignals } from '../workers/track';
import { VENUES, contextsOver } from '../wings';
import { type Command, type Place, parseOptions } from './command';
import { paymentSettings } from './payments';
import { progressBar } from './progress';
import { untilSignal } from './signals';
import { tellPast } from './tell-past';

type Stop = () => Promise<unknown>;

/** What was started, to be stopped in reverse order. */
class Running {
  private readonly stops: Stop[] = [];
  private over = false;
  private fail: (error: Error) => void = () => undefined;
  /** Rejects when something is gone that nothing works without. */
  readonly broken = new Promise<never>((_, reject) => (this.fail = reject));

  constructor() {
    this.broken.catch(() => undefined);
  }

  /** When `lost` resolves nothing works any more. */
  needs(lost: Promise<Error>): void {
    void lost.then(this.fail);
  }

  /** Throws once all was stopped: what came up too late is stopped at once, and whoever started it goes no further. */
  async add(stop: Stop): Promise<void> {
    this.stops.push(stop);
    if (!this.over) return;
    await this.stop();
    throw new Error('Stopped while it was starting.');
  }

  async stop(): Promise<void> {
    this.over = true;
    for (const stop of this.stops.splice(0).reverse()) await stop().catch((error: Error) => process.stderr.write(`${error.message}\n`));
  }
}

/** Without settings. */
const USUAL_URL = 'http://localhost:3000';

/** Whether the process was asked to stop: what a start that is cut off still comes to say is no news then. */
let stopping = false;

const say = (line: string): void => {
  if (!stopping) process.stdout.write(`${line}\n`);
};

/** Starts the product: database, chains, world, gateway. Runs until Ctrl-C, then stops everything it started, in reverse order. */
export const command: Command = async (args, place) => {
  parseOptions(args, [], 'npm start, with settings in the environment or in .env');
  const config = makeConfig(process.env, place.root);
  const logger = makeLogger(config.logLevel);
  const running = new Running();
  const stopped = untilSignal(() => {
    say('\nStopping …');
    stopping = true;
  });
  const starting = start(config, place, logger, running);
  try {
    const early = await Promise.race([starting.then(() => false), stopped.then(() => true), running.broken]);
    // What is cut off in the middle complains.
    if (early) logger.level = 'silent';
    await Promise.race([stopped, running.broken]);
    return 0;
  } finally {
    await running.stop();
    await starting.catch(() => undefined);
  }
};

async function start(config: Config, place: Place, logger: Logger, running: Running): Promise<void> {
  checkUpstreams(config);
  // Fails early and clearly, before anything is loaded.
  await Promise.all([tryPort(config.port, '0.0.0.0'), tryPort(config.internalPort, '127.0.0.1')]);
  const database = await locateDatabase(config.databaseUrl, config.dataDir);
  await running.add(() => database.release());
  running.needs(database.lost);
  const { applied, newer } = await migrate(database.url, migrationsOf(place.root));
  say(`Database: ${database.name}${applied.length > 0 ? `, ${applied.length} migrations applied` : ''}`);
  if (newer.length > 0) {
    const words = 'a newer version than this one has migrated the database; what it changed may be answered wrongly or not at all';
    logger.warn({ migrations: newer }, `${words}; no feed is read, nobody scored`);
  }

  await awaitReplica(config, place, running);
  const payments = await paymentsOf(config, database, running);
  const worlds = await loadWorlds(config, database, running);
  await keepMonths(config, database, logger, running);
  const upstreams = { ...config.upstreams, ...(await worlds?.startUpstreams()) };
  if (newer.length === 0) await startUpkeep(config, place, upstreams, database, logger, running);
  const app = await startApp({ config, root: place.root, version: place.version, databaseUrl: database.url, payments, logger, upstreams });
  await running.add(() => app.stop());
  await sayHow(app, config, payments);
  if (worlds === null) return;
  const past = await tellPast(database.url, config, logger, say);
  if (past !== undefined) await running.add(() => past.stop());
}

/** What was migrated reaches a replica later: without it answers would fail. */
async function awaitReplica({ replicaUrl }: Config, { root }: Place, running: Running): Promise<void> {
  if (replicaUrl === false) return;
  const over = new AbortController();
  await running.add(() => Promise.resolve(over.abort(new Error('The server stops.'))));
  const missing = missingFrom(migrationsOf(root));
  await untilReplayed(
    replicaUrl,
    async ({ pool }) => (await missing(pool)).length === 0,
    (host) => say(`Replica: ${host} lacks migrations, waiting until it has replayed them`),
    over.signal,
  );
}

async function paymentsOf(config: Config, database: Located, running: Running): Promise<PaymentsSettings> {
  if (!config.sandbox) return paymentSettings(config, null);
  if (await sandboxRuns(config.sandboxDir)) {
    say('Chains: those of the sandbox that runs here already, and its wallets');
    return paymentSettings(config, joinSandboxChains(config.sandboxDir));
  }
  const chains = await startSandboxChains(config.sandboxDir);
  await running.add(() => chains.stop());
  const db = await openDatabase(database.url, { max: 1 });
  await takeForFinal(db.pool).finally(() => db.close());
  for (const warning of chains.warnings) say(warning);
  say(`Chains: local Solana${chains.tempo === null ? '' : ' and local Tempo'}, wallets with 1,000 play USDC each in .sandbox/wallets.json`);
  return paymentSettings(config, chains.payments);
}

async function loadWorlds(config: Config, database: Located, running: Running): Promise<LiveWorlds | null> {
  if (config.world === false) return null;
  const db = await openDatabase(database.url, { max: 4 });
  await running.add(() => db.close());
  const bar = progressBar('Loading the simulated world {bar} {percentage} %, {value} facts', process.stdout, 3_000);
  const worlds = await startWorlds({
    pool: db.pool,
    // What is polled for real is not pretended.
    venues: VENUES.filter(({ name }) => Object.keys(config.upstreams[name]).length === 0),
    choice: config.world,
    clock: config.clock,
    standing: config.clockStands,
  });
  await running.add(() => worlds.stop());
  bar.start(worlds.expected, 0);
  const started = performance.now();
  let loaded = 0;
  const tell = (facts: number): void => {
    loaded += facts;
    // How many are to come is a guess: until all are in, the bar is not full.
    bar.setTotal(Math.max(worlds.expected, Math.ceil(loaded / 0.99)));
    bar.increment(facts);
  };
  // The bar's timer would keep a stopped process from ending.
  await worlds
    .catchUp(tell)
    .then(() => bar.setTotal(loaded))
    .finally(() => bar.stop());
  say(
    `World: ${loaded} facts loaded in ${((performance.now() - started) / 1_000).toFixed(1)} s (WORLD=${config.world.size}:${config.world.seed})`,
  );
  return worlds;
}

async function keepMonths(config: Config, database: Located, logger: Logger, running: Running): Promise<void> {
  const db = await openDatabase(database.url, { max: 1 });
  await running.add(() => db.close());
  await catchUpMonths(db.pool, config.clock.now(), logger);
  const months = keepMonthsAhead(db.pool, config.clock, logger);
  await running.add(() => months.stop());
}

/** How often it is looked for a newer version, to which the upkeep is left. */
const LOOK_MS = 5_000;

/** What the upkeep is at when the server stops has so long to end; then its connections are closed. */
const LAST_WORK_MS = 5_000;

/** No statement of the upkeep takes as long: what still waits then, for a lock or for a database that is frozen, is given up, and done by the next. */
const LONGEST_WORK_MS = 6 * HOUR_MS;

/** Scores, snapshots and signals, until the database is migrated by a newer version. */
async function startUpkeep(
  config: Config,
  place: Place,
  upstreams: Config['upstreams'],
  database: Located,
  logger: Logger,
  running: Running,
): Promise<void> {
  const db = await openDatabase(database.url, { max: 4, statement_timeout_ms: 0, lease_ms: LONGEST_WORK_MS });
  await running.add(() => db.close());
  const over = new AbortController();
  const end = (): void => over.abort(new Error('The server stops.'));
  const upkeep = { ...db, pool: poolUntil(db.pool, over.signal), keyed: poolUntil(db.keyed, over.signal) };
  const works: Repeated[] = [];
  const looks: Repeated[] = [];
  const stopAll = (those: readonly Repeated[]): Promise<unknown> => Promise.all(those.map((one) => one.stop()));
  const stop = async (): Promise<void> => {
    const late = setTimeout(end, LAST_WORK_MS);
    await stopAll([...looks, ...works]);
    clearTimeout(late);
    end();
  };
  await running.add(stop);
  const isRead = readEnough(upkeep.pool, config, upstreams);
  // Answers of a store that never had scores wait for them; else those of the last run are sold meanwhile.
  const scoredBefore = Object.values(await lastScored(upkeep.pool, VENUES)).some((at) => at !== null);
  if (!scoredBefore) await scoreFirst(upkeep.pool, config, logger, isRead);
  const contexts = contextsOver(upkeep, config);
  works.push(
    keepScores(upkeep.pool, VENUES, config.clock, logger, isRead, scoredBefore ? 'at once' : 'later'),
    watchSnapshots(upkeep.pool, VENUES, contexts, logger),
    watchSignals(upkeep.pool, VENUES, contexts, logger, isRead),
  );
  const newer = newerThan(migrationsOf(place.root));
  const look = async (): Promise<void> => {
    const migrations = await newer(upkeep.pool).catch(() => []);
    if (migrations.length > 0) await stopAll(works);
  };
  looks.push(repeat(look, LOOK_MS));
  // What was begun after a stop is stopped as well.
  await running.add(stop);
}

async function scoreFirst(pool: Database['pool'], { clock }: Config, logger: Logger, isRead: IsRead): Promise<void> {
  const started = performance.now();
  const runs = await catchUpScores(pool, VENUES, clock.now(), logger, isRead);
  if (runs.length === 0) return;
  const words = runs.map((run) => `${run.venue} ${run.scored} of ${run.wallets}`).join(', ');
  say(`Scores: ${words}, ${((performance.now() - started) / 1_000).toFixed(1)} s`);
}

/** A glance at the store holds nothing up. */
const COUNTED_MS = 2_000;

/** What is in the store of a venue, as one line; a store that is too busy to tell in time is no failure. */
const holdingsOf = ({ db }: App, { name, factTables }: Venue): Promise<string> =>
  rowCounts(db.pool, factTables, COUNTED_MS).then(
    (rows) => `${name}: ${factTables.map((table) => `${rows[table]} ${table}`).join(', ')}`,
    () => `${name}: not counted in time`,
  );

async function sayHow(app: App, config: Config, payments: PaymentsSettings): Promise<void> {
  for (const line of await Promise.all(VENUES.map((venue) => holdingsOf(app, venue)))) say(line);
  say(`${app.endpoints.length} paid endpoints`);
  const path = '/api/v1/trades/whales?timeframe=7d&min_usdc=1000&limit=3';
  say('');
  say(`  Public    ${app.publicUrl}            (docs: ${app.publicUrl}/docs, prices: ${app.publicUrl}/api/v1/pricing)`);
  say(`  Internal  ${app.internalUrl}/graphql  (GraphiQL, this machine only)`);
  say('');
  say('See a price and what a request needs, free:');
  say(`  curl -s '${app.publicUrl}${path}'`);
  if (!config.sandbox) return;
  say('Buy a first answer with play money:');
  // The buyer looks for the shop at its usual port.
  const where = app.publicUrl === USUAL_URL ? '' : ` --url ${app.publicUrl}`;
  for (const protocol of ['x402', ...(payments.tempo === false ? [] : ['tempo']), 'solana'])
    say(`  npm run -s buy -- GET '${path}' --protocol ${protocol}${where}`);
}
