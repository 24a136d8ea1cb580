import crypto from 'node:crypto';
import { Credential as MppxCredential, Receipt } from 'mppx';
import { Mppx, tempo as stockTempo } from 'mppx/client';
import { TxEnvelopeTempo } from 'ox/tempo';
import { getAddress } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { Account, Actions } from 'viem/tempo';
import { AppError } from '../../src/errors';
import { freePort } from '../../src/lib/net';
import type { TempoPaymentConfig } from '../../src/payments/config';
import {
  type Credential,
  type JsonObject,
  type PaymentLog,
  type PaymentRecord,
  type Sale,
  type Settlement,
  TRANSACTION_EXPIRED,
  type ValidProof,
} from '../../src/payments/protocol';
import { encodeJson } from '../../src/payments/protocols/canonical-json';
import type { MppSettings } from '../../src/payments/protocols/mpp';
import { type TempoAccessKey, TempoChain } from '../../src/chains/tempo';
import { MppTempo, TempoMisconfigured } from '../../src/payments/protocols/mpp-tempo';
import { maxFee } from '../../src/payments/protocols/tempo-transfer';
import { type LocalTempo, startLocalTempo } from '../../src/sandbox/chains/tempo';
import {
  type TempoSigner,
  MERCHANT,
  TOKEN,
  attributionMemo,
  clientOn,
  fundedPayer,
  signed,
  signedEip1559,
  transferData,
  transferWithMemoData,
} from '../support/tempo-transactions';

type HexText = `0x${string}`;
type Envelope = Partial<TxEnvelopeTempo.TxEnvelopeTempo>;

const settings: MppSettings = { realm: 'api.example.com', secrets: ['0123456789abcdef0123456789abcdef'], offer_ms: 300_000 };
const PRICE = 10_000n;
const soon = (ms = 30_000): AbortSignal => AbortSignal.timeout(ms);
const unix = (): number => Math.floor(Date.now() / 1000);

let local: LocalTempo;
let config: TempoPaymentConfig;
let protocol: MppTempo;
const logged: string[] = [];
const log: PaymentLog = {
  info: (fields, message) => void logged.push(JSON.stringify({ message, ...fields })),
  warn: (fields, message) => void logged.push(JSON.stringify({ message, ...fields })),
  error: (fields, message) => void logged.push(JSON.stringify({ message, ...fields })),
};

beforeAll(async () => {
  local = await startLocalTempo();
  config = { rpc_urls: [local.url], pay_to: MERCHANT, chain_id: local.chain_id, usdc: local.usdc };
  // Patient: how fast the machine is just now is no part of what is tested.
  protocol = new MppTempo(settings, config, log, new TempoChain({ ...config, try_ms: 20_000 }));
  await protocol.start();
});
afterAll(async () => {
  await protocol.stop();
  await local.stop();
});
afterEach(() => local.faults.clear());

function saleOf(over: Partial<Sale> = {}): Sale {
  const path = '/api/v1/markets/trending';
  return {
    request_id: `req_${crypto.randomBytes(6).toString('hex')}`,
    method: 'GET',
    path,
    url: `https://api.example.com${path}`,
    description: 'Markets with highest recent volume',
    media_type: 'application/json',
    amount: PRICE,
    request_hash: 'a'.repeat(64),
    sent_hash: 'c'.repeat(64),
    raw_headers: [],
    ...over,
  };
}

const payer = (usdc?: bigint) => fundedPayer(local, usdc);
const clientOf = (account: { address: HexText }) => clientOn(local, account);

async function challengeOf(sale: Sale): Promise<string> {
  return (await protocol.offer(sale)).www_authenticate as string;
}

/** The request with a payment made by hand. */
async function paidWith(raw: string, sale = saleOf(), source?: string): Promise<Sale> {
  const params = Object.fromEntries(
    [...(await challengeOf(sale)).matchAll(/([a-z]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  ) as JsonObject;
  const token = encodeJson({
    challenge: params,
    payload: { type: 'transaction', signature: raw },
    ...(source === undefined ? {} : { source }),
  });
  return { ...sale, raw_headers: ['Authorization', `Payment ${token}`] };
}

const transaction = (by: TempoSigner, over: Envelope = {}): Promise<HexText> =>
  signed({ chainId: local.chain_id, gas: 2_000_000n, ...over }, by);

async function proofOf(sale: Sale): Promise<ValidProof> {
  return protocol.validate(protocol.read(sale) as Credential, sale);
}

async function recordOf(proof: ValidProof, over: Partial<PaymentRecord> = {}): Promise<PaymentRecord> {
  const { transaction: id, raw, details, settle_by } = await protocol.settlement.prepare(proof, new Date(), soon());
  return {
    id: crypto.randomUUID(),
    protocol: 'mpp_tempo',
    payer: proof.payer,
    amount: proof.amount,
    transaction: id,
    raw,
    details,
    settle_by,
    created_at: new Date(),
    ...over,
  };
}

async function failureOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
    return 'nothing';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return `${error.code} ${error.context.reason}`;
  }
}

/** What the network took for a transaction, in micro-dollars. */
async function feeOf(hash: string): Promise<bigint> {
  const response = await fetch(local.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getTransactionReceipt', params: [hash] }),
  });
  const { result } = (await response.json()) as { result: { gasUsed: string; effectiveGasPrice: string } };
  return (BigInt(result.gasUsed) * BigInt(result.effectiveGasPrice) + 10n ** 12n - 1n) / 10n ** 12n;
}

/** Lets the stock client answer the 402 of `sale`. */
async function stockCredential(account: Account.RootAccount, sale: Sale): Promise<Sale> {
  const client = Mppx.create({ methods: [stockTempo.charge({ account, getClient: () => clientOf(account) })], polyfill: false });
  const challenge = new Response('{}', { status: 402, headers: { 'WWW-Authenticate': await challengeOf(sale) } });
  return { ...sale, raw_headers: ['Authorization', await client.createCredential(challenge)] };
}

describe('offer', () => {
  it('is pull only, exact, and never the same', async () => {
    const sale = saleOf();
    const [one, two] = [await protocol.offer(sale), await protocol.offer(sale)];
    expect(one.www_authenticate).not.toBe(two.www_authenticate);
    expect(one.x402).toBeNull();
    const { Challenge } = await import('mppx');
    const read = Challenge.deserialize(one.www_authenticate as string);
    expect(read.request).toEqual({
      amount: '10000',
      currency: local.usdc,
      recipient: getAddress(MERCHANT),
      externalId: sale.request_id,
      methodDetails: { chainId: local.chain_id, supportedModes: ['pull'] },
    });
    expect(new Date(read.expires as string)).toEqual(one.expires_at);
    expect(Math.abs(one.expires_at.getTime() - Date.now() - 300_000)).toBeLessThan(5_000);
    expect(protocol.method()).toEqual({
      protocol: 'mpp',
      method: 'tempo',
      network: `eip155:${local.chain_id}`,
      asset: local.usdc,
      decimals: 6,
      recipient: getAddress(MERCHANT),
      fees_paid_by: 'client',
    });
  });
});

describe('the stock client', () => {
  it('pays exactly the price, and the network its fee', async () => {
    const account = await payer();
    const before = await local.usdcBalance(MERCHANT);
    const sale = await stockCredential(account, saleOf());
    const proof = await proofOf(sale);
    expect(proof).toMatchObject({ protocol: 'mpp_tempo', payer: account.address, amount: PRICE, buyer_keys: [] });
    expect(proof.proof_key).toMatch(new RegExp(`^tempo:${account.address}:0x[0-9a-f]{64}$`));
    const sent = MppxCredential.deserialize(sale.raw_headers[1] as string);
    expect(proof.secrets).toEqual([`ch:${sent.challenge.id}`]);
    expect(proof.claim_keys).toEqual([`ch:${sent.challenge.id}`, `tempo:${proof.transaction}`]);
    expect(proof.details.memo).toBe(attributionMemo('api.example.com', sent.challenge.id));

    const admission = await protocol.settlement.admit(proof, soon());
    expect(admission).toMatchObject({ balance: 5_000_000n, landed: false });
    const left = (admission.settle_by as Date).getTime() - Date.now();
    expect(left).toBeGreaterThan(17_000);
    expect(left).toBeLessThanOrEqual(21_000);
    expect(await local.usdcBalance(MERCHANT)).toBe(before);

    const record = await recordOf(proof);
    expect(await protocol.settlement.settle(record, soon())).toEqual({ status: 'confirmed', transaction: proof.transaction });
    expect((await local.usdcBalance(MERCHANT)) - before).toBe(PRICE);
    expect(await local.usdcBalance(account.address)).toBe(5_000_000n - PRICE - (await feeOf(record.transaction)));

    expect(await protocol.settlement.lookup(record, soon())).toEqual({ status: 'confirmed', transaction: proof.transaction });
    expect(await protocol.settlement.finality(record, soon())).toBe('final');
    const at = new Date('2030-01-01T00:00:01Z');
    expect(Receipt.deserialize(protocol.receipt(record, at)['Payment-Receipt'] as string)).toEqual({
      method: 'tempo',
      reference: record.transaction,
      status: 'success',
      timestamp: at.toISOString(),
      externalId: sale.request_id,
    });
    expect(protocol.failureReceipt()).toEqual({});
  });

  it('pays 20 times at once with one wallet', async () => {
    const account = await payer();
    const before = await local.usdcBalance(MERCHANT);
    const settlements = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const proof = await proofOf(await stockCredential(account, saleOf()));
        await protocol.settlement.admit(proof, soon());
        return protocol.settlement.settle(await recordOf(proof), soon());
      }),
    );
    expect(settlements.map(({ status }) => status)).toEqual(Array(20).fill('confirmed'));
    expect((await local.usdcBalance(MERCHANT)) - before).toBe(20n * PRICE);
  });

  it('is refused when the same bytes come for another request, or a dearer one', async () => {
    const sale = await stockCredential(await payer(), saleOf());
    const moved = { ...sale, request_hash: 'b'.repeat(64) };
    expect(await failureOf(proofOf(moved))).toBe('verification_failed invalid_challenge');
    expect(await failureOf(proofOf({ ...moved, amount: 20_000n }))).toBe('payment_insufficient other_request');
    // The payment itself moved to a fresh challenge: its memo names the old one.
    const { payload } = MppxCredential.deserialize<{ signature: string }>(sale.raw_headers[1] as string);
    expect(await failureOf(proofOf(await paidWith(payload.signature)))).toBe('verification_failed memo_mismatch');
  });
});

describe('other buyers', () => {
  it('a hand-made EIP-1559 transfer settles to the micro-dollar, and has no end', async () => {
    const account = await payer();
    const before = await local.usdcBalance(MERCHANT);
    const raw = signedEip1559({ chainId: local.chain_id, nonce: 0n, gas: 2_000_000n }, account.privateKey);
    const proof = await proofOf(await paidWith(raw, saleOf(), `did:pkh:eip155:undefined:${account.address}`));
    expect(await protocol.settlement.admit(proof, soon())).toEqual({
      balance: 5_000_000n,
      settle_by: null,
      landed: false,
      details: { block: expect.any(String) },
    });
    expect((await protocol.settlement.settle(await recordOf(proof), soon())).status).toBe('confirmed');
    expect((await local.usdcBalance(MERCHANT)) - before).toBe(PRICE);
    expect(await local.usdcBalance(account.address)).toBe(5_000_000n - PRICE - (await feeOf(proof.transaction as string)));
  });

  it.each([8_640_000_000_000, Number.MAX_SAFE_INTEGER])(
    'a life to second %d, the last of all dates or beyond, is taken as it is',
    async (last) => {
      const proof = await proofOf(await paidWith(await transaction(await payer(), { nonceKey: 4n, nonce: 0n, validBefore: last })));
      const { settle_by } = await protocol.settlement.admit(proof, soon());
      expect(settle_by?.getTime() ?? Infinity).toBeGreaterThan(8_639_999_999_990_000);
      const record = await recordOf(proof);
      expect(record.settle_by).toEqual(settle_by);
      expect((await protocol.settlement.settle(record, soon())).status).toBe('confirmed');
    },
  );

  it('P256 and passkey accounts', async () => {
    for (const account of [
      Account.fromP256(generatePrivateKey()),
      Account.fromHeadlessWebAuthn(generatePrivateKey(), { rpId: 'example.com', origin: 'https://example.com' }),
    ]) {
      await local.fund(account.address, 1_000_000n);
      const proof = await proofOf(await paidWith(await transaction(account)));
      expect(proof.payer).toBe(account.address.toLowerCase());
      await protocol.settlement.admit(proof, soon());
      expect((await protocol.settlement.settle(await recordOf(proof), soon())).status).toBe('confirmed');
    }
  });

  it('access keys that the account authorised, within their limits and scopes', async () => {
    const account = await payer();
    const client = clientOf(account);
    const gas = 5_000_000n;
    const stranger = Account.fromSecp256k1(generatePrivateKey(), { access: account });
    expect(await failureOf(proofOf(await paidWith(await transaction(stranger))))).toBe('verification_failed access_key');

    const key = Account.fromSecp256k1(generatePrivateKey(), { access: account });
    const scope = { address: TOKEN, selector: 'transfer(address,uint256)', recipients: [MERCHANT] } as const;
    await Actions.accessKey.authorizeSync(client, {
      accessKey: key,
      expiry: unix() + 3_600,
      limits: [{ token: TOKEN, limit: 100_000n }],
      scopes: [scope],
      gas,
    });
    const paid = await paidWith(await transaction(key));
    const proof = await proofOf(paid);
    expect(proof).toMatchObject({ payer: account.address, details: { access_key: key.accessKeyAddress.toLowerCase() } });
    const calls = local.faults.calls();
    await proofOf(paid);
    // A copy of a proof costs no question to the chain.
    expect(local.faults.calls()).toBe(calls);
    await protocol.settlement.admit(proof, soon());
    expect((await protocol.settlement.settle(await recordOf(proof), soon())).status).toBe('confirmed');

    const memo = await proofOf(
      await paidWith(await transaction(key, { calls: [{ to: TOKEN, data: transferWithMemoData(`0x${'ab'.repeat(32)}`) }] })),
    );
    expect(await failureOf(protocol.settlement.admit(memo, soon()))).toBe('verification_failed access_key');
    const dear = saleOf({ amount: 90_000n });
    const over = await proofOf(await paidWith(await transaction(key, { calls: [{ to: TOKEN, data: transferData(90_000n) }] }), dear));
    expect(await failureOf(protocol.settlement.admit(over, soon()))).toBe('verification_failed access_key');
    await Actions.accessKey.revokeSync(client, { accessKey: key.accessKeyAddress, gas });
    const revoked = await proofOf(await paidWith(await transaction(key, { validAfter: 2 })));
    expect(await failureOf(protocol.settlement.admit(revoked, soon()))).toBe('verification_failed access_key');
  });

  it('of access keys none that is authorised no more, whatever it might spend; others to the last micro-dollar and where they may', async () => {
    const known = jest.spyOn(TempoChain.prototype, 'accessKey');
    const all = { authorized: true, limit: null, scopes: null };
    known.mockResolvedValue(all);
    try {
      const key = Account.fromSecp256k1(generatePrivateKey(), { access: await payer() });
      const proof = await proofOf(await paidWith(await transaction(key)));
      const [gas, max_fee_per_gas] = [proof.details.gas, proof.details.max_fee_per_gas].map((number) => BigInt(number as string));
      const due = PRICE + maxFee({ gas: gas as bigint, max_fee_per_gas: max_fee_per_gas as bigint });
      const judged = async (said: Partial<TempoAccessKey>): Promise<string> => {
        known.mockResolvedValue({ ...all, ...said });
        return failureOf(protocol.settlement.admit(proof, soon()));
      };
      const scoped = (target: string, selector: string, recipients: string[]) =>
        judged({ scopes: [{ target, selectorRules: [{ selector, recipients }] }] });
      const [transfer, approve, refused] = ['0xa9059cbb', '0x095ea7b3', 'verification_failed access_key'];
      expect([await judged({}), await judged({ authorized: false })]).toEqual(['nothing', refused]);
      expect([await judged({ limit: due }), await judged({ limit: due - 1n })]).toEqual(['nothing', refused]);
      expect([await scoped(TOKEN, transfer, []), await scoped(MERCHANT, transfer, [])]).toEqual(['nothing', refused]);
      expect([await scoped(TOKEN, transfer, [MERCHANT]), await scoped(TOKEN, transfer, [TOKEN])]).toEqual(['nothing', refused]);
      expect(await scoped(TOKEN, approve, [])).toBe(refused);
    } finally {
      known.mockRestore();
    }
  });

  it('fees in another token', async () => {
    const account = await payer(PRICE);
    const pathUsd = '0x20c0000000000000000000000000000000000000';
    const proof = await proofOf(await paidWith(await transaction(account, { feeToken: pathUsd })));
    expect((await protocol.settlement.admit(proof, soon())).balance).toBe(PRICE);
    // Of a node that cannot be asked about fees as well: the pool will tell.
    const { simulate } = TempoChain.prototype;
    const unable = jest.spyOn(TempoChain.prototype, 'simulate').mockImplementation(function (this: TempoChain, call, signal) {
      return call.fee === undefined ? simulate.call(this, call, signal) : Promise.reject(new Error('no such question'));
    });
    expect((await protocol.settlement.admit(proof, soon())).balance).toBe(PRICE);
    unable.mockRestore();
    expect((await protocol.settlement.settle(await recordOf(proof), soon())).status).toBe('confirmed');
    expect(await local.usdcBalance(account.address)).toBe(0n);
    const broke = await proofOf(
      await paidWith(
        await transaction(account, {
          feeToken: '0x20c0000000000000000000000000000000000001',
          validAfter: 2,
          calls: [{ to: TOKEN, data: transferData() }],
        }),
      ),
    );
    await local.fund(account.address, PRICE);
    expect(await failureOf(protocol.settlement.admit(broke, soon()))).toBe('verification_failed insufficient_fee_balance');
  });

  // The pool takes such a transaction, and no block ever does: its query would have run for nothing, as often as its buyer likes.
  it.each([
    ['that nobody exchanges', 'USD', 'insufficient liquidity'],
    ['that is no dollar', 'EUR', 'invalid fee token'],
  ])('no fees in a token of the buyer’s own making %s', async (_, currency, why) => {
    const account = await payer();
    const client = clientOf(account);
    const gas = 5_000_000n;
    const { token } = await Actions.token.createSync(client, { name: 'Own', symbol: 'OWN', currency, admin: account.address, gas });
    await Actions.token.grantRolesSync(client, { token, to: account.address, roles: ['issuer'], gas });
    await Actions.token.mintSync(client, { token, to: account.address, amount: 10_000_000_000n, gas });
    const proof = await proofOf(await paidWith(await transaction(account, { feeToken: token })));
    const refused = protocol.settlement.admit(proof, soon());
    expect(await failureOf(refused)).toBe('verification_failed simulation_failed');
    await expect(refused).rejects.toThrow(why);
  });
});

describe('read', () => {
  it('is null without a credential, and for solana', async () => {
    expect(protocol.read(saleOf())).toBeNull();
    const params = { id: 'x', realm: 'api.example.com', method: 'solana', intent: 'charge', request: 'e30' };
    expect(
      protocol.read({ ...saleOf(), raw_headers: ['Authorization', `Payment ${encodeJson({ challenge: params, payload: {} })}`] }),
    ).toBeNull();
  });

  it.each<[string, JsonObject, string]>([
    ['a pushed payment', { type: 'hash', hash: `0x${'ab'.repeat(32)}` }, 'method_unsupported mode_unsupported'],
    ['a proof of nothing', { type: 'proof', signature: '0x00' }, 'method_unsupported mode_unsupported'],
    ['an unknown kind', { type: 'promise', signature: '0x76' }, 'malformed_credential payload'],
    ['a transaction that is no text', { type: 'transaction', signature: 1 }, 'malformed_credential payload'],
  ])('refuses %s', async (_, payload, failure) => {
    const sale = saleOf();
    const params = Object.fromEntries(
      [...(await challengeOf(sale)).matchAll(/([a-z]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    ) as JsonObject;
    const sent = { ...sale, raw_headers: ['Authorization', `Payment ${encodeJson({ challenge: params, payload })}`] };
    expect(await failureOf((async () => protocol.read(sent))())).toBe(failure);
  });
});

describe('admission', () => {
  const UNKNOWN_TOKEN = '0x20c0000000000000000000000000000000009999';
  const FEE_MANAGER = '0xfeec000000000000000000000000000000000000';

  it.each<[string, bigint, Envelope, string]>([
    ['an empty wallet', 0n, {}, 'verification_failed insufficient_funds'],
    ['the price, but no fee', PRICE, {}, 'verification_failed insufficient_funds'],
    ['a fee cap below the base fee', 5_000_000n, { maxFeePerGas: 1n, maxPriorityFeePerGas: 0n }, 'verification_failed fee_cap_too_low'],
    ['fees in a token that is none', 5_000_000n, { feeToken: `0x${'de'.repeat(20)}` }, 'verification_failed insufficient_fee_balance'],
    ['fees in a token nobody made', 5_000_000n, { feeToken: UNKNOWN_TOKEN }, 'verification_failed insufficient_fee_balance'],
    ['fees in another contract', 5_000_000n, { feeToken: FEE_MANAGER }, 'verification_failed insufficient_fee_balance'],
    ['a nonce ahead', 5_000_000n, { nonceKey: 4n, nonce: 1n }, 'verification_failed nonce_mismatch'],
    ['too little gas to run', 5_000_000n, { gas: 21_500n }, 'verification_failed simulation_failed'],
    ['a life over before the answer', 5_000_000n, { validBefore: unix() + 2 }, 'payment_expired valid_before'],
    ['a life longer than the chain gives', 5_000_000n, { validBefore: unix() + 3_600 }, 'verification_failed valid_before_too_far'],
    [
      'a start in the future',
      5_000_000n,
      { nonceKey: 4n, validAfter: unix() + 600, validBefore: unix() + 1_200 },
      'verification_failed not_yet_valid',
    ],
  ])('refuses %s', async (_, usdc, over, failure) => {
    const proof = await proofOf(await paidWith(await transaction(await payer(usdc), over)));
    expect(await failureOf(protocol.settlement.admit(proof, soon()))).toBe(failure);
  });

  it('refuses a payer who does not exist: a changed signature recovers to an address without a balance', async () => {
    const raw = await transaction(await payer());
    const forged = raw.slice(0, -2) + (raw.endsWith('1b') ? '1c' : '1b');
    const proof = await proofOf(await paidWith(forged));
    expect(await failureOf(protocol.settlement.admit(proof, soon()))).toBe('verification_failed insufficient_funds');
  });

  it('uses a sequence in order, once', async () => {
    const account = await payer();
    for (const nonce of [0n, 1n]) {
      const proof = await proofOf(await paidWith(await transaction(account, { nonceKey: 4n, nonce, validBefore: undefined })));
      await protocol.settlement.admit(proof, soon());
      expect((await protocol.settlement.settle(await recordOf(proof), soon())).status).toBe('confirmed');
    }
    const again = await proofOf(
      await paidWith(await transaction(account, { nonceKey: 4n, nonce: 1n, validBefore: undefined, validAfter: 3 })),
    );
    expect(await failureOf(protocol.settlement.admit(again, soon()))).toBe('verification_failed nonce_mismatch');
  });

  it('sees a payment that is on chain already', async () => {
    const sale = await paidWith(await transaction(await payer()));
    const proof = await proofOf(sale);
    await protocol.settlement.settle(await recordOf(proof), soon());
    const replay = await proofOf(sale);
    expect(replay.proof_key).toBe(proof.proof_key);
    // Unverified as well, it is found by the same.
    const { proof_key, secrets } = proof;
    expect(protocol.marksOf(protocol.read(sale) as Credential)).toEqual({ proof_key, secrets, buyer_keys: [] });
    expect(await protocol.settlement.admit(replay, soon())).toEqual({ balance: null, settle_by: null, landed: true, details: {} });
  });

  it('refuses a payment that landed and failed', async () => {
    const account = await payer(5_000_000n);
    const amount = 4_000_000n;
    const make = async (validAfter: number) =>
      proofOf(
        await paidWith(await transaction(account, { validAfter, calls: [{ to: TOKEN, data: transferData(amount) }] }), saleOf({ amount })),
      );
    const [first, second] = [await make(1), await make(2)];
    await protocol.settlement.admit(first, soon());
    await protocol.settlement.admit(second, soon());
    const before = await local.usdcBalance(MERCHANT);
    expect((await protocol.settlement.settle(await recordOf(first), soon())).status).toBe('confirmed');
    const record = await recordOf(second);
    expect(await protocol.settlement.settle(record, soon())).toEqual({ status: 'failed', reason: 'transaction_reverted' });
    expect((await local.usdcBalance(MERCHANT)) - before).toBe(amount);
    expect(await protocol.settlement.finality(record, soon())).toBe('lost');
    expect(await failureOf(protocol.settlement.admit(second, soon()))).toBe('verification_failed transaction_failed');
  });

  it('is payments_unavailable when the RPC is down, slow or silent', async () => {
    const proof = await proofOf(await paidWith(await transaction(await payer())));
    await local.faults.down();
    expect(await failureOf(protocol.settlement.admit(proof, soon()))).toBe('payments_unavailable undefined');
    await expect(protocol.probe(soon())).rejects.toThrow();
    await local.faults.up();
    local.faults.inject('eth_call', { kind: 'delay', ms: 5_000 }, Infinity);
    expect(await failureOf(protocol.settlement.admit(proof, soon(500)))).toBe('payments_unavailable undefined');
    local.faults.clear();
    await protocol.settlement.admit(proof, soon());
  });
});

describe('prepare', () => {
  const long = new Date(Date.now() - 60_000);

  it('asks nothing when admission was a moment ago', async () => {
    const proof = await proofOf(await paidWith(await transaction(await payer())));
    await protocol.settlement.admit(proof, soon());
    local.faults.forgetCalls();
    const prepared = await protocol.settlement.prepare(proof, new Date(), soon());
    expect(local.faults.calls()).toBe(0);
    expect(prepared).toMatchObject({ transaction: proof.transaction, raw: proof.raw });
    expect(prepared.settle_by).toEqual(new Date(((proof.details.valid_before as number) - 4) * 1_000));
  });

  it('finds that the wallet was drained meanwhile', async () => {
    const account = await payer(100_000n);
    const proof = await proofOf(await paidWith(await transaction(account)));
    await protocol.settlement.admit(proof, soon());
    await Actions.token.transferSync(clientOf(account), {
      token: TOKEN,
      to: '0x00000000000000000000000000000000000000aa',
      amount: 60_000n,
      gas: 1_000_000n,
      feeToken: '0x20c0000000000000000000000000000000000000',
    });
    expect(await failureOf(protocol.settlement.prepare(proof, long, soon()))).toBe('settlement_failed insufficient_funds');
  });

  it('finds that the time is over', async () => {
    const proof = await proofOf(await paidWith(await transaction(await payer(), { validBefore: unix() + 8 })));
    await protocol.settlement.admit(proof, soon());
    await new Promise((resolve) => setTimeout(resolve, 4_200));
    expect(await failureOf(protocol.settlement.prepare(proof, new Date(), soon()))).toBe('payment_expired valid_before');
  });

  it('lets the buyer’s own broadcast count, late as it may be', async () => {
    const proof = await proofOf(await paidWith(await transaction(await payer(20_000n + 60_000n))));
    await protocol.settlement.admit(proof, soon());
    await clientOf(await payer()).request({ method: 'eth_sendRawTransaction', params: [proof.raw as HexText] });
    const prepared = await protocol.settlement.prepare(proof, long, soon());
    expect(await protocol.settlement.settle(await recordOf(proof, prepared), soon())).toEqual({
      status: 'confirmed',
      transaction: proof.transaction,
    });
    const over = { ...proof, details: { ...proof.details, valid_before: unix() - 10 } };
    expect(await protocol.settlement.prepare(over, new Date(), soon())).toMatchObject({ transaction: proof.transaction });
  });

  it('is payments_unavailable when the chain cannot be asked', async () => {
    const proof = await proofOf(await paidWith(await transaction(await payer())));
    await local.faults.down();
    expect(await failureOf(protocol.settlement.prepare(proof, long, soon()))).toBe('payments_unavailable undefined');
    await local.faults.up();
  });
});

describe('settle', () => {
  const ready = async (): Promise<PaymentRecord> => {
    const proof = await proofOf(await paidWith(await transaction(await payer())));
    await protocol.settlement.admit(proof, soon());
    return recordOf(proof);
  };
  /** The record as a later process finds it. */
  const old = (record: PaymentRecord): PaymentRecord => ({ ...record, details: { ...record.details, prepared_at: 0 } });
  const gained = async (run: () => Promise<Settlement>): Promise<[string, bigint]> => {
    const before = await local.usdcBalance(MERCHANT);
    const { status } = await run();
    return [status, (await local.usdcBalance(MERCHANT)) - before];
  };

  it.each([
    ['the reply is dropped', { kind: 'drop' }],
    ['the reply is late', { kind: 'delay', ms: 4_000 }],
    ['the chain says "already imported"', { kind: 'already_processed' }],
    ['the request never arrives', { kind: 'refuse' }],
    ['the RPC does not know the synchronous call', { kind: 'error', code: -32601, message: 'not found' }],
  ] as const)('confirms once when %s', async (_, fault) => {
    const record = await ready();
    local.faults.inject('eth_sendRawTransactionSync', fault);
    expect(await gained(() => protocol.settlement.settle(record, soon()))).toEqual(['confirmed', PRICE]);
  });

  it('may be repeated, together and later', async () => {
    const record = await ready();
    expect(
      await gained(async () => (await Promise.all([1, 2, 3].map(() => protocol.settlement.settle(record, soon()))))[2] as Settlement),
    ).toEqual(['confirmed', PRICE]);
    expect(await gained(() => protocol.settlement.settle(old(record), soon()))).toEqual(['confirmed', 0n]);
    expect(await gained(() => protocol.settlement.settle({ ...record, raw: null }, soon()))).toEqual(['confirmed', 0n]);
  });

  it('is unknown while nobody can say, and found later', async () => {
    const record = await ready();
    local.faults.inject('eth_sendRawTransactionSync', { kind: 'drop' });
    local.faults.inject('eth_getTransactionReceipt', { kind: 'refuse' }, Infinity);
    expect(await protocol.settlement.settle(record, soon(1_000))).toEqual({ status: 'unknown', transaction: record.transaction });
    expect(await protocol.settlement.lookup(record, soon())).toEqual({ status: 'unknown', transaction: record.transaction });
    expect(await protocol.settlement.finality(record, soon())).toBe('pending');
    local.faults.clear();
    expect(await protocol.settlement.lookup(record, soon())).toEqual({ status: 'confirmed', transaction: record.transaction });
  });

  it('of a payment that the chain has forgotten nothing is taken back, nor is one given up', async () => {
    const record = await ready();
    expect((await protocol.settlement.settle(record, soon())).status).toBe('confirmed');
    local.faults.inject('eth_getTransactionReceipt', { kind: 'answer', result: null }, Infinity);
    const after = async (hours: number): Promise<string[]> => {
      const past = { ...record, details: { ...record.details, valid_before: 1 }, created_at: new Date(Date.now() - hours * 3_600_000) };
      return [(await protocol.settlement.lookup(past, soon())).status, await protocol.settlement.finality(past, soon())];
    };
    expect([await after(0.5), await after(2), await after(30)]).toEqual([
      ['failed', 'lost'],
      ['unknown', 'pending'],
      ['unknown', 'final'],
    ]);
  });

  it('fails for good when every RPC refuses', async () => {
    const record = await ready();
    local.faults.inject('eth_sendRawTransactionSync', {
      kind: 'error',
      code: -32003,
      message: 'insufficient fee token balance: required 9, but only have 0',
    });
    expect(await protocol.settlement.settle(record, soon())).toEqual({
      status: 'failed',
      reason: 'insufficient fee token balance: required 9, but only have 0',
    });
  });

  it('trusts such a refusal only of bytes that nobody can have sent before, however long the query took', async () => {
    const record = { ...(await ready()), created_at: new Date(Date.now() - 50_000) };
    const poor = { kind: 'error', code: -32003, message: 'insufficient fee token balance' } as const;
    local.faults.inject('eth_sendRawTransactionSync', poor, 2);
    local.faults.inject('eth_sendRawTransaction', poor, Infinity);
    expect(await protocol.settlement.settle(record, soon())).toMatchObject({ status: 'failed' });
    expect(await protocol.settlement.settle(old(record), soon(600))).toMatchObject({ status: 'unknown' });
    local.faults.inject('eth_sendRawTransactionSync', poor, 1);
    const ahead = { ...record, details: { ...record.details, prepared_at: Date.now() + 60_000 } };
    expect(await protocol.settlement.settle(ahead, soon(600))).toMatchObject({ status: 'unknown' });
  });

  it('calls a refusal for lack of time by its name, so that the answer is kept for a fresh payment', async () => {
    const record = await ready();
    local.faults.inject('eth_sendRawTransactionSync', {
      kind: 'error',
      code: -32003,
      message: 'Tempo tx valid_before (1) must be > current time + 3s (2)',
    });
    expect(await protocol.settlement.settle(record, soon())).toEqual({ status: 'failed', reason: TRANSACTION_EXPIRED });
  });

  it('does not confirm a receipt that brought nothing', async () => {
    const record = await ready();
    const blank = { status: '0x1', blockNumber: '0x1', logs: [] };
    local.faults.inject('eth_sendRawTransactionSync', { kind: 'answer', result: blank });
    const unknown = { status: 'unknown', transaction: record.transaction };
    expect(await protocol.settlement.settle(record, soon())).toEqual(unknown);
    const elsewhere = { ...blank, logs: [{ address: '0x20c0000000000000000000000000000000000000', topics: [], data: '0x' }] };
    local.faults.inject('eth_getTransactionReceipt', { kind: 'answer', result: elsewhere });
    expect(await protocol.settlement.lookup(record, soon())).toEqual(unknown);
    expect(logged.filter((line) => line.includes('did not bring its price') && line.includes(record.transaction))).toHaveLength(1);
  });

  it('does not confirm the payment of another amount, payer or recipient', async () => {
    const record = await ready();
    expect((await protocol.settlement.settle(record, soon())).status).toBe('confirmed');
    for (const other of [
      { ...record, amount: PRICE + 1n },
      { ...record, payer: MERCHANT },
      { ...record, details: { ...record.details, recipient: TOKEN } },
    ])
      expect((await protocol.settlement.lookup(other, soon())).status).toBe('unknown');
  });

  it('takes no other event of the token for the transfer, nor that of another token or of more', async () => {
    const record = await ready();
    const word = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`;
    // Transfer and Approval of ERC-20, which TIP-20 shares.
    const [transfer, approval] = [
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
    ];
    const seen = async (address: string, topic: string, amount: bigint): Promise<string> => {
      const log = { address, topics: [topic, word(record.payer), word(MERCHANT)], data: `0x${amount.toString(16).padStart(64, '0')}` };
      local.faults.inject('eth_getTransactionReceipt', { kind: 'answer', result: { status: '0x1', blockNumber: '0x1', logs: [log] } });
      return (await protocol.settlement.lookup(record, soon())).status;
    };
    const other = '0x20c0000000000000000000000000000000000000';
    expect([await seen(TOKEN, transfer, PRICE), await seen(TOKEN, approval, PRICE)]).toEqual(['confirmed', 'unknown']);
    expect([await seen(other, transfer, PRICE), await seen(TOKEN, transfer, PRICE + 1n)]).toEqual(['unknown', 'unknown']);
  });

  it('never throws, not even over nonsense', async () => {
    const record = { ...(await ready()), details: {} };
    expect(await protocol.settlement.settle(record, soon(300))).toEqual({ status: 'unknown', transaction: record.transaction });
    expect(await protocol.settlement.lookup(record, soon(300))).toEqual({ status: 'unknown', transaction: record.transaction });
  });

  it('expires by the time of the chain, and not before', async () => {
    const record = await ready();
    expect(await protocol.settlement.lookup(record, soon())).toEqual({ status: 'unknown', transaction: record.transaction });
    await local.advanceTime(40);
    expect(await protocol.settlement.lookup(record, soon())).toEqual({ status: 'failed', reason: 'transaction_expired' });
    expect(await protocol.settlement.finality(record, soon())).toBe('lost');
    expect(await protocol.settlement.settle(old(record), soon())).toEqual({
      status: 'failed',
      reason: 'transaction_expired',
    });
    // A block of a second ago is still believed.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    // The chain's clock is now ahead of ours: what lives 25 seconds by ours is over by its.
    const proof = await proofOf(await paidWith(await transaction(await payer())));
    expect(await failureOf(protocol.settlement.admit(proof, soon()))).toBe('payment_expired valid_before');
  });
});

describe('configuration', () => {
  const make = (over: Partial<TempoPaymentConfig> = {}, mpp: Partial<MppSettings> = {}): MppTempo =>
    new MppTempo({ ...settings, ...mpp }, { ...config, ...over }, log);

  it('refuses what cannot work', () => {
    expect(() => make({}, { secrets: ['short'] })).toThrow(/32 bytes/);
    expect(() => make({ pay_to: 'me' })).toThrow('PAY_TO_TEMPO must be a Tempo address, not me.');
    expect(() => make({ usdc: '0x12' })).toThrow(TempoMisconfigured);
    expect(() => make({ rpc_urls: [] })).toThrow();
  });

  it('does not start on another chain, with a token that is none, or to be paid where nobody is', async () => {
    await expect(make({ pay_to: TOKEN }).start()).rejects.toThrow(TempoMisconfigured);
    await expect(make({ chain_id: 4_217 }).start()).rejects.toThrow(
      'A Tempo RPC serves chain 1337 instead of 4217: TEMPO_RPC_URL or TEMPO_CHAIN_ID must be another.',
    );
    await expect(make({ usdc: MERCHANT }).start()).rejects.toThrow(TempoMisconfigured);
    await expect(make({ usdc: MERCHANT }).probe(soon())).rejects.toThrow('not a token of 6 decimals');
  });

  it('starts while the chain cannot be reached, and says so', async () => {
    await make({ rpc_urls: [`http://127.0.0.1:${await freePort()}`] }).start();
    expect(logged.join()).toContain('Tempo cannot be reached');
  });

  it('measures the latency of the chain', async () => {
    const { latency_ms } = await protocol.probe(soon());
    expect(latency_ms).toBeGreaterThanOrEqual(0);
  });

  it('never logged a proof', () => {
    expect(logged.join()).not.toMatch(/0x76[0-9a-f]{100}/);
  });
});
