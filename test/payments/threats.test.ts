import fs from 'node:fs';
import path from 'node:path';
import { VersionedTransaction } from '@solana/web3.js';
import { AppError } from '../../src/errors';
import { createPayments } from '../../src/payments/charge';
import type { SolanaPaymentConfig } from '../../src/payments/config';
import type { Payments } from '../../src/payments/protocol';
import { SolanaSponsor } from '../../src/payments/protocols/solana-sponsor';
import { rpcProxy } from './rpc-proxy';
import {
  challengeOf,
  fundedBuyer,
  openTill,
  proofFor,
  requirementOf,
  saleOf,
  signedHeaders,
  type Till,
  told,
  until,
  untilSampled,
  workOf,
} from './till';

// Every threat of the payment rules: the tests that hold against it.
type Proof = [file: string, test: string];
const here = 'payments/threats.test.ts';
const corridor = 'payments/corridor.test.ts';
const faults = 'payments/rpc-faults.test.ts';
const crash = 'payments/crash.test.ts';
const x402 = 'payments/x402.test.ts';
const solana = 'payments/solana-transfer.test.ts';
const tempo = 'payments/tempo-transfer.test.ts';
const THREATS: [number, string, Proof[]][] = [
  [
    1,
    'the same proof again',
    [
      [corridor, 'hands out the kept answer to the same proof with its quote'],
      [corridor, 'refuses the landed proof without its quote'],
    ],
  ],
  [
    2,
    'the same proof at once, on several instances',
    [['payments/concurrency.test.ts', '200 copies of one proof: one execution, one broadcast']],
  ],
  [
    3,
    'a cheap proof on a dear endpoint',
    [
      [x402, 'refuses the proof of a cheaper or other request'],
      ['payments/mpp-solana.test.ts', 'binds the challenge to the request'],
    ],
  ],
  [
    4,
    'request changed after the challenge',
    [
      [x402, 'refuses the proof of a cheaper or other request'],
      ['payments/mpp.test.ts', 'other parameters'],
    ],
  ],
  [5, 'one transfer as x402 and as MPP', [['payments/mpp-solana.test.ts', 'one transaction as x402 and as MPP is one payment']]],
  [
    6,
    'mutated encodings',
    [
      ['payments/solana-transfer.property.test.ts', 'the text of the encoding changed'],
      [tempo, 'high s is the second spelling'],
    ],
  ],
  [
    7,
    'drained between validation and settlement',
    [
      [faults, 'three times and the payer is turned away'],
      [faults, 'drained during a long query'],
      [faults, 'drained while the claim waited'],
    ],
  ],
  [
    8,
    'many proofs against one balance',
    [
      ['payments/concurrency.test.ts', '50 different proofs of one buyer'],
      ['payments/concurrency.test.ts', 'caps what one payer may have under way'],
    ],
  ],
  [9, 'durable nonces', [[solana, 'a durable nonce']]],
  [
    10,
    'fake mints and look-alikes',
    [
      [solana, 'fake mint'],
      [solana, 'Token-2022 look-alike'],
      [solana, 'wrong decimals'],
    ],
  ],
  [
    11,
    'extra instructions',
    [
      [solana, 'SetAuthority'],
      [solana, 'CloseAccount'],
      [solana, 'Approve'],
      [solana, 'a refund after it'],
    ],
  ],
  [
    12,
    'the sponsor tricked into signing',
    [
      [solana, 'the sponsor’s own money'],
      [here, 'the sponsor signs after the work, and nothing that could be broadcast leaves before'],
    ],
  ],
  [
    13,
    'fee griefing of the sponsor',
    [
      [solana, 'limit over the sponsor’s cap'],
      [solana, 'price over the sponsor’s cap'],
      [faults, 'three times and the payer is turned away'],
    ],
  ],
  [
    14,
    'under- and overpayment',
    [
      [solana, 'amount one less'],
      [solana, 'amount one more'],
      [tempo, 'more than the price'],
    ],
  ],
  [
    15,
    'the wrong recipient account',
    [
      [solana, 'the wallet instead of its token account'],
      [solana, 'another owner’s account'],
      [solana, 'is refused when the payer is the merchant itself'],
    ],
  ],
  [
    16,
    'merchant account missing or frozen',
    [
      ['payments/solana-setup.test.ts', 'without an account that can receive'],
      [here, 'an account frozen later'],
      ['payments/availability.test.ts', 'is not offered after two failed probes'],
    ],
  ],
  [
    17,
    'blockhash expired or nearly',
    [
      ['payments/solana-setup.test.ts', 'knows blockhashes it did not hand out'],
      [here, 'a blockhash that %s is refused with a fresh one'],
    ],
  ],
  [
    18,
    'the buyer broadcasts itself',
    [
      [corridor, 'before asking: refused'],
      [corridor, 'while the query runs, which succeeds'],
      [corridor, 'while the query runs, which fails: owed'],
    ],
  ],
  [
    19,
    'push credentials',
    [
      ['payments/mpp-solana.test.ts', 'refuses the mode %s without running'],
      ['payments/mpp-tempo.test.ts', 'a pushed payment'],
    ],
  ],
  [
    20,
    'somebody else’s landed transaction',
    [
      [corridor, 'refuses the landed proof without its quote'],
      [corridor, 'before asking: refused'],
      ['payments/mpp-tempo.test.ts', 'sees a payment that is on chain already'],
    ],
  ],
  [
    21,
    'RPC time-out with unknown outcome',
    [
      [faults, 'statuses go silent after the send'],
      [faults, 'sendTransaction never gets through'],
    ],
  ],
  [
    22,
    'crash between broadcast and response',
    [
      [crash, '%s: paid once, and the answer is collected'],
      ['payments/reconcile.test.ts', 'the database fails after the broadcast'],
    ],
  ],
  [
    23,
    'disconnects',
    [
      [corridor, 'drops a sale whose buyer hangs up before the broadcast'],
      [here, 'a buyer who hangs up after the broadcast finds the answer kept'],
    ],
  ],
  [
    24,
    'crash before broadcast',
    [
      [crash, '%s: released, nothing charged'],
      [crash, 'expires unsent, nothing charged'],
    ],
  ],
  [25, 'discarded transactions leaking', [[here, 'no proof is found in the database or the log']]],
  [
    26,
    'late broadcast by ourselves',
    [
      [here, 'nothing is sent after an outcome was told'],
      ['payments/reconcile.test.ts', 'a reservation taken away while the work runs'],
    ],
  ],
  [
    27,
    'header and JSON bombs',
    [
      [x402, 'larger than 16 KiB'],
      [x402, 'deep JSON'],
      [solana, 'eight instructions'],
      [tempo, 'eight thousand lists'],
      ['endpoints/read.test.ts', 'a flood of names is read in one go'],
    ],
  ],
  [
    28,
    'unfunded proofs to burn our resources',
    [
      [here, 'an unfunded proof costs no query'],
      ['chains/rpc.test.ts', 'keeps questions under way below its limit'],
      ['gateway/hostile.test.ts', 'whoever shows proofs that are none may not go on for ever'],
    ],
  ],
  [
    29,
    'forged challenges, weak or leaked secrets',
    [
      [x402, 'takes proofs signed for an offer of the previous secret, and none of an unknown one'],
      ['payments/solana-setup.test.ts', 'a short secret'],
      ['payments/mpp.test.ts', 'a short secret'],
    ],
  ],
  [30, 'challenge flood', [[here, 'a thousand challenges store nothing and ask the chain nothing']]],
  [
    31,
    'clock skew',
    [
      [here, 'an offer is honoured within the skew of clocks'],
      ['payments/mpp-tempo.test.ts', 'expires by the time of the chain'],
    ],
  ],
  [
    32,
    'lying, lagging or forked RPC',
    [
      ['payments/solana-setup.test.ts', 'refuses to start on the wrong chain'],
      [here, 'a provider that lags or denies does not undo a payment'],
    ],
  ],
  [33, 'confirmed, then rolled back', [['payments/reconcile.test.ts', 'reports a confirmed payment that the chain took back']]],
  [
    34,
    'testnet proof on mainnet',
    [
      [x402, '%j: %s'],
      [tempo, 'another chain'],
    ],
  ],
  [
    35,
    'caching by proxies',
    [
      ['endpoints.test.ts', 'proxies may keep documents, never an offer'],
      ['purchase.test.ts', "expect(bought.headers['cache-control']).toBe('private')"],
    ],
  ],
  [36, 'CORS', [['endpoints.test.ts', 'browsers may pay: preflight allows the proof headers']]],
  [
    37,
    'HEAD, overrides, odd paths',
    [
      ['endpoints.test.ts', 'the other methods are refused, with Allow'],
      ['endpoints.test.ts', 'overrides are not heard'],
      ['endpoints.test.ts', '%s is 404, never 402'],
    ],
  ],
  [38, 'probing by empty answers', [['gateway/deliver.test.ts', 'they are rationed, by payer and by address']]],
  [
    39,
    'credentials in logs',
    [
      [here, 'no proof is found in the database or the log'],
      ['payments/mpp-tempo.test.ts', 'never logged a proof'],
    ],
  ],
  [40, 'paused or blocked stablecoin', [[here, 'a frozen payer is refused before the query']]],
];

describe('the list of threats', () => {
  it('is complete', () => expect(THREATS.map(([number]) => number)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1)));

  it.each(THREATS)('%d. %s', (_, __, proofs) => {
    expect(proofs.length).toBeGreaterThan(0);
    for (const [file, name] of proofs) expect(fs.readFileSync(path.join(__dirname, '..', file), 'utf8')).toContain(name);
  });
});

describe('threats that no other test meets', () => {
  let till: Till;
  beforeAll(async () => {
    till = await openTill();
  });
  afterAll(() => till.stop());
  beforeEach(() => {
    till.solana.faults.clear();
    till.solana.faults.forgetCalls();
  });
  const solanaConfig = (): SolanaPaymentConfig => till.settings.solana as SolanaPaymentConfig;
  const made = (settings: object): Promise<Payments> =>
    createPayments({ ...till.settings, ...settings }, { pool: till.database.pool, logger: till.logger });

  it('the sponsor signs after the work, and nothing that could be broadcast leaves before', async () => {
    const sponsored = await openTill({ sponsored: true });
    const proxy = await rpcProxy(sponsored.solana.url);
    const settings = { ...sponsored.settings, solana: { ...(sponsored.settings.solana as SolanaPaymentConfig), rpc_urls: [proxy.url] } };
    const payments = await createPayments(settings, { pool: sponsored.database.pool, logger: sponsored.logger });
    await payments.start();
    const sign = jest.spyOn(SolanaSponsor.prototype, 'sign');
    const buyer = await fundedBuyer(sponsored);
    const headers = await signedHeaders(sponsored, buyer);
    expect(
      told(
        await payments.charge(
          saleOf({ headers }),
          workOf(() => Promise.reject(new AppError('empty_result'))),
        ),
      ),
    ).toBe('404 empty_result');
    expect(sign).not.toHaveBeenCalled();
    const sentOut = proxy.calls
      .filter(({ method }) => method === 'simulateTransaction')
      .map(({ params }) => VersionedTransaction.deserialize(Buffer.from(params[0] as string, 'base64')));
    expect(sentOut).toHaveLength(1);
    expect(Buffer.from(sentOut[0]!.signatures[0] as Uint8Array).every((byte) => byte === 0)).toBe(true);
    const work = workOf(async () => (expect(sign).not.toHaveBeenCalled(), 'done'));
    expect(told(await payments.charge(saleOf({ headers }), work))).toBe('200');
    expect(sign).toHaveBeenCalledTimes(1);
    sign.mockRestore();
    await payments.stop();
    await proxy.close();
    await sponsored.stop();
  });

  it('an account frozen later: refused before the query', async () => {
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    await till.solana.setUsdc(till.merchant.publicKey.toBase58(), { frozen: true });
    const work = workOf();
    expect(told(await till.payments.charge(saleOf({ headers }), work))).toBe(
      '402 verification_failed invalid_exact_svm_transaction_simulation_failed',
    );
    await till.solana.setUsdc(till.merchant.publicKey.toBase58(), { frozen: false });
    expect(work.runs()).toBe(0);
    expect(told(await till.payments.charge(saleOf({ headers }), work))).toBe('200');
  });

  it('a frozen payer is refused before the query', async () => {
    const buyer = await fundedBuyer(till);
    await till.solana.setUsdc(buyer.publicKey.toBase58(), { frozen: true });
    const work = workOf();
    expect(told(await till.payments.charge(saleOf({ headers: await signedHeaders(till, buyer) }), work))).toBe(
      '402 verification_failed account_frozen',
    );
    expect(work.runs()).toBe(0);
  });

  it('an unfunded proof costs no query', async () => {
    const buyer = await fundedBuyer(till, 19_999n);
    const work = workOf();
    expect(told(await till.payments.charge(saleOf({ headers: await signedHeaders(till, buyer) }), work))).toBe(
      '402 verification_failed insufficient_funds',
    );
    expect(work.runs()).toBe(0);
  });

  it('a buyer who hangs up after the broadcast finds the answer kept', async () => {
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    const gone = new AbortController();
    till.solana.faults.inject('sendTransaction', { kind: 'delay', ms: 300 }, 1);
    const charging = till.payments.charge(saleOf({ headers, client_gone: gone.signal }), workOf());
    while (till.solana.faults.calls('sendTransaction') === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    gone.abort();
    expect(told(await charging)).toBe('200');
    expect(told(await till.payments.charge(saleOf({ headers }), workOf()))).toBe('200 replayed');
  });

  it('no proof is found in the database or the log, whatever became of it', async () => {
    const buyer = await fundedBuyer(till);
    const proofs = await Promise.all(Array.from({ length: 3 }, () => signedHeaders(till, buyer)));
    // What is being broadcast is on record with its bytes, until its delivery is written down.
    const written = (): Promise<void> =>
      until(async () => (await till.database.pool.query("SELECT FROM payment WHERE state = 'BROADCASTING'")).rowCount === 0);
    await till.payments.charge(saleOf({ headers: proofs[0] }), workOf());
    await written();
    await till.payments.charge(
      saleOf({ headers: proofs[1] }),
      workOf(() => Promise.reject(new Error('a bug that is logged'))),
    );
    const tables = ['payment', 'payment_claim', 'payment_step', 'payment_rechallenge'];
    const during: string[] = [];
    const dump = async (): Promise<string> =>
      JSON.stringify(await Promise.all(tables.map(async (table) => (await till.database.pool.query(`SELECT * FROM ${table}`)).rows)));
    await till.payments.charge(
      saleOf({ headers: proofs[2] }),
      workOf(async () => void during.push(await dump())),
    );
    await written();
    const text = [await dump(), ...during, ...till.logged].join('\n');
    expect(till.logged.join()).toContain('a bug that is logged');
    for (const headers of proofs) {
      const { payload, accepted } = JSON.parse(Buffer.from(headers['PAYMENT-SIGNATURE'] as string, 'base64').toString()) as {
        payload: { transaction: string };
        accepted: { extra: { quote: string } };
      };
      expect(text).not.toContain(payload.transaction);
      expect(text).not.toContain(accepted.extra.quote);
      expect(text).not.toContain(headers['PAYMENT-SIGNATURE']);
    }
  });

  it('nothing is sent after an outcome was told', async () => {
    const brief = await made({ settle_patience_ms: 400 });
    await brief.start();
    const buyer = await fundedBuyer(till);
    till.solana.faults.inject('sendTransaction', { kind: 'refuse' }, Infinity);
    expect(told(await brief.charge(saleOf({ headers: await signedHeaders(till, buyer) }), workOf()))).toBe('503 settlement_pending');
    till.solana.faults.clear();
    till.solana.faults.forgetCalls();
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    await brief.reconcile();
    expect(till.solana.faults.calls('sendTransaction')).toBe(0);
    expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(5_000_000n);
    await brief.stop();
  });

  it('a thousand challenges store nothing and ask the chain nothing', async () => {
    const quiet = await made({});
    const count = async (): Promise<unknown> =>
      (await till.database.pool.query('SELECT (SELECT count(*) FROM payment) AS payments, (SELECT count(*) FROM payment_claim) AS claims'))
        .rows[0];
    const before = await count();
    const asked = till.solana.faults.calls();
    const started = Date.now();
    for (let index = 0; index < 1_000; index += 1) await quiet.charge(saleOf(), workOf());
    const ticks = Math.ceil((Date.now() - started) / 2_000) + 1;
    expect(await count()).toEqual(before);
    // Only the sampler of the corridor beside it goes on, once every 2 s.
    expect(till.solana.faults.calls() - asked).toBeLessThanOrEqual(ticks);
    await quiet.stop();
  });

  it('an offer is honoured within the skew of clocks, and not beyond', async () => {
    // An offer ends with a whole second, up to one earlier than told: who comes for the first has more than two seconds of the skew left.
    const short = await made({ offer_ms: 1_000, clock_skew_ms: 4_000 });
    await short.start();
    const buyer = await fundedBuyer(till);
    const offered = async (): Promise<Record<string, string>> => signedHeaders({ ...till, payments: short }, buyer);
    const [early, late] = [await offered(), await offered()];
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(told(await short.charge(saleOf({ headers: early }), workOf()))).toBe('200');
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect(told(await short.charge(saleOf({ headers: late }), workOf()))).toBe('402 payment_expired challenge_expired');
    await short.stop();
  });

  it('a provider that lags or denies does not undo a payment', async () => {
    const denying = await rpcProxy(till.solana.url, ({ method }) =>
      method === 'getSignatureStatuses' ? { context: { slot: 1 }, value: [null] } : undefined,
    );
    const payments = await made({ solana: { ...solanaConfig(), rpc_urls: [denying.url, till.solana.url] } });
    await payments.start();
    const buyer = await fundedBuyer(till);
    expect(told(await payments.charge(saleOf({ headers: await signedHeaders(till, buyer) }), workOf()))).toBe('200');
    await payments.stop();
    await denying.close();
  });

  it('a provider that invents a confirmation alone does not make a sale', async () => {
    const confirmed = { slot: 10 ** 9, confirmations: null, err: null, status: { Ok: null }, confirmationStatus: 'confirmed' };
    let working = false;
    const inventing = await rpcProxy(till.solana.url, ({ method }) => {
      if (method === 'sendTransaction') return 'taken';
      return working && method === 'getSignatureStatuses' ? { context: { slot: 10 ** 9 }, value: [confirmed] } : undefined;
    });
    const payments = await made({ settle_patience_ms: 1_000, solana: { ...solanaConfig(), rpc_urls: [inventing.url] } });
    await payments.start();
    const buyer = await fundedBuyer(till);
    const outcome = await payments.charge(
      saleOf({ headers: await signedHeaders(till, buyer) }),
      workOf(async () => void (working = true)),
    );
    // The landed transaction itself is asked for, and it does not exist.
    expect(told(outcome)).toBe('503 settlement_pending');
    await payments.stop();
    await inventing.close();
  });

  // Last: it moves the chain’s time on.
  it.each([
    ['has expired', 200],
    ['lives for no more than a query and its settlement take', 130],
  ])('a blockhash that %s is refused with a fresh one', async (_, slots) => {
    const buyer = await fundedBuyer(till);
    await untilSampled(till);
    const requirement = requirementOf(await challengeOf(till));
    till.solana.advanceSlots(slots);
    const newest = async (): Promise<number> => Number(requirementOf(await challengeOf(till)).extra.lastValidBlockHeight ?? 0);
    await until(async () => (await newest()) >= Number(requirement.extra.lastValidBlockHeight) + slots);
    const work = workOf();
    const outcome = await till.payments.charge(saleOf({ headers: { 'PAYMENT-SIGNATURE': proofFor(buyer, requirement) } }), work);
    expect(told(outcome)).toBe('402 payment_expired blockhash_expired');
    expect(work.runs()).toBe(0);
    if (outcome.kind !== 'challenge') throw new Error(told(outcome));
    const fresh = requirementOf(outcome.challenge);
    expect(fresh.extra.recentBlockhash).not.toBe(requirement.extra.recentBlockhash);
    expect(told(await till.payments.charge(saleOf({ headers: { 'PAYMENT-SIGNATURE': proofFor(buyer, fresh) } }), work))).toBe('200');
  });
});
