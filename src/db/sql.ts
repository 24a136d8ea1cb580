import type { ClientBase } from 'pg';
import { runCancellable } from './cancel';
import type { Statements } from './client';

/**
 * One statement of the query catalogue. `name` makes it a prepared statement on each connection, so names must be
 * bounded in number: a name never depends on input.
 */
export interface Statement {
  name: string;
  text: string;
  /**
   * It finds its rows the same way whatever its values, by key or in a stretch of one index: planned once a connection instead of each time, never to scan a table. Not for
   * what has several ways to go, as where a window or a score says which is short: the bench `plans` compares.
   */
  keyed?: boolean;
}

/** Runs analytics SQL. Rows come as node-postgres gives them: numeric and bigint as strings, timestamptz as Date. */
export interface Sql {
  query<Row extends object = Record<string, unknown>>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

/** Sql over the pools of a database. When `signal` aborts, statements are cancelled as runCancellable tells. */
export function sqlOver({ pool, keyed }: Pick<Statements, 'pool' | 'keyed'>, signal?: AbortSignal): Sql {
  return {
    query: async <Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]> =>
      runCancellable(statement.keyed === true ? keyed : pool, signal, async (client) => {
        const { name, text } = statement;
        const result = await client.query({ name, text, values: values as unknown[] });
        return result.rows as Row[];
      }),
  };
}

/** Sql inside the caller's transaction: what is asked together is answered one after the other. */
export function sqlOf(client: ClientBase): Sql {
  let before: Promise<unknown> = Promise.resolve();
  return {
    query: (statement, values) => {
      const rows = before.then(async () => (await client.query({ ...statement, values: values as unknown[] })).rows);
      before = rows.catch(() => undefined);
      return rows;
    },
  };
}
