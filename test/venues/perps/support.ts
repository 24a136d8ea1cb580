import fs from 'node:fs';
import path from 'node:path';
import { Kind, parse, valueFromASTUntyped } from 'graphql';
import type { Pool } from 'pg';
import { makeContext } from '../../../src/graph/context';
import { compile, type Operation } from '../../../src/graph/execute';
import { makeSchema } from '../../../src/graph/schema';
import type { AnswerMeta } from '../../../src/venues/venue';
import { perps } from '../../../src/venues/perps/index';
import { recognise } from '../../../src/workers/ingest';
import { openPage, pageOf } from '../../../src/workers/pages';
import type { IngestReport } from '../../../src/workers/source';
import { loadPage } from '../../support/load-page';
import type { testDatabase } from '../../support/database';

export type TestDatabase = Awaited<ReturnType<typeof testDatabase>>;

const ROOT = path.resolve(__dirname, '../../..');
const SCHEMA = makeSchema(path.join(ROOT, 'graphql/schema'), [perps.resolvers]);
const operations = new Map<string, { run: Operation; defaults: Record<string, unknown> }>();

function operationOf(endpoint: string): { run: Operation; defaults: Record<string, unknown> } {
  const known = operations.get(endpoint);
  if (known !== undefined) return known;
  const document = parse(fs.readFileSync(path.join(ROOT, 'graphql/endpoints', `${endpoint}.graphql`), 'utf8'));
  const [definition] = document.definitions;
  const variables = definition?.kind === Kind.OPERATION_DEFINITION ? (definition.variableDefinitions ?? []) : [];
  // The compiled operation leaves defaults to the reader of the request.
  const defaults = Object.fromEntries(
    variables.flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)]],
    ),
  );
  const made = { run: compile(SCHEMA, document), defaults };
  operations.set(endpoint, made);
  return made;
}

/** The wing's own endpoint document, e.g. `perps/trades/feed`, run as the product runs it; of live feeds that are `settled` up to an instant. */
export async function ask<Data>(
  db: TestDatabase,
  endpoint: string,
  variables: Record<string, unknown>,
  now: Date,
  settled: Date | null = null,
): Promise<{ data: Data; meta: AnswerMeta; failed: [part: string, cause: unknown][] }> {
  const { run, defaults } = operationOf(endpoint);
  const failed: [part: string, cause: unknown][] = [];
  const context = makeContext(
    db,
    now,
    undefined,
    (part, cause) => failed.push([part, cause]),
    () => settled,
  );
  const sent = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
  return { data: (await run({ ...defaults, ...sent }, context)) as Data, meta: context.meta, failed };
}

/** An ad-hoc query, as analysts send them. */
export async function query<Data>(db: TestDatabase, text: string, now: Date): Promise<Data> {
  return (await compile(SCHEMA, parse(text))({}, makeContext(db, now))) as Data;
}

/** Loads records as a page of the format they are in; throws when the wing does not recognise them. */
export async function load(
  pool: Pool,
  records: unknown[],
  options: { account?: string; format?: 'json' | 'ndjson' | 'csv'; name?: string } = {},
): Promise<IngestReport & { source: string }> {
  const { source, page } = await recognise(perps, pageOf(options.name ?? 'page', options.format ?? 'ndjson', records));
  if (source === null) throw new Error('Not recognised.');
  return {
    source: source.name,
    ...(await loadPage(pool, perps.name, source, page, { account: options.account, progress: () => undefined })),
  };
}

/** Loads a file; `source` null where no feed recognises it. */
export async function loadFile(pool: Pool, file: string, account?: string): Promise<IngestReport & { source: string | null }> {
  const { source, page } = await recognise(perps, openPage(file));
  if (source === null) return { source: null, read: 0, inserted: 0, duplicates: 0, skipped: {} };
  return { source: source.name, ...(await loadPage(pool, perps.name, source, page, { account, progress: () => undefined })) };
}

export const fixture = (name: string): string => path.join(ROOT, 'test/fixtures/perps', name);

/** A trader's address: the letter, forty times. */
export const trader = (letter: string): string => `0x${letter.repeat(40)}`;

/** A fill in the upstream's own fields; what is not said does not matter to the test. */
export function wireFill(fill: Record<string, unknown>): Record<string, unknown> {
  return {
    coin: 'BTC', px: '100.0', sz: '1.0', side: 'B', time: Date.UTC(2026, 0, 15), startPosition: '0.0', dir: 'Open Long', closedPnl: '0.0',
    hash: `0x${'ab'.repeat(32)}`, oid: 7, crossed: true, fee: '0.0', tid: 1, feeToken: 'USDC', twapId: null, ...fill,
  }; // prettier-ignore
}

let tids = 0;

/** Both sides of a match as an archive block: `taker` and `maker` with their positions before it. */
export function match(
  at: Date,
  deal: {
    coin?: string;
    px: string;
    sz: string;
    side: 'B' | 'A';
    taker: [string, string, Record<string, unknown>?];
    maker: [string, string, Record<string, unknown>?];
  },
): Record<string, unknown> {
  tids += 1;
  const both = { coin: deal.coin ?? 'BTC', px: deal.px, sz: deal.sz, time: at.getTime(), tid: tids };
  const sides = [
    { user: deal.maker, side: deal.side === 'B' ? 'A' : 'B', crossed: false },
    { user: deal.taker, side: deal.side, crossed: true },
  ];
  const events = sides.map(({ user: [user, startPosition, more], side, crossed }) => [
    user,
    wireFill({ ...both, side, crossed, startPosition, oid: tids * 2 + Number(crossed), ...more }),
  ]);
  return { local_time: '2026-01-01T00:00:00.000000000', block_time: at.toISOString().slice(0, -1), block_number: tids, events };
}
