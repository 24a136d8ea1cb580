import { buy, type BuyerProtocol } from '../../src/sandbox/buyer';
import { Keypair } from '@solana/web3.js';
import type { SolanaPaymentConfig } from '../../src/payments/config';
import { createPayments } from '../../src/payments/charge';
import { AppError } from '../../src/errors';
import type { Payments, Sale } from '../../src/payments/protocol';
import { type LocalTempo, startLocalTempo } from '../../src/sandbox/chains/tempo';
import type { SandboxWallets } from '../../src/sandbox/wallets';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type Proof, signProofs, signWith } from '../bench/payments/buyers';
import { fundedBuyer, openTill, saleOf, serveTill, type Till, told, until, walletsOf, workOf } from './till';

/** The same proof with another challenge id, or another quote. */
function withoutSecret(proof: Proof): Proof {
  const [[name, value]] = Object.entries(proof) as [[string, string]];
  const encoded = value.replace(/^Payment /, '');
  const json = Buffer.from(encoded, 'base64').toString();
  const other = json.replace(
    /("id":|"quote":)"([^"]+)(.)"/,
    (_, field: string, most: string, last: string) => `${field}"${most}${last === 'A' ? 'B' : 'A'}"`,
  );
  expect(other).not.toBe(json);
  return { [name]: value.replace(encoded, Buffer.from(other).toString(name === 'Authorization' ? 'base64url' : 'base64')) };
}

describe('one corridor, three protocols, three stock clients', () => {
  let till: Till;
  let tempo: LocalTempo;
  let payments: Payments;
  let wallets: SandboxWallets;
  const merchant = privateKeyToAccount(generatePrivateKey()).address;
  const key = generatePrivateKey();

  beforeAll(async () => {
    [till, tempo] = await Promise.all([openTill({ sponsored: true }), startLocalTempo()]);
    const { address } = privateKeyToAccount(key);
    await tempo.fund(address, 5_000_000n);
    // Patient: how fast the machine is just now is no part of what is tested.
    const patience = { rpc_ms: 15_000, admission_ms: 20_000 };
    payments = await createPayments(
      { ...till.settings, ...patience, tempo: { rpc_urls: [tempo.url], pay_to: merchant, chain_id: tempo.chain_id, usdc: tempo.usdc } },
      { pool: till.database.pool, logger: till.logger },
    );
    await payments.start();
    const buyer = await fundedBuyer(till);
    wallets = {
      ...walletsOf(till, buyer),
      tempo: {
        rpc_url: tempo.url,
        chain_id: tempo.chain_id,
        address,
        private_key: key,
        usdc: tempo.usdc as `0x${string}`,
        pay_to: merchant,
      },
    };
  });
  afterAll(async () => {
    await payments.stop();
    await Promise.all([till.stop(), tempo.stop()]);
  });

  it.each<[BuyerProtocol]>([['x402'], ['solana'], ['tempo']])('sells to the stock %s client', async (protocol) => {
    const front = await serveTill(payments, () => workOf());
    const received = async (): Promise<bigint> =>
      protocol === 'tempo' ? tempo.usdcBalance(merchant) : till.solana.usdcBalance(till.merchant.publicKey.toBase58());
    const before = await received();
    const bought = await buy({ method: 'GET', url: `${front.url}/api/v1/markets/trending?by=${protocol}`, protocol }, wallets);
    await front.close();
    expect({ status: bought.status, body: JSON.parse(bought.body) }).toEqual({ status: 200, body: { data: [1, 2, 3] } });
    expect(bought.receipt).not.toBeNull();
    expect((await received()) - before).toBe(20_000n);
  });

  it.each<[BuyerProtocol]>([['x402'], ['solana'], ['tempo']])(
    'the stock %s client that begins anew, while its chain is silent and after, pays once and gets what it has paid for',
    async (protocol) => {
      const impatient = await createPayments(
        {
          ...till.settings,
          ...{ settle_patience_ms: 1_000, tempo: { rpc_urls: [tempo.url], pay_to: merchant, chain_id: tempo.chain_id, usdc: tempo.usdc } },
        },
        { pool: till.database.pool, logger: till.logger },
      );
      const READS = ['getTransaction', 'eth_getTransactionReceipt'];
      const faults = [till.solana.faults, tempo.faults];
      const work = workOf(async () => {
        for (const method of READS) for (const one of faults) one.inject(method, { kind: 'refuse' }, Infinity);
        for (const one of faults) one.inject('eth_sendRawTransactionSync', { kind: 'drop' }, Infinity);
        return { data: 'paid for' };
      });
      const front = await serveTill(impatient, () => work);
      const request = { method: 'GET', url: `${front.url}/api/v1/anew/${protocol}`, protocol } as const;
      const received = async (): Promise<bigint> =>
        protocol === 'tempo' ? tempo.usdcBalance(merchant) : till.solana.usdcBalance(till.merchant.publicKey.toBase58());
      const before = await received();
      for (let time = 0; time < 2; time += 1) expect((await buy(request, wallets)).status).toBe(503);
      faults.forEach((one) => one.clear());
      await until(async () => (await impatient.reconcile('all')).open === 0);
      const bought = await buy(request, wallets);
      await front.close();
      await impatient.stop();
      expect([bought.status, JSON.parse(bought.body), work.runs()]).toEqual([200, { data: 'paid for' }, 1]);
      expect(bought.receipt).not.toBeNull();
      expect((await received()) - before).toBe(20_000n);
    },
  );

  it('sells a query that outlasts the stock tempo client’s proof: kept, asked for again, paid once', async () => {
    // The client’s transaction lives no longer than its challenge: 9 s instead of 25.
    const short = await createPayments(
      { ...till.settings, offer_ms: 9_000, tempo: { rpc_urls: [tempo.url], pay_to: merchant, chain_id: tempo.chain_id, usdc: tempo.usdc } },
      { pool: till.database.pool, logger: till.logger },
    );
    await short.start();
    const work = workOf(() => new Promise((resolve) => setTimeout(() => resolve({ data: 'slow' }), 10_000)));
    const front = await serveTill(short, () => work);
    const before = await tempo.usdcBalance(merchant);
    const bought = await buy({ method: 'GET', url: `${front.url}/api/v1/slow`, protocol: 'tempo' }, wallets);
    await front.close();
    expect({ status: bought.status, body: JSON.parse(bought.body) }).toEqual({ status: 200, body: { data: 'slow' } });
    expect(work.runs()).toBe(1);
    expect((await tempo.usdcBalance(merchant)) - before).toBe(20_000n);
    await short.stop();
  });

  it.each<[BuyerProtocol]>([['x402'], ['solana'], ['tempo']])(
    'what was bought by %s is collected after the host, the secret and who is paid have changed; nothing is sold on the old terms',
    async (protocol) => {
      const front = await serveTill(payments, () => workOf());
      const sign = await signWith(protocol, wallets as Parameters<typeof signWith>[1]);
      const path = `/api/v1/changed/${protocol}`;
      const [proof, unsold] = (await signProofs(`${front.url}${path}`, 2, [sign])) as [Proof, Proof];
      await front.close();
      const sale = (headers: Proof, at = path) => saleOf({ path: at, headers });
      expect(told(await payments.charge(sale(proof), workOf()))).toBe('200');
      const pay_to = Keypair.generate().publicKey.toBase58();
      await till.solana.fund(pay_to, { usdc: 0n });
      const changed = await createPayments(
        {
          ...till.settings,
          realm: 'other.example.com',
          secrets: ['another secret of the tests, long enough to sign'],
          solana: { ...(till.settings.solana as SolanaPaymentConfig), pay_to },
          tempo: {
            rpc_urls: [tempo.url],
            pay_to: privateKeyToAccount(generatePrivateKey()).address,
            chain_id: tempo.chain_id,
            usdc: tempo.usdc,
          },
        },
        { pool: till.database.pool, logger: till.logger },
      );
      const work = workOf();
      const again = async (headers: Proof, at?: string): Promise<string> => told(await changed.charge(sale(headers, at), work));
      // In progress until the first till has written the delivery down.
      let collected = await changed.charge(sale(proof), work);
      await until(async () => collected.kind !== 'refused' || (collected = await changed.charge(sale(proof), work)).kind !== 'refused');
      const refusals = [await again(proof, `${path}/other`), await again(withoutSecret(proof)), await again(unsold)];
      await changed.stop();
      expect(collected).toMatchObject({ kind: 'paid', replayed: true, answer: { data: [1, 2, 3] } });
      for (const refusal of refusals) expect(refusal).toMatch(/^402 verification_failed/);
      expect(work.runs()).toBe(0);
    },
  );

  it.each<[BuyerProtocol]>([['x402'], ['solana'], ['tempo']])(
    'what was bought by %s is collected by the same words after a new version has understood them otherwise, or refuses them; by no others',
    async (protocol) => {
      const front = await serveTill(payments, () => workOf());
      const sign = await signWith(protocol, wallets as Parameters<typeof signWith>[1]);
      const path = `/api/v1/understood/${protocol}`;
      const [proof] = (await signProofs(`${front.url}${path}`, 1, [sign])) as [Proof];
      await front.close();
      const work = workOf();
      expect(told(await payments.charge(saleOf({ path, headers: proof }), work))).toBe('200');
      const refuse = new AppError('invalid_parameter');
      const again = async (changed: Partial<Sale>, headers = proof, refused: AppError | null = null): Promise<string> =>
        told(await payments.charge(saleOf({ path, headers, request_hash: 'f'.repeat(64), ...changed }), { ...work, refuse: refused }));
      await until(async () => (await again({})) !== '409 payment_in_progress');
      expect([await again({}), await again({ amount: 50_000n }), await again({ amount: 10_000n }), await again({}, proof, refuse)]).toEqual(
        Array(4).fill('200 replayed'),
      );
      const others = { sent_hash: 'e'.repeat(64) };
      expect([await again(others, proof, refuse), await again({}, withoutSecret(proof), refuse)]).toEqual(
        Array(2).fill('400 invalid_parameter'),
      );
      // A mistake beside what was bought: what is wrong is left out of a request's meaning.
      expect(await again({ ...others, request_hash: saleOf({ path }).request_hash }, proof, refuse)).toBe('400 invalid_parameter');
      expect(await again(others)).toMatch(/^402 verification_failed/);
      expect(await again({ ...others, amount: 50_000n })).toMatch(/^402 payment_insufficient/);
      expect(work.runs()).toBe(1);
    },
  );

  it.each<[BuyerProtocol]>([['x402'], ['solana'], ['tempo']])('20 %s purchases at once by one wallet, each paid once', async (protocol) => {
    const front = await serveTill(payments, () => workOf());
    const received = async (): Promise<bigint> =>
      protocol === 'tempo' ? tempo.usdcBalance(merchant) : till.solana.usdcBalance(till.merchant.publicKey.toBase58());
    const before = await received();
    const bought = await Promise.all(
      Array.from({ length: 20 }, (_, index) => buy({ method: 'GET', url: `${front.url}/api/v1/many/${index}`, protocol }, wallets)),
    );
    await front.close();
    expect(bought.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect((await received()) - before).toBe(400_000n);
  });

  it.each([
    ['tempo/charge', ['tempo'], false],
    ['solana/charge;q=0.9, tempo/charge;q=0.2', ['solana', 'tempo'], false],
    ['Solana/Charge, tempo/charge;q=0', ['solana'], false],
    ['stripe/charge', ['tempo', 'solana'], true],
    ['tempo/charge, */*;q=0.1', ['tempo', 'solana'], true],
    [';;q=,q', ['tempo', 'solana'], true],
  ])('Accept-Payment %s: challenges of %j, x402 headers: %s', async (accepted, methods, x402) => {
    const outcome = await payments.charge(saleOf({ headers: { 'Accept-Payment': accepted } }), workOf());
    if (outcome.kind !== 'challenge') throw new Error(told(outcome));
    const { headers, x402: body } = outcome.challenge;
    expect([headers['WWW-Authenticate']].flat().map((value) => /method="(\w+)"/.exec(String(value))?.[1])).toEqual(methods);
    expect([headers['PAYMENT-REQUIRED'] !== undefined, headers['X-PAYMENT-REQUIRED'] !== undefined]).toEqual([x402, x402]);
    // Who reads the body finds the price there, whatever was named.
    expect(body).toMatchObject({ accepts: [{ amount: '20000' }] });
  });

  it('lists all three, and their health', async () => {
    expect(payments.methods().map(({ protocol, method, fees_paid_by }) => `${protocol} ${method} ${fees_paid_by}`)).toEqual([
      'x402 exact server',
      'mpp tempo client',
      'mpp solana client',
    ]);
    const health = await payments.health();
    for (const name of ['x402', 'mpp_tempo', 'mpp_solana'] as const) {
      expect(health[name].status).toBe('ok');
      expect(health[name].latency_ms).toEqual(expect.any(Number));
      expect(health[name].last_settlement_at).toBeInstanceOf(Date);
    }
  });
});
