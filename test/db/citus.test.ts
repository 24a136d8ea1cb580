import fs from 'node:fs';
import path from 'node:path';
import { Client, type QueryConfig } from 'pg';
import { loadCatalogue } from '../../src/app';
import { migrate } from '../../src/db/migrate';
import { answerInProcess } from '../bench/endpoints/answer';
import { ROOT } from '../support/catalogue';
import { defaultInput, dearestInput } from '../support/subjects';
import { type ThreeWorlds, threeWorlds } from '../support/three-worlds';
import { cutLaterals, runsOnCitus } from './citus-rules';
import { DISTRIBUTION_FILE, type Place, distribution } from './distribution';

// One code base for one PostgreSQL and for a Citus cluster. The rules are Citus' own: docs.citusdata.com, "SQL support and workarounds".

/** Statements with LATERAL and LIMIT (or OFFSET) that Citus refuses, by name or beginning: known, and what stands in the way. */
const PRICES =
  'looks up prices, which stand by mint, for rows that stand by pool; token_price would have to stand on every node, which Citus allows of no partitioned table';
const CATALOGUE = 'begins at the catalogue, which stands on every node; has to begin at the pool of the facts instead';
const KEYS = 'accounts come from another step of the statement, and OFFSET 0 holds the plan to their index; has to be a plain join there';
const EXCEPTIONS: Readonly<Record<string, string>> = {
  lp_append_events: PRICES,
  lp_append_swaps: PRICES,
  lp_prices_sol: PRICES,
  lp_prices_sol_staged: PRICES,
  lp_value_events: PRICES,
  lp_value_swaps: PRICES,
  lp_dca_pressure_0: PRICES,
  lp_pool_price: CATALOGUE,
  lp_position_by_address: PRICES,
  lp_liquidity_now: PRICES,
  lp_providers: PRICES,
  perps_followings: KEYS,
  perps_lives: KEYS,
  perps_positions: KEYS,
  perps_smart_positions: KEYS,
  perps_tell_drawdowns: KEYS,
  perps_tell_trips: KEYS,
};

/** Sources of links between records, which the paid documents do not follow: parents come with the statement (`unnest`), children are cut for each. */
const LINKS = /^src\/venues\/\w+\/queries\/linked-[\w-]+\.ts$/;

const places = distribution();
let worlds: ThreeWorlds;
/** What was sent while three worlds were loaded, scored and asked everything: by name, else by its first words. */
const sent = new Map<string, QueryConfig>();

const labelOf = ({ name, text }: QueryConfig): string => name ?? text.replace(/\s+/g, ' ').trim().slice(0, 60);

/** Files of SQL and TypeScript below a folder of the repository. */
const sources = (folder: string): string[] =>
  fs
    .readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(sql|ts)$/.test(file) && !file.startsWith('generated'))
    .map((file) => `${folder}/${file}`);

async function recording<T>(keepValues: boolean, work: () => Promise<T>): Promise<T> {
  const original = Client.prototype.query as (...args: unknown[]) => unknown;
  const spy = jest.spyOn(Client.prototype, 'query').mockImplementation(function query(this: Client, ...args: unknown[]) {
    const [first, values] = args;
    const given = typeof first === 'string' ? { text: first } : (first as QueryConfig);
    if (typeof given?.text === 'string')
      sent.set(labelOf(given), {
        name: given.name,
        text: given.text,
        values: keepValues ? ((values as unknown[]) ?? given.values) : undefined,
      });
    return original.apply(this, args);
  } as never);
  try {
    return await work();
  } finally {
    spy.mockRestore();
  }
}

beforeAll(async () => {
  worlds = await recording(false, () => threeWorlds(4_000, 8));
  const { paid } = loadCatalogue(ROOT);
  await recording(true, async () => {
    for (const one of paid) {
      const subjects = worlds.subjects[one.endpoint.venue as keyof ThreeWorlds['subjects']];
      for (const input of [defaultInput(one.endpoint, subjects), dearestInput(one.endpoint, subjects)])
        await answerInProcess(one, input, worlds.database, worlds.now).catch(() => undefined);
    }
  });
}, 600_000);
afterAll(() => worlds.close());

test('every table has its place in a cluster, and every place its table', async () => {
  const { rows } = await worlds.database.pool.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1",
  );
  // A table without a line in prisma/citus/distribution.sql: say there by which column it is spread.
  expect([...places.keys()].sort()).toEqual(rows.map(({ name }) => name).sort());
});

test('rule 1: the distribution column is in every unique key', async () => {
  const { rows } = await worlds.database.pool.query<{ name: string; key: string; columns: string[] }>(
    `SELECT t.relname AS name, i.relname AS key, array_agg(a.attname::text) AS columns FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
     JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY(x.indkey) WHERE x.indisunique AND t.relnamespace = 'public'::regnamespace AND NOT t.relispartition GROUP BY 1, 2`,
  );
  const broken = rows.filter(({ name, columns }) => {
    const place = places.get(name);
    return typeof place === 'object' && !columns.includes(place.by);
  });
  expect(broken).toEqual([]);
});

test('rule 2: LATERAL with LIMIT only beside a distributed table, or declared', () => {
  const broken = [...sent.values()].filter(({ text }) => cutLaterals(text).some((lateral) => !runsOnCitus(lateral, places))).map(labelOf);
  // A name here: write it with row_number() OVER (PARTITION BY …), or declare it above.
  expect(broken.filter((name) => !(name in EXCEPTIONS))).toEqual([]);
  expect(broken.length).toBeGreaterThan(5);
});

test('rule 2, of what no paid document asks: only links between records cut children of parents that come with the statement', () => {
  const files = sources('src/venues').filter((file) => {
    const text = fs.readFileSync(path.join(ROOT, file), 'utf8');
    return /unnest\([^;]{0,400}LATERAL \([^;]*LIMIT \$/.test(text);
  });
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((file) => !LINKS.test(file))).toEqual([]);
});

test('rule 5: no migration and no source speaks of distributing', () => {
  const files = ['prisma/migrations', 'src'].flatMap(sources);
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => /create_(distributed|reference)_table/.test(fs.readFileSync(path.join(ROOT, file), 'utf8')))).toEqual([]);
});

describe('reading of statements', () => {
  const beside = (table: string): Place => ({ by: 'market', beside: table });
  const known = new Map<string, Place>([['pm_market', beside('pm_market')], ['pm_trade', beside('pm_market')], ['pm_wallet', beside('pm_wallet')], ['lp_pool', 'everywhere']]); // prettier-ignore
  const lateral = (from: string, read: string): string => `WITH a AS (SELECT 1) SELECT * FROM ${from} CROSS JOIN LATERAL (SELECT * FROM ${read} t WHERE (t.a = 1) ORDER BY 1 LIMIT $2) f WHERE x`; // prettier-ignore
  test.each([
    [lateral('pm_market m', 'pm_trade'), true],
    [lateral('unnest($1::text[]) AS w(id)', 'pm_trade'), false],
    [lateral('unnest($1::text[]) AS w(id) JOIN pm_market m ON m.id = w.id', 'pm_trade'), true],
    [lateral('lp_pool p', 'pm_trade'), false],
    [lateral('pm_wallet w', 'pm_trade'), false],
    [lateral('unnest($1::text[]) AS w(id)', 'lp_pool'), true],
    [lateral('pm_market m', 'pm_trade').replace('LIMIT', 'AND'), true],
  ])('%s', (text, runs) => expect(cutLaterals(text).every((each) => runsOnCitus(each, known))).toBe(runs));
});

const CITUS = process.env.CITUS_URL;
const citus = CITUS === undefined ? test.skip : test;

// CITUS_URL: an empty database in which the extension exists. Declared exceptions are allowed to fail, nothing else.
citus(`every statement of the answers runs on a cluster${CITUS === undefined ? ' (skipped: CITUS_URL is not set)' : ''}`, async () => {
  await migrate(CITUS as string, path.join(ROOT, 'prisma/migrations'));
  const client = new Client({ connectionString: CITUS });
  await client.connect();
  try {
    await client.query(fs.readFileSync(DISTRIBUTION_FILE, 'utf8'));
    const refused: string[] = [];
    for (const statement of [...sent.values()].filter(({ values }) => values !== undefined)) {
      await client.query('BEGIN');
      await client
        .query({ text: statement.text, values: statement.values })
        .catch((error: Error) => refused.push(`${labelOf(statement)}: ${error.message}`));
      await client.query('ROLLBACK');
    }
    expect(refused.filter((line) => !Object.keys(EXCEPTIONS).some((name) => line.startsWith(name)))).toEqual([]);
  } finally {
    await client.end();
  }
});
