import { Pool } from 'pg';
import { SolanaChain } from '../../src/chains/solana';
import { createPayments } from '../../src/payments/charge';
import type { PaymentsSettings } from '../../src/payments/config';
import { Ledger } from '../../src/payments/ledger';
import type { Sale } from '../../src/payments/protocol';

/** One gateway process that sells once and is killed (SIGKILL) right after a given step. Orders come as JSON in the environment. */
export interface DyingOrders {
  database_url: string;
  settings: PaymentsSettings;
  sale: Omit<Sale, 'amount'> & { amount: string };
  die_after: 'reserve' | 'executing' | 'resultReady' | 'writeAhead' | 'broadcast' | 'confirmed' | 'never';
}

type AnyMethods = Record<string, (...args: unknown[]) => Promise<unknown>>;

function killAfter(prototype: object, method: string): void {
  const methods = prototype as AnyMethods;
  const real = methods[method] as AnyMethods[string];
  methods[method] = async function (this: unknown, ...args: unknown[]) {
    await real.apply(this, args);
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => undefined);
  };
}

async function main(): Promise<void> {
  const { database_url, settings, sale, die_after } = JSON.parse(process.env.DYING_ORDERS as string) as DyingOrders;
  if (die_after === 'broadcast') killAfter(SolanaChain.prototype, 'broadcast');
  else if (die_after !== 'never') killAfter(Ledger.prototype, die_after);
  const pool = new Pool({ connectionString: database_url });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const payments = await createPayments(settings, { pool, logger: log });
  await payments.start();
  const outcome = await payments.charge(
    { ...sale, amount: BigInt(sale.amount) },
    { refuse: null, run: async () => 'from the process that died' },
  );
  console.log(outcome.kind);
  await payments.stop();
  await pool.end();
}

void main();
