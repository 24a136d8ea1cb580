import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { createPayments } from '../../src/payments/charge';
import type { PaymentsSettings, SolanaPaymentConfig } from '../../src/payments/config';
import { makeMetrics } from '../../src/observability/metrics';
import type { Payments } from '../../src/payments/protocol';
import { startLocalSolana } from '../../src/sandbox/chains/solana';
import { challengeOf, fundedBuyer, openTill, proofFor, requirementOf, saleOf, signedHeaders, type Till, told, workOf } from './till';

describe('setting Solana up', () => {
  let till: Till;
  beforeAll(async () => {
    till = await openTill();
  });
  afterAll(() => till.stop());

  const metrics = makeMetrics();
  const make = (change: Partial<SolanaPaymentConfig>, rest: Partial<PaymentsSettings> = {}): Promise<Payments> =>
    createPayments(
      { ...till.settings, solana: { ...(till.settings.solana as SolanaPaymentConfig), ...change }, ...rest },
      { pool: till.database.pool, logger: till.logger, figures: metrics },
    );

  it.each<[string, Partial<SolanaPaymentConfig>, Partial<PaymentsSettings>, RegExp]>([
    ['a short secret', {}, { secrets: ['short'] }, /at least 32 bytes/],
    ['no secret', {}, { secrets: [] }, /at least 32 bytes/],
    ['a second secret that is short', {}, { secrets: ['x'.repeat(32), 'short'] }, /at least 32 bytes/],
    ['a wallet that is none', { pay_to: '0xabc' }, {}, /PAY_TO_SOLANA must be a Solana address, not 0xabc/],
    ['a mint that is none', { mint: 'USDC' }, {}, /USDC is not a Solana address/],
    ['a sponsor key that is none', { sponsor_key: 'nonsense' }, {}, /SPONSOR_KEY must be/],
    ['a realm that cannot be quoted', {}, { realm: 'a"b' }, /realm/],
  ])('is refused with a sentence: %s', async (_, change, rest, sentence) => {
    await expect(make(change, rest)).rejects.toThrow(sentence);
  });

  it('takes secrets of 32 bytes, whatever their letters', async () =>
    (await make({}, { secrets: ['ü'.repeat(16), 'x'.repeat(32)] })).stop());

  it('refuses the treasury as the sponsor', async () => {
    const key = bs58.encode(till.merchant.secretKey);
    await expect(make({ sponsor_key: key })).rejects.toThrow('must not be the wallet that is paid');
  });

  it('refuses to start on the wrong chain, and without an account that can receive', async () => {
    const wrong = await make({ genesis_hash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' });
    await expect(wrong.start()).rejects.toThrow(
      /serves the chain .*, not 5eykt4.*: SOLANA_RPC_URL, or SOLANA_NETWORK with SOLANA_GENESIS_HASH, must be another/,
    );
    await wrong.stop();
    const other = await startLocalSolana();
    const mixed = await make({ rpc_urls: [till.solana.url, other.url] });
    await expect(mixed.start()).rejects.toThrow(
      `A Solana RPC serves the chain ${other.genesis_hash}, not ${till.solana.genesis_hash}: SOLANA_RPC_URL`,
    );
    await Promise.all([mixed.stop(), other.stop()]);
    const homeless = await make({ pay_to: Keypair.generate().publicKey.toBase58() });
    await expect(homeless.start()).rejects.toThrow(/does not exist; create it/);
    await homeless.stop();
    await till.solana.setUsdc(till.merchant.publicKey.toBase58(), { frozen: true });
    const frozen = await make({});
    await expect(frozen.start()).rejects.toThrow(/cannot receive/);
    expect((await frozen.health()).x402).toMatchObject({ status: 'down', latency_ms: null });
    await frozen.stop();
    await till.solana.setUsdc(till.merchant.publicKey.toBase58(), { frozen: false });
  });

  it('starts while the chain is out of reach, offers without a blockhash, refuses proofs, and sells once it is back', async () => {
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    await till.solana.faults.down();
    const payments = await make({});
    await payments.start();
    const outcome = await payments.charge(saleOf(), workOf());
    expect(told(outcome)).toBe('402 payment_required');
    if (outcome.kind === 'challenge') expect(requirementOf(outcome.challenge).extra.recentBlockhash).toBeUndefined();
    expect(told(await payments.charge(saleOf({ headers }), workOf()))).toBe('503 payments_unavailable');
    expect((await payments.health()).x402.status).toBe('down');
    await till.solana.faults.up();
    expect(told(await payments.charge(saleOf({ headers }), workOf()))).toBe('200');
    await payments.stop();
  });

  it.each([
    [99_999n, false, 'the fee sponsor is empty; buyers pay their own fee'],
    [100_000n, true, 'the fee sponsor is running low'],
    [9_999_999n, true, 'the fee sponsor is running low'],
    [10_000_000n, true, undefined],
  ])('a sponsor with %d lamports is offered while it can pay for ten; that it has few is said once', async (lamports, offered, said) => {
    const poor = Keypair.generate();
    await till.solana.fund(poor.publicKey.toBase58(), { lamports });
    const before = till.logged.length;
    const payments = await make({ sponsor_key: bs58.encode(poor.secretKey) });
    await payments.start();
    await payments.health();
    const outcome = await payments.charge(saleOf(), workOf());
    if (outcome.kind !== 'challenge') throw new Error(told(outcome));
    expect(requirementOf(outcome.challenge).extra.feePayer).toBe(offered ? poor.publicKey.toBase58() : undefined);
    const lines = till.logged.slice(before).map((line) => (JSON.parse(line) as { message: string }).message);
    expect(lines.filter((line) => line.includes('the fee sponsor'))).toEqual(said === undefined ? [] : [said]);
    expect(await metrics.registry.metrics()).toContain(`payments_sponsor_lamports{chain="solana"} ${lamports}`);
    await payments.stop();
  });

  it('knows blockhashes it did not hand out only by asking: sold while they are valid, 402 once they are not', async () => {
    const elsewhere = await make({});
    const buyer = await fundedBuyer(till);
    const requirement = requirementOf(await challengeOf(till));
    const headers = { 'PAYMENT-SIGNATURE': proofFor(buyer, requirement) };
    // Not started: no samples at all.
    expect(told(await elsewhere.charge(saleOf({ headers }), workOf()))).toBe('200');
    const late = { 'PAYMENT-SIGNATURE': proofFor(buyer, requirementOf(await challengeOf(till))) };
    till.solana.advanceSlots(160);
    expect(told(await elsewhere.charge(saleOf({ headers: late }), workOf()))).toBe('402 payment_expired blockhash_expired');
    await elsewhere.stop();
  });
});
