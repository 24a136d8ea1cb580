import type { Pool } from 'pg';

/** A pool whose queries are counted and whose time is known: the wall time during which at least one was under way. */
export interface TimedPool {
  pool: Pool;
  /** Milliseconds and statements since the last call. */
  take(): { ms: number; statements: number };
}

export function timedPool(pool: Pool): TimedPool {
  let ms = 0;
  let statements = 0;
  let underWay = 0;
  let since = 0;
  const query = async (...args: Parameters<Pool['query']>): Promise<unknown> => {
    statements += 1;
    if (underWay === 0) since = performance.now();
    underWay += 1;
    try {
      return await (pool.query(...args) as unknown as Promise<unknown>);
    } finally {
      underWay -= 1;
      if (underWay === 0) ms += performance.now() - since;
    }
  };
  return {
    pool: { query } as unknown as Pool,
    take: () => {
      const taken = { ms, statements };
      ms = 0;
      statements = 0;
      return taken;
    },
  };
}
