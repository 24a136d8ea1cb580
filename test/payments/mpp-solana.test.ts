import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { Challenge } from 'mppx';
import type { Outcome } from '../../src/payments/protocol';
import { buy } from '../../src/sandbox/buyer';
import { MEMO_PROGRAM, signTransfer, type TransferWish } from './solana-signing';
import { challengeOf, fundedBuyer, openTill, proofFor, requirementOf, saleOf, serveTill, type Till, told, walletsOf, workOf } from './till';

interface Request {
  amount: string;
  currency: string;
  recipient: string;
  externalId: string;
  methodDetails: { network: string; decimals: number; tokenProgram: string; recentBlockhash: string };
}

describe('MPP solana', () => {
  let till: Till;
  let buyer: Keypair;
  beforeAll(async () => {
    till = await openTill();
    buyer = await fundedBuyer(till, 100_000_000n);
  });
  afterAll(() => till.stop());

  const charge = (headers: Record<string, string>): Promise<Outcome> => till.payments.charge(saleOf({ headers }), workOf());
  const challenge = async (): Promise<ReturnType<typeof Challenge.deserialize>> => {
    const header = (await challengeOf(till)).headers['WWW-Authenticate'] as string[];
    expect(header).toHaveLength(1);
    return Challenge.deserialize(header[0] as string);
  };
  const requestOf = (of: { request: unknown }): Request => of.request as Request;

  /** Signs like @solana/mpp: price before limit, memo = externalId. */
  function sign(of: { request: unknown }, change: Partial<TransferWish> = {}): string {
    const { amount, currency, recipient, externalId, methodDetails } = requestOf(of);
    return signTransfer({
      buyer,
      mint: currency,
      pay_to: recipient,
      amount: BigInt(amount),
      blockhash: methodDetails.recentBlockhash,
      memo: externalId,
      ...change,
    });
  }

  /** The Authorization value, with the challenge's text parameters as they came. */
  async function authorise(payload: object): Promise<Record<string, string>> {
    return credential(await rawChallenge(), payload);
  }
  async function rawChallenge(sale = saleOf()): Promise<Record<string, string>> {
    const [header] = (await challengeOf(till, sale)).headers['WWW-Authenticate'] as string[];
    return Object.fromEntries(
      [...(header as string).matchAll(/(\w+)="([^"]*)"/g)].map((match) => [match[1] as string, match[2] as string]),
    );
  }
  function credential(raw: Record<string, string>, payload: object, source?: string): Record<string, string> {
    const text = JSON.stringify({ challenge: raw, payload, ...(source === undefined ? {} : { source }) });
    return { Authorization: `Payment ${Buffer.from(text).toString('base64url')}` };
  }
  const decoded = (raw: Record<string, string>): { request: Request } => ({
    request: JSON.parse(Buffer.from(raw.request as string, 'base64url').toString()) as Request,
  });
  const transactionFor = (raw: Record<string, string>, change: Partial<TransferWish> = {}): object => ({
    type: 'transaction',
    transaction: sign(decoded(raw), change),
  });

  it('offers what the stock reader understands: unique externalId, blockhash, pull terms', async () => {
    const [one, two] = [await challenge(), await challenge()];
    expect(one).toMatchObject({ method: 'solana', intent: 'charge', realm: 'api.example.com' });
    expect(requestOf(one)).toEqual({
      amount: '20000',
      currency: till.solana.mint,
      recipient: till.merchant.publicKey.toBase58(),
      externalId: expect.stringMatching(/^q1\./),
      methodDetails: {
        network: 'mainnet',
        decimals: 6,
        tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
        recentBlockhash: expect.any(String),
      },
    });
    expect(requestOf(two).externalId).not.toBe(requestOf(one).externalId);
    expect(two.id).not.toBe(one.id);
    // The id is the secret that collects the answer: nothing of it may go on chain.
    expect(requestOf(one).externalId).not.toContain(one.id.slice(0, 8));
  });

  it('sells to the stock client, to the micro-dollar, with a receipt; the same credential collects again', async () => {
    const client = await fundedBuyer(till);
    const seen: Record<string, string>[] = [];
    const work = workOf();
    const front = await serveTill(till.payments, () => work);
    const real = globalThis.fetch;
    globalThis.fetch = (async (url: string, init: RequestInit) => {
      seen.push(Object.fromEntries(new Headers(init?.headers)));
      return real(url, init);
    }) as typeof fetch;
    const bought = await buy({ method: 'GET', url: `${front.url}/api/v1/x`, protocol: 'solana' }, walletsOf(till, client)).finally(
      () => (globalThis.fetch = real),
    );
    await front.close();
    expect(bought.status).toBe(200);
    expect(bought.receipt).toMatchObject({ method: 'solana', status: 'success', reference: expect.any(String) });
    expect(await till.solana.usdcBalance(client.publicKey.toBase58())).toBe(4_980_000n);
    const { authorization } = seen.find((headers) => headers.authorization?.startsWith('Payment')) as { authorization: string };
    const sale = saleOf({ path: '/api/v1/x', headers: { Authorization: authorization } });
    const again = await till.payments.charge(sale, work);
    expect(told(again)).toBe('200 replayed');
    expect(again.headers['Payment-Receipt']).toBe(bought.headers['payment-receipt']);
    expect(work.runs()).toBe(1);
  });

  it('takes a transaction without the memo (the client only SHOULD add it), once', async () => {
    const raw = await rawChallenge();
    const headers = credential(raw, transactionFor(raw, { memo: undefined, price: 9 }));
    expect(told(await charge(headers))).toBe('200');
    const other = await rawChallenge();
    const { transaction } = transactionFor(raw, { memo: undefined, price: 9 }) as { transaction: string };
    expect(told(await charge(credential(other, { type: 'transaction', transaction })))).toBe('402 payment_replayed invalid_challenge');
  });

  it.each([
    ['signature', { type: 'signature', signature: '5'.repeat(88) }],
    ['hash', { type: 'hash', hash: 'x' }],
    ['bundle', { type: 'bundle', transactions: [] }],
  ])('refuses the mode %s without running', async (_, payload) => {
    const work = workOf();
    const outcome = await till.payments.charge(saleOf({ headers: await authorise(payload) }), work);
    expect(told(outcome)).toBe('400 method_unsupported mode_unsupported');
    expect(work.runs()).toBe(0);
  });

  it('refuses payloads that are none, with a fresh challenge', async () => {
    expect(told(await charge(await authorise({ type: 'transaction' })))).toBe('402 malformed_credential payload');
    expect(told(await charge({ Authorization: 'Payment !!' }))).toContain('402 malformed_credential');
  });

  it('refuses a foreign memo and two memos', async () => {
    const raw = await rawChallenge();
    expect(told(await charge(credential(raw, transactionFor(raw, { memo: 'q1.other' }))))).toBe(
      '402 verification_failed invalid_exact_svm_payload_memo_mismatch',
    );
    const second = new TransactionInstruction({ programId: new PublicKey(MEMO_PROGRAM), keys: [], data: Buffer.from('more') });
    expect(told(await charge(credential(raw, transactionFor(raw, { extra: [second] }))))).toBe(
      '402 verification_failed invalid_exact_svm_payload_memo_count',
    );
  });

  it('binds the challenge to the request, the terms and its own id', async () => {
    const cheap = saleOf({ path: '/api/v1/cheap', amount: 10_000n });
    const raw = await rawChallenge(cheap);
    expect(told(await charge(credential(raw, transactionFor(raw))))).toBe('402 payment_insufficient other_request');
    const equal = await rawChallenge(saleOf({ path: '/api/v1/equal' }));
    expect(told(await charge(credential(equal, transactionFor(equal))))).toBe('402 verification_failed invalid_challenge');
    const mine = await rawChallenge();
    for (const change of <Record<string, string>[]>[
      { id: `A${(mine.id as string).slice(1)}` },
      { expires: '2099-01-01T00:00:00.000Z' },
      { realm: 'evil.example.com' },
    ]) {
      if (change.id === mine.id) continue;
      expect(told(await charge(credential({ ...mine, ...change }, transactionFor(mine))))).toBe(
        '402 verification_failed invalid_challenge',
      );
    }
  });

  it('one transaction as x402 and as MPP is one payment', async () => {
    const raw = await rawChallenge();
    const requirement = requirementOf(await challengeOf(till));
    // The buyer signs x402’s memo and presents the same bytes under an MPP challenge: refused for the memo.
    const x402 = proofFor(buyer, requirement, { version: 1, wish: { memo: undefined, price: 11 } });
    const { payload } = JSON.parse(Buffer.from(x402, 'base64').toString()) as { payload: { transaction: string } };
    expect(told(await charge({ 'X-PAYMENT': x402 }))).toBe('200');
    expect(told(await charge(credential(raw, { type: 'transaction', transaction: payload.transaction })))).toBe(
      '402 payment_replayed invalid_challenge',
    );
  });

  it('refuses a source that names somebody else, and ignores one it cannot read', async () => {
    const raw = await rawChallenge();
    const stranger = Keypair.generate().publicKey.toBase58();
    expect(told(await charge(credential(raw, transactionFor(raw), `did:pkh:solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:${stranger}`)))).toBe(
      '402 verification_failed source_mismatch',
    );
    expect(told(await charge(credential(raw, transactionFor(raw), 'did:pkh:eip155:undefined:0x')))).toBe('200');
  });

  it('is not sponsored, even where x402 is', async () => {
    const sponsored = await openTill({ sponsored: true });
    const [header] = (await challengeOf(sponsored)).headers['WWW-Authenticate'] as string[];
    const raw = Object.fromEntries(
      [...(header as string).matchAll(/(\w+)="([^"]*)"/g)].map((match) => [match[1] as string, match[2] as string]),
    );
    const { amount, currency, recipient, externalId, methodDetails } = decoded(raw).request;
    const payer = await fundedBuyer(sponsored);
    const transaction = signTransfer({
      buyer: payer,
      mint: currency,
      pay_to: recipient,
      amount: BigInt(amount),
      blockhash: methodDetails.recentBlockhash,
      memo: externalId,
      fee_payer: sponsored.sponsor.publicKey.toBase58(),
    });
    expect(
      told(await sponsored.payments.charge(saleOf({ headers: credential(raw, { type: 'transaction', transaction }) }), workOf())),
    ).toContain('402 verification_failed invalid_exact_svm_payload_transaction_excessive_signers');
    await sponsored.stop();
  });
});
