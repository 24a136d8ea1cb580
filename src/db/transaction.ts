import type { Pool, PoolClient } from 'pg';

/** For long work that writes facts, rollups or scores: no deadline, days are UTC days. */
export const LONG_WORK = "SET LOCAL statement_timeout = 0; SET LOCAL TIME ZONE 'UTC'";

/**
 * SQL that lets one writer of a venue's facts and rollups work at a time, until its transaction ends: each sees all that those before it wrote.
 * What else a writer locks it locks after this, so that no two of them wait for each other.
 */
export const writersTurn = (venue: string): string => `SELECT pg_advisory_xact_lock(hashtext('${venue} rollups'))`;

/** Runs `work` in one transaction on a connection of its own, begun with the statements of `begin`; throws what the work throws, having taken all back. */
export function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>, begin = ''): Promise<T> {
  const once = async (client: PoolClient, begun: Promise<unknown>): Promise<T> => {
    await begun;
    return work(client);
  };
  return inTransactionAt(pool, Promise.resolve(), once, begin);
}

/** As `inTransaction`, but of work that starts before its `turn`, when the transaction begins: until `begun` resolves it must not use the client. */
export async function inTransactionAt<T>(
  pool: Pool,
  turn: Promise<unknown>,
  work: (client: PoolClient, begun: Promise<unknown>) => Promise<T>,
  begin = '',
): Promise<T> {
  const client = await pool.connect();
  let open: Error | undefined;
  const begun = turn.then(() => client.query(`BEGIN; ${begin}`));
  // Work that has not asked for its turn yet hears of a failure when it does; until then it must not count as unhandled.
  begun.catch(() => undefined);
  const takeBack = async (): Promise<void> => {
    await begun.catch(() => undefined);
    await client.query('ROLLBACK').catch((cause: Error) => (open = cause));
  };
  try {
    const result = await work(client, begun);
    await begun;
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // Whose turn never comes has begun nothing.
    await turn.then(takeBack, () => undefined);
    throw error;
  } finally {
    // A connection that did not take it back in time is closed: what its next user writes would be part of a transaction that never ends.
    client.release(open);
  }
}
