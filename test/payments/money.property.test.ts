import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import fc from 'fast-check';
import { AppError } from '../../src/errors';
import { createPayments } from '../../src/payments/charge';
import type { JsonObject, Outcome, Payments } from '../../src/payments/protocol';
import { fundedBuyer, openTill, saleOf, signedHeaders, type Till, untilSampled, withoutQuote, workOf } from './till';

// Whatever is asked, in whatever order, whatever breaks: what the merchant received is what the ledger says was paid,
// nobody pays twice for one answer, and nobody is served unpaid. More worlds: MONEY_RUNS=50; the same again: MONEY_SEED=…
const RUNS = Number(process.env.MONEY_RUNS ?? 3);
const PRICE = 20_000n;

const step = fc.record({
  buyer: fc.nat({ max: 3 }),
  process: fc.boolean(),
  proof: fc.constantFrom('fresh', 'fresh', 'fresh', 'again', 'again without its quote'),
  key: fc.constantFrom(undefined, undefined, 'key-1', 'key-2'),
  path: fc.constantFrom('/api/v1/a', '/api/v1/b'),
  work: fc.constantFrom(
    'answers',
    'answers',
    'answers',
    'is empty',
    'throws',
    'hangs',
    'buyer broadcasts',
    'buyer broadcasts and it throws',
    'buyer hangs up',
  ),
  fault: fc.constantFrom(undefined, undefined, undefined, 'drop', 'refuse', 'already_processed'),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe('money', () => {
  let till: Till;
  let second: Payments;
  beforeAll(async () => {
    till = await openTill({ settings: { deadline_ms: 150, settle_patience_ms: 600, reconcile_ms: 60_000, payer_failures: 1_000 } });
    second = await createPayments({ ...till.settings, reconcile_ms: 50 }, { pool: till.database.pool, logger: till.logger });
    await second.start();
  });
  afterAll(async () => {
    await second.stop();
    await till.stop();
  });

  /** The buyer pushes its own transaction, if that is the one being worked for (a dropped one would be money given away). */
  async function broadcast(headers: Record<string, string>): Promise<void> {
    const { payload } = JSON.parse(Buffer.from(headers['PAYMENT-SIGNATURE'] as string, 'base64').toString()) as {
      payload: { transaction: string };
    };
    const id = bs58.encode(Buffer.from(payload.transaction, 'base64').subarray(1, 65));
    const { rowCount } = await till.database.pool.query(
      "SELECT 1 FROM payment WHERE transaction = $1 AND state = ANY ('{RESERVED,EXECUTING}')",
      [id],
    );
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'sendTransaction',
      params: [payload.transaction, { encoding: 'base64', skipPreflight: true }],
    };
    if (rowCount === 1)
      await fetch(till.solana.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }).catch(
        () => undefined,
      );
  }

  function unquoted(headers: Record<string, string>): Record<string, string> {
    const proof = JSON.parse(Buffer.from(headers['PAYMENT-SIGNATURE'] as string, 'base64').toString()) as JsonObject;
    return { 'PAYMENT-SIGNATURE': Buffer.from(JSON.stringify(withoutQuote(proof))).toString('base64') };
  }

  async function perform(
    { buyer, process, proof, key, path, work, fault }: Step,
    buyers: Keypair[],
    last: Map<string, Record<string, string>>,
  ): Promise<Outcome> {
    const slot = `${buyer} ${path}`;
    const known = last.get(slot);
    const headers =
      proof === 'fresh' || known === undefined ? await signedHeaders(till, buyers[buyer] as Keypair, {}, saleOf({ path })) : known;
    last.set(slot, headers);
    const sent = {
      ...(proof === 'again without its quote' ? unquoted(headers) : headers),
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    };
    const gone = new AbortController();
    const run = async (): Promise<unknown> => {
      if (work.startsWith('buyer broadcasts')) await broadcast(headers);
      if (work === 'hangs') await new Promise(() => undefined);
      if (work === 'is empty') throw new AppError('empty_result');
      if (work.endsWith('throws')) throw new Error('broken');
      if (work === 'buyer hangs up') gone.abort();
      return { served: path };
    };
    if (fault !== undefined) till.solana.faults.inject('sendTransaction', { kind: fault as 'drop' }, 1);
    const sale = saleOf({ path, headers: sent, client_gone: gone.signal });
    return (process ? till.payments : second).charge(sale, workOf(run));
  }

  /** Lets every open question be answered by the chain. */
  async function settleAll(): Promise<void> {
    till.solana.faults.clear();
    till.solana.advanceSlots(300);
    for (let pass = 0; pass < 500; pass += 1) {
      await till.database.pool.query("UPDATE payment SET look_at = now() - interval '1 second' WHERE look_at IS NOT NULL");
      await till.payments.reconcile();
      const { rows } = await till.database.pool.query<{ n: number }>(
        // A released one is open, too, while either process still asks whether its buyer broadcast it.
        `SELECT count(*)::int AS n FROM payment WHERE state = ANY ('{RESERVED,EXECUTING,RESULT_READY,BROADCASTING,UNKNOWN}')
         OR (state = 'RELEASED' AND look_at IS NOT NULL)`,
      );
      if (rows[0]?.n === 0 && pass > 1) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('questions stay open');
  }

  it(
    'adds up in every world',
    async () => {
      const world = fc.array(step, { minLength: 20, maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(world, async (steps) => {
          const merchant = till.merchant.publicKey.toBase58();
          const [before, buyers] = [
            await till.solana.usdcBalance(merchant),
            await Promise.all(Array.from({ length: 4 }, () => fundedBuyer(till))),
          ];
          await till.payments.health();
          await untilSampled(till);
          const last = new Map<string, Record<string, string>>();
          const outcomes: Outcome[] = [];
          // Four at a time: races between copies, keys and processes.
          for (let index = 0; index < steps.length; index += 4) {
            outcomes.push(...(await Promise.all(steps.slice(index, index + 4).map((each) => perform(each, buyers, last)))));
          }
          await settleAll();
          const payers = buyers.map((buyer) => buyer.publicKey.toBase58());
          const { rows } = await till.database.pool.query<{ state: string; transaction: string; owed: boolean }>(
            'SELECT state, transaction, owed FROM payment WHERE payer = ANY ($1)',
            [payers],
          );
          const paid = rows.filter(({ state }) => ['CONFIRMED', 'DELIVERED', 'OWED'].includes(state));
          const received = (await till.solana.usdcBalance(merchant)) - before;
          const spent =
            20_000_000n - (await Promise.all(payers.map((payer) => till.solana.usdcBalance(payer)))).reduce((sum, each) => sum + each, 0n);
          expect(spent).toBe(received);
          expect(new Set(paid.map(({ transaction }) => transaction)).size).toBe(paid.length);
          expect(received).toBe(BigInt(paid.length) * PRICE);
          // Every answer was paid for: first deliveries are not more than payments.
          const served = outcomes.filter((outcome) => outcome.kind === 'paid' && !outcome.replayed).length;
          expect(served).toBeLessThanOrEqual(paid.length);
          // Nothing broke but what was meant to.
          expect(till.logged.filter((line) => line.includes('"level":"error"') && !line.includes('"error":"broken"'))).toEqual([]);
        }),
        { numRuns: RUNS, endOnFailure: true, ...(process.env.MONEY_SEED === undefined ? {} : { seed: Number(process.env.MONEY_SEED) }) },
      );
    },
    300_000 + RUNS * 30_000,
  );
});
