import fs from 'node:fs';
import path from 'node:path';
import { DAY_MS } from '../../src/lib/time';
import { ROOT } from '../support/root';
import type { ThreeWorlds } from '../support/three-worlds';
import { cutLaterals, runsOnCitus } from './citus-rules';
import { type Sent, labelOf, sentOverThreeWorlds } from './citus-statements';
import { DISTRIBUTION_FILE, type Place, distribution } from './distribution';

// One code base for one PostgreSQL and for a Citus cluster. The rules are Citus' own: docs.citusdata.com, "SQL support and workarounds".

/** Sources of links between records, which the paid documents do not follow: parents come with the statement (`unnest`), children are cut for each. */
const LINKS = /^src\/venues\/(\w+\/queries\/linked-[\w-]+|venue-scores)\.ts$/;

const places = distribution();
let worlds: ThreeWorlds;
/** What was sent while three worlds were loaded, scored and asked everything. */
let sent: Sent;

/** Files of SQL and TypeScript below a folder of the repository. */
const sources = (folder: string): string[] =>
  fs
    .readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(sql|ts)$/.test(file) && !file.startsWith('generated'))
    .map((file) => `${folder}/${file}`);

beforeAll(async () => {
  ({ worlds, sent } = await sentOverThreeWorlds(4_000, 8));
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

test('rule 2: LATERAL with LIMIT only beside a distributed table', () => {
  const cutting = [...sent.values()].filter(({ text }) => cutLaterals(text).length > 0);
  const broken = cutting.filter(({ text }) => cutLaterals(text).some((lateral) => !runsOnCitus(lateral, places))).map(labelOf);
  // A name here: write it with row_number() OVER (PARTITION BY …).
  expect(broken).toEqual([]);
  expect(cutting.length).toBeGreaterThan(5);
});

test('rule 2, of what no paid document asks: only links between records cut children of parents that come with the statement', () => {
  const files = sources('src/venues').filter((file) => {
    const text = fs.readFileSync(path.join(ROOT, file), 'utf8');
    return /unnest\([^;]{0,400}LATERAL \([^;]*LIMIT \$/.test(text);
  });
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((file) => !LINKS.test(file))).toEqual([]);
});

test('what is asked after has a column: of a subquery without any Citus makes no list of columns', () => {
  const broken = [...sent.values()].filter(({ text }) => /\(\s*SELECT FROM\b/i.test(text)).map(labelOf);
  // A name here: write SELECT 1 FROM.
  expect(broken).toEqual([]);
});

test('what stands on the coordinator alone, a venue, is asked for by itself: nothing that is spread is read beside pools', () => {
  const pools = [...places.keys()].filter((table) => table.startsWith('lp_') || table.startsWith('dca_') || table === 'token_price');
  expect(pools.filter((table) => places.get(table) !== 'coordinator')).toEqual([]);
  const reads = (text: string, tables: readonly string[]): boolean => new RegExp(`\\b(${tables.join('|')})\\b`).test(text);
  const spread = [...places].filter(([, place]) => place !== 'coordinator').map(([table]) => table);
  const ofPools = [...sent.values()].filter(({ text }) => reads(text, pools));
  expect(ofPools.length).toBeGreaterThan(50);
  expect(ofPools.filter(({ text }) => reads(text, spread)).map(labelOf)).toEqual([]);
});

/** Asks it of every wallet, each with another number. */
const ALL_WITHIN = `SELECT told FROM (
  SELECT array_agg(wallet) AS wallets, array_agg(place % 9) AS numbers FROM (SELECT wallet, row_number() OVER (ORDER BY wallet) AS place FROM pm_wallet) AS own
) AS asked CROSS JOIN LATERAL pm_wallets_within(wallets, numbers, $1, $2) AS told`;

const ALL_KNOWN =
  'SELECT known FROM (SELECT array_agg(wallet) AS wallets FROM pm_wallet) AS asked CROSS JOIN LATERAL pm_known_since(wallets, 3) AS known';

test('functions that a cluster says its own way tell what ours tell', async () => {
  const functions = fs.readFileSync(DISTRIBUTION_FILE, 'utf8').match(/^CREATE OR REPLACE FUNCTION [^]*?^END \$\$;$/gm) ?? [];
  const names = functions.map((text) => /FUNCTION (\w+)/.exec(text)?.[1] as string);
  const asked = [...sent.values()].filter(({ text, values }) => values !== undefined && names.some((name) => text.includes(`${name}(`)));
  asked.push({ name: 'all within', text: ALL_WITHIN, values: [new Date(worlds.now.getTime() - 4.3 * DAY_MS), worlds.now] });
  asked.push({ name: 'all known', text: ALL_KNOWN, values: [] });
  const client = await worlds.database.pool.connect();
  const answers = async (): Promise<Record<string, string[]>> => {
    const told: Record<string, string[]> = {};
    for (const { name, text, values } of asked)
      told[name as string] = (await client.query({ text, values })).rows.map((row) => JSON.stringify(row)).sort();
    return told;
  };
  try {
    await client.query('BEGIN');
    const ours = await answers();
    for (const text of functions) await client.query(text);
    expect(await answers()).toEqual(ours);
    expect(
      names.filter((name) => !asked.some((one) => one.text.includes(`${name}(`) && (ours[one.name as string] ?? []).length > 0)),
    ).toEqual([]);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
});

test('rule 5: no migration and no source speaks of distributing', () => {
  const files = ['prisma/migrations', 'src'].flatMap(sources);
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => /create_(distributed|reference)_table/.test(fs.readFileSync(path.join(ROOT, file), 'utf8')))).toEqual([]);
});

describe('reading of statements', () => {
  const beside = (table: string): Place => ({ by: 'market', beside: table });
  const known = new Map<string, Place>([['pm_market', beside('pm_market')], ['pm_trade', beside('pm_market')], ['pm_wallet', beside('pm_wallet')], ['perp_coin', 'everywhere']]); // prettier-ignore
  const lateral = (from: string, read: string): string => `WITH a AS (SELECT 1) SELECT * FROM ${from} CROSS JOIN LATERAL (SELECT * FROM ${read} t WHERE (t.a = 1) ORDER BY 1 LIMIT $2) f WHERE x`; // prettier-ignore
  test.each([
    [lateral('pm_market m', 'pm_trade'), true],
    [lateral('unnest($1::text[]) AS w(id)', 'pm_trade'), false],
    [lateral('unnest($1::text[]) AS w(id) JOIN pm_market m ON m.id = w.id', 'pm_trade'), true],
    [lateral('perp_coin c', 'pm_trade'), false],
    [lateral('pm_wallet w', 'pm_trade'), false],
    [lateral('unnest($1::text[]) AS w(id)', 'perp_coin'), true],
    [lateral('pm_market m', 'pm_trade').replace('LIMIT', 'AND'), true],
  ])('%s', (text, runs) => expect(cutLaterals(text).every((each) => runsOnCitus(each, known))).toBe(runs));
});
