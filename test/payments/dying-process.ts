import { Pool } from 'pg';
import { SolanaChain } from '../../src/chains/solana';
import { TempoChain } from '../../src/chains/tempo';
import { createPayments } from '../../src/payments/charge';
import type { PaymentsSettings } from '../../src/payments/config';
import { Ledger } from '../../src/payments/ledger';
import type { Sale } from '../../src/payments/protocol';
import { MppTempo } from '../../src/payments/protocols/mpp-tempo';
import { X402 } from '../../src/payments/protocols/x402';

/** The states of a payment at which a process can be made to die; SENT: broadcast, and nothing heard of it yet. */
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

/** One gateway process that sells once and is killed (SIGKILL) in a given state. Orders come as JSON in the environment. */
export interface DyingOrders {
  database_url: string;
  settings: PaymentsSettings;
  sale: Omit<Sale, 'amount'> & { amount: string };
  die: Death | 'never';
  /** Says "working" when the work has begun, and ends it when something is written to its standard input. */
  wait?: boolean;
}

type AnyMethods = Record<string, (...args: unknown[]) => Promise<unknown>>;

async function endNow(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise<never>(() => undefined);
}

/** Makes every call of a method die, before or after it did its work, once `armed` says so. */
function die(prototype: object, method: string, when: 'before' | 'after', armed: () => boolean = () => true): void {
  const methods = prototype as AnyMethods;
  const real = methods[method] as AnyMethods[string];
  methods[method] = async function (this: unknown, ...args: unknown[]) {
    if (when === 'before' && armed()) return endNow();
    const result = await real.apply(this, args);
    return when === 'after' && armed() ? endNow() : result;
  };
}

/** True from the write-ahead record on. */
function written(): () => boolean {
  let done = false;
  const real = Ledger.prototype.writeAhead;
  Ledger.prototype.writeAhead = async function (...args) {
    const record = await real.apply(this, args);
    done = true;
    return record;
  };
  return () => done;
}

const AT: Record<Death, () => void> = {
  RECEIVED: () => [X402, MppTempo].forEach(({ prototype }) => die(prototype, 'validate', 'before')),
  VALIDATED: () => die(Ledger.prototype, 'claim', 'before'),
  RESERVED: () => die(Ledger.prototype, 'claim', 'after'),
  EXECUTING: () => die(Ledger.prototype, 'executing', 'after'),
  RESULT_READY: () => die(Ledger.prototype, 'writeAhead', 'before'),
  BROADCASTING: () => die(Ledger.prototype, 'writeAhead', 'after'),
  SENT: () => {
    const sending = written();
    die(SolanaChain.prototype, 'broadcast', 'after', sending);
    // The first question to every node after the write-ahead record is the broadcast.
    die(TempoChain.prototype, 'everywhere', 'after', sending);
  },
  UNKNOWN: () => die(Ledger.prototype, 'unknown', 'after'),
  CONFIRMED: () => die(Ledger.prototype, 'confirmed', 'after'),
  DELIVERED: () => die(Ledger.prototype, 'flush', 'after'),
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function work(wait: boolean): Promise<string> {
  if (wait) {
    console.log('working');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    process.stdin.pause();
  }
  // Long enough to be on record while it runs.
  else await pause(250);
  return 'from the process that died';
}

async function main(): Promise<void> {
  const orders = JSON.parse(process.env.DYING_ORDERS as string) as DyingOrders;
  if (orders.die !== 'never') AT[orders.die]();
  const pool = new Pool({ connectionString: orders.database_url });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const payments = await createPayments(orders.settings, { pool, logger: log });
  await payments.start();
  const sale = { ...orders.sale, amount: BigInt(orders.sale.amount) };
  const outcome = await payments.charge(sale, { refuse: null, run: () => work(orders.wait === true) });
  console.log(outcome.kind === 'paid' ? '200' : `${outcome.error.status} ${outcome.error.code}`);
  await payments.stop();
  await pool.end();
}

if (require.main === module) void main();
