import type { Pool, PoolClient } from 'pg';
import { isUnable } from './reach';

const LOCK_NOT_AVAILABLE = '55P03';

/** For long work that writes facts, rollups or scores: no deadline, days are UTC days. */
export const LONG_WORK = "SET LOCAL statement_timeout = 0; SET LOCAL TIME ZONE 'UTC'";

/**
 * SQL that lets one writer of a venue's facts and rollups work at a time, until its transaction ends: each sees all that those before it wrote.
 * What else a writer locks it locks after this, so that no two of them wait for each other.
 */
export const writersTurn = (venue: string): string => `SELECT pg_advisory_xact_lock(hashtext('${venue} rollups'))`;

/** Runs `work` in one transaction on a connection of its own, begun with the statements of `begin`; throws what the work throws, having taken all back. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>, begin = ''): Promise<T> {
  const client = await pool.connect();
  let spoilt: Error | undefined;
  try {
    await client.query(`BEGIN; ${begin}`);
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((cause: Error) => (spoilt = cause));
    if (isUnable(error)) spoilt = error as Error;
    throw error;
  } finally {
    // A connection that did not take it back in time is closed: what its next user writes would be part of a transaction that never ends.
    client.release(spoilt);
  }
}

/** The same where every lock is had within `patience` (a length of time as PostgreSQL writes it); undefined, and nothing done, where others held one for longer. */
export async function inTransactionUnlessBusy<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  patience: string,
  begin = '',
): Promise<T | undefined> {
  try {
    return await inTransaction(pool, work, `SET LOCAL lock_timeout = '${patience}'; ${begin}`);
  } catch (error) {
    if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) return undefined;
    throw error;
  }
}
