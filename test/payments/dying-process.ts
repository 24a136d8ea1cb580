import { AsyncLocalStorage } from 'node:async_hooks';
import { Pool } from 'pg';
import { TempoChain } from '../../src/chains/tempo';
import { createPayments } from '../../src/payments/charge';
import { Ledger } from '../../src/payments/ledger';
import { MppSolana } from '../../src/payments/protocols/mpp-solana';
import { MppTempo } from '../../src/payments/protocols/mpp-tempo';
import { SolanaLanding } from '../../src/payments/protocols/solana-landing';
import { X402 } from '../../src/payments/protocols/x402';
import { Settler } from '../../src/payments/settler';
import type { Death, DyingOrders, DyingSale, FromDying } from './dying';

// One gateway process that sells, each sale over a till of its own, and halts every sale in a given state, to be killed there.

/** Number of the sale that the running code belongs to. */
const sales = new AsyncLocalStorage<number>();
type AnyMethods = Record<string, (...args: unknown[]) => Promise<unknown>>;

const tell = (at: FromDying['at'], outcome?: string): void => void process.send?.({ sale: sales.getStore() ?? 0, at, outcome });

/** The sale stands still here until the process is killed. */
async function halt(): Promise<never> {
  tell('there');
  return new Promise<never>(() => undefined);
}

/** Halts every sale that calls a method, before or after it did its work, once `armed` says so. */
function haltAt(prototype: object, method: string, when: 'before' | 'after', armed: () => boolean = () => true): void {
  const methods = prototype as AnyMethods;
  const real = methods[method] as AnyMethods[string];
  methods[method] = async function (this: unknown, ...args: unknown[]) {
    const concerned = sales.getStore() !== undefined && armed();
    if (when === 'before' && concerned) return halt();
    const result = await real.apply(this, args);
    return when === 'after' && concerned ? halt() : result;
  };
}

const told = new Map<number, () => void>();
process.on('message', (sale: number) => told.get(sale)?.());
const sending = new Set<number>();

/** Between the write-ahead record and the first send the sale waits for a word. */
function waitBeforeSending(): void {
  const real = Ledger.prototype.writeAhead;
  Ledger.prototype.writeAhead = async function (...args) {
    const record = await real.apply(this, args);
    const sale = sales.getStore() as number;
    const word = new Promise<void>((resolve) => told.set(sale, resolve));
    tell('sending');
    await word;
    sending.add(sale);
    return record;
  };
}

const isSending = (): boolean => sending.has(sales.getStore() as number);

const AT: Record<Death, () => void> = {
  RECEIVED: () => [X402, MppSolana, MppTempo].forEach(({ prototype }) => haltAt(prototype, 'validate', 'before')),
  VALIDATED: () => haltAt(Ledger.prototype, 'claim', 'before'),
  RESERVED: () => haltAt(Ledger.prototype, 'claim', 'after'),
  EXECUTING: () => haltAt(Ledger.prototype, 'executing', 'after'),
  RESULT_READY: () => haltAt(Ledger.prototype, 'writeAhead', 'before'),
  BROADCASTING: () => haltAt(Ledger.prototype, 'writeAhead', 'after'),
  SENT: () => {
    // Whichever look comes first after the broadcast.
    ['lookup', 'confirmedNow'].forEach((look) => haltAt(SolanaLanding.prototype, look, 'before', isSending));
    // The first question to every node is the broadcast.
    haltAt(TempoChain.prototype, 'everywhere', 'after', isSending);
  },
  UNKNOWN: () => haltAt(Ledger.prototype, 'unknown', 'after'),
  CONFIRMED: () => {
    // The chain has said so, and nothing of it is on record.
    Ledger.prototype.delivered = () => undefined;
    haltAt(Settler.prototype, 'broadcast', 'after');
  },
  DELIVERED: () => haltAt(Ledger.prototype, 'flush', 'after'),
};

/** Short, but where the process is to die while it works. */
const work = async (): Promise<string> => (orders.die === 'EXECUTING' ? new Promise(() => undefined) : 'from the process that died');

async function sell({ database_url, settings, sale }: DyingSale): Promise<void> {
  const pool = new Pool({ connectionString: database_url });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const payments = await createPayments(settings, { pool, logger: log });
  await payments.start();
  const outcome = await payments.charge({ ...sale, amount: BigInt(sale.amount) }, { refuse: null, run: work });
  await payments.stop();
  await pool.end();
  tell('ended', outcome.kind === 'paid' ? '200' : `${outcome.error.status} ${outcome.error.code}`);
}

const orders = JSON.parse(process.env.DYING_ORDERS as string) as DyingOrders;
if (orders.die !== 'BROADCASTING') waitBeforeSending();
if (orders.die !== 'never') AT[orders.die]();
void Promise.all(orders.sales.map((sale, index) => sales.run(index, () => sell(sale)))).then(() => process.disconnect());
