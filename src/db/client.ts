import crypto from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool } from 'pg';
import { PrismaClient } from '../generated/prisma/client';
import { poolForPrisma } from './cancel';
import { makeKeyedPool } from './keyed-pool';
import { ROOM, type Settings, openPool } from './pool';

/** Where statements go. */
export interface Statements {
  /** Planned for their values each time. */
  pool: Pool;
  /** That find their rows by key: planned once a connection. */
  keyed: Pool;
  /** Over both: statements of few parameters are kept. */
  prisma: PrismaClient;
}

export interface Database extends Statements {
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Connections kept at most, and as many for what is found by key. */
  max?: number;
  /** Longest a statement may run, in milliseconds. */
  statement_timeout_ms?: number;
  /** Longest the server may say nothing to a statement, in milliseconds; then its connection is closed. Left out: for ever, as long work needs it. */
  silence_ms?: number;
  /** Longest one connection may be taken without being asked anything more, in milliseconds. Left out: for ever. */
  lease_ms?: number;
  /** Whether the server's processes that work for it leave the processor to others: only where they are of this machine. */
  yields?: boolean;
}

/** A named statement's generic plan guesses how much a time window holds, and guesses wrong by orders of magnitude. */
export const PLANNED_EACH_TIME: Settings = { plan_cache_mode: 'force_custom_plan', ...ROOM };

/** Of Prisma's statements, those with more parameters have a text for each length of their lists: too many to keep. */
const KEPT_PARAMETERS = 4;

/** Prisma names the schema in its statements, and takes it for `public` when nobody says. */
const SCHEMA =
  "SELECT nspname AS schema FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace WHERE c.oid = to_regclass('source_cursor')";

const nameOf = ({ sql, args }: { sql: string; args: readonly unknown[] }): string | undefined =>
  args.length > KEPT_PARAMETERS ? undefined : `prisma_${crypto.hash('md5', sql)}`;

/** Opens the database at `url`. Throws one clear sentence when it cannot be reached. */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const timeout: Settings = options.statement_timeout_ms === undefined ? {} : { statement_timeout: options.statement_timeout_ms };
  const shared = {
    ...(options.max === undefined ? {} : { max: options.max }),
    ...(options.silence_ms === undefined ? {} : { query_timeout: options.silence_ms }),
    ...(options.lease_ms === undefined ? {} : { lease_ms: options.lease_ms }),
    ...(options.yields === undefined ? {} : { yields: options.yields }),
    settings: timeout,
    application_name: 'smart-money-api',
  };
  const pool = await openPool(url, { max: 16, ...shared, settings: { ...timeout, ...PLANNED_EACH_TIME } });
  const keyed = makeKeyedPool(url, shared);
  // The adapter's type asks for a name; without one a statement is not kept.
  const statementNameGenerator = nameOf as (query: { sql: string; args: readonly unknown[] }) => string;
  const schema = (await pool.query<{ schema: string }>(SCHEMA)).rows[0]?.schema ?? 'public';
  const prisma = new PrismaClient({ adapter: new PrismaPg(poolForPrisma({ pool, keyed }), { schema, statementNameGenerator }) });
  return {
    pool,
    keyed,
    prisma,
    close: async () => {
      await prisma.$disconnect();
      await Promise.all([pool, keyed].filter(({ ended }) => !ended).map((one) => one.end()));
    },
  };
}
