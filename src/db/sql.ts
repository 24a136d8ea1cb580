import type { Pool, QueryResultRow } from 'pg';
import { runCancellable } from './cancel';

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

/** Sql over the pool that Prisma uses too. When `signal` aborts, statements are cancelled as runCancellable tells. */
export function sqlOver(pool: Pool, signal?: AbortSignal): Sql {
  return {
    query: async <Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]> =>
      runCancellable(pool, signal, async (client) => {
        const result = await client.query<Row>({ ...statement, values: values as unknown[] });
        return result.rows;
      }),
  };
}
