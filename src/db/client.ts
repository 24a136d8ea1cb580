import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool } from 'pg';
import { PrismaClient } from '../generated/prisma/client';
import { poolForPrisma } from './cancel';
import { openPool } from './pool';

/** One pool for Prisma and for analytics SQL. */
export interface Database {
  pool: Pool;
  prisma: PrismaClient;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Connections kept at most. */
  max?: number;
  /** Longest a statement may run, in milliseconds. */
  statement_timeout_ms?: number;
}

/** Opens the database at `url`. Throws one clear sentence when it cannot be reached. */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const pool = await openPool(url, {
    max: options.max ?? 16,
    ...(options.statement_timeout_ms === undefined ? {} : { statement_timeout: options.statement_timeout_ms }),
    application_name: 'smart-money-api',
    // A named statement's generic plan guesses how much a time window holds, and guesses wrong by orders of magnitude.
    options: '-c plan_cache_mode=force_custom_plan',
  });
  const prisma = new PrismaClient({ adapter: new PrismaPg(poolForPrisma(pool)) });
  return {
    pool,
    prisma,
    close: async () => {
      await prisma.$disconnect();
      if (!pool.ended) await pool.end();
    },
  };
}
