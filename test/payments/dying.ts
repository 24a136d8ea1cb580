import { fork } from 'node:child_process';
import path from 'node:path';
import type { PaymentsSettings } from '../../src/payments/config';
import type { Sale } from '../../src/payments/protocol';

/** The states of a payment in which a process can be made to die; SENT: broadcast, and nothing heard of it yet. */
export const DEATHS = [
  'RECEIVED',
  'VALIDATED',
  'RESERVED',
  'EXECUTING',
  'RESULT_READY',
  'BROADCASTING',
  'SENT',
  'UNKNOWN',
  'CONFIRMED',
  'DELIVERED',
] as const;
export type Death = (typeof DEATHS)[number];

/** One sale of a dying process, over the database and the chain of its column. */
export interface DyingSale {
  column: number;
  database_url: string;
  settings: PaymentsSettings;
  sale: Omit<Sale, 'amount'> & { amount: string };
}

/** What the process reads, as JSON in the environment. */
export interface DyingOrders {
  die: Death | 'never';
  sales: DyingSale[];
}

/** What the process says of a sale: it is about to be broadcast, it stands in the state of the order, it has ended with an outcome. */
export interface FromDying {
  sale: number;
  at: 'sending' | 'there' | 'ended';
  outcome?: string;
}

/**
 * Runs the sales in one process until each of them has come to its state or to its end, and kills the process (SIGKILL) there.
 * `sending` is called, and waited for, when every sale of a column is about to be broadcast or will not be. Returns how each sale
 * ended; null: it was killed in its state.
 */
export async function dieIn(orders: DyingOrders, sending: (column: number) => unknown = () => undefined): Promise<(string | null)[]> {
  const child = fork(path.join(__dirname, 'dying-process.ts'), [], {
    execArgv: ['-r', path.join(__dirname, '../support/register-typescript.js')],
    env: { ...process.env, NODE_OPTIONS: '', DYING_ORDERS: JSON.stringify(orders) },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ends = new Map<number, string | null>();
  const waiting = new Set<number>();
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.on('message', ({ sale, at, outcome }: FromDying) => {
    if (at === 'sending') waiting.add(sale);
    else ends.set(sale, at === 'there' ? null : (outcome ?? ''));
    if (ends.size === orders.sales.length) return void child.kill('SIGKILL');
    const column = orders.sales[sale]?.column as number;
    const together = [...orders.sales.keys()].filter((other) => orders.sales[other]?.column === column);
    const held = together.filter((other) => waiting.has(other));
    if (held.length === 0 || !together.every((other) => waiting.has(other) || ends.has(other))) return;
    held.forEach((other) => waiting.delete(other));
    void Promise.resolve(sending(column)).then(() => held.forEach((other) => child.connected && child.send(other)));
  });
  await gone;
  if (ends.size < orders.sales.length) throw new Error(`the process ended early: ${errors}`);
  return orders.sales.map((_, index) => ends.get(index) as string | null);
}
