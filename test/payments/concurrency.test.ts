import { createPayments } from '../../src/payments/charge';
import type { Payments } from '../../src/payments/protocol';
import {
  challengeOf,
  chargedAtOnce,
  fundedBuyer,
  openTill,
  proofFor,
  requirementOf,
  saleOf,
  signedHeaders,
  type Till,
  told,
  workOf,
} from './till';

describe('many requests at once, two processes’ worth of corridors on one database', () => {
  let till: Till;
  let other: Payments;
  beforeAll(async () => {
    // Patient: how fast the machine is just now is no part of what is tested.
    till = await openTill({ settings: { rpc_ms: 15_000, admission_ms: 30_000 } });
    other = await createPayments(till.settings, { pool: till.database.pool, logger: till.logger });
    await other.start();
  });
  afterAll(async () => {
    await other.stop();
    await till.stop();
  });
  beforeEach(() => till.solana.faults.forgetCalls());

  const tally = (list: string[]): Record<string, number> =>
    list.reduce<Record<string, number>>((sums, key) => ({ ...sums, [key]: (sums[key] ?? 0) + 1 }), {});

  it('200 copies of one proof: one execution, one broadcast, one sale', async () => {
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    const { outcomes, runs } = await chargedAtOnce(200, 199, 'once', (work, index) =>
      (index % 2 === 0 ? till.payments : other).charge(saleOf({ headers }), work),
    );
    expect(tally(outcomes.map(told))).toEqual({ '200': 1, '409 payment_in_progress': 199 });
    expect(runs).toBe(1);
    expect(till.solana.faults.calls('sendTransaction')).toBe(1);
    // Each process asks the chain once, about the first copy it sees; the others are turned away by the claim alone.
    expect(till.solana.faults.calls('simulateTransaction')).toBeLessThanOrEqual(2);
    expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_980_000n);
    const { rows } = await till.database.pool.query('SELECT count(*)::int AS n FROM payment WHERE payer = $1', [
      buyer.publicKey.toBase58(),
    ]);
    expect(rows[0]).toEqual({ n: 1 });
  });

  it('50 different proofs of one buyer, who can pay for 20: 20 are served, the rest refused before they cost a query', async () => {
    const buyer = await fundedBuyer(till, 400_000n);
    const proofs = await Promise.all(Array.from({ length: 50 }, () => signedHeaders(till, buyer)));
    const { outcomes, runs } = await chargedAtOnce(50, 30, 'served', (work, index) =>
      (index % 2 === 0 ? till.payments : other).charge(saleOf({ headers: proofs[index] }), work),
    );
    expect(tally(outcomes.map(told))).toEqual({ '200': 20, '402 verification_failed insufficient_funds': 30 });
    expect(runs).toBe(20);
    expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(0n);
  });

  it('one transaction presented under two offers’ dress is one payment', async () => {
    const buyer = await fundedBuyer(till);
    const requirement = requirementOf(await challengeOf(till));
    // With and without the echoed quote: other secrets, same bytes on chain.
    const [whole, bare] = [
      proofFor(buyer, requirement),
      proofFor(buyer, { ...requirement, extra: { ...requirement.extra, quote: undefined as never } }),
    ];
    const { outcomes, runs } = await chargedAtOnce(2, 1, 'once', (work, index) =>
      till.payments.charge(saleOf({ headers: { 'X-PAYMENT': [whole, bare][index] as string } }), work),
    );
    expect(outcomes.map(told).sort()).toEqual(['200', '409 payment_in_progress']);
    expect(runs).toBe(1);
  });

  it('runs nothing for a payer of whose payments too many wait for the chain’s word, until it has spoken, or for ten minutes', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const { pool } = till.database;
    await pool.query(
      `INSERT INTO payment (protocol, payer, amount, request_id, path, request_hash, state, instance, proof_key, details, transaction, answer)
       SELECT 'x402', $1, 1, '', '', 'another', 'UNKNOWN', '', $1 || n, '{}', $1 || n, '{}' FROM generate_series(1, 10) n`,
      [payer],
    );
    const [headers, work] = [await signedHeaders(till, buyer), workOf()];
    const outcome = await till.payments.charge(saleOf({ headers }), work);
    expect([told(outcome), work.runs()]).toEqual(['429 rate_limited payments_undecided', 0]);
    expect(outcome).toMatchObject({ error: { context: { retry_after_s: 5 } } });
    await pool.query("UPDATE payment SET state = 'CONFIRMED' WHERE payer = $1 AND proof_key = $1 || 1", [payer]);
    expect(told(await till.payments.charge(saleOf({ headers }), work))).toBe('200');
    await pool.query("UPDATE payment SET state = 'UNKNOWN', created_at = now() - interval '11 minutes' WHERE payer = $1 AND amount = 1", [
      payer,
    ]);
    expect(told(await till.payments.charge(saleOf({ headers: await signedHeaders(till, buyer) }), work))).toBe('200');
  });

  it('caps what one payer may have under way', async () => {
    const capped = await createPayments(
      { ...till.settings, payer_reserved_cap: 50_000n },
      { pool: till.database.pool, logger: till.logger },
    );
    const buyer = await fundedBuyer(till);
    const proofs = await Promise.all(Array.from({ length: 4 }, () => signedHeaders(till, buyer)));
    const { outcomes } = await chargedAtOnce(4, 2, 'served', (work, index) => capped.charge(saleOf({ headers: proofs[index] }), work));
    expect(tally(outcomes.map(told))).toEqual({ '200': 2, '429 rate_limited payer_reserved_cap': 2 });
    await capped.stop();
  });
});
