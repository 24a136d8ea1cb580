import type { Pool, QueryResultRow } from 'pg';

/**
 * One statement of the query catalogue. `name` makes it a prepared statement on each connection, so names must be
 * bounded in number: a name never depends on input.
 */
export interface Statement {
  name: string;
  text: string;
}

/** Runs analytics SQL. Rows come as node-postgres gives them: numeric and bigint as strings, timestamptz as Date. */
export interface Sql {
  query<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

/**
 * Sql over the pool that Prisma uses too. When `signal` aborts, the running statement is cancelled in PostgreSQL as
 * well (pg_cancel_backend) and the promise rejects with the signal's reason.
 */
export function sqlOver(pool: Pool, signal?: AbortSignal): Sql {
  return {
    async query<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
      signal?.throwIfAborted();
      const client = await pool.connect();
      let cancelled = false;
      const cancel = (): void => {
        cancelled = true;
        const pid = (client as unknown as { processID: number }).processID;
        pool.query('SELECT pg_cancel_backend($1)', [pid]).catch(() => undefined);
      };
      signal?.addEventListener('abort', cancel, { once: true });
      try {
        signal?.throwIfAborted();
        const result = await client.query<Row>({ ...statement, values: values as unknown[] });
        return result.rows;
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      } finally {
        signal?.removeEventListener('abort', cancel);
        // A cancel may still be on its way to this backend: never hand such a connection to somebody else.
        client.release(cancelled);
      }
    },
  };
}
