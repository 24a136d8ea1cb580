import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Account } from 'viem/tempo';
import { createPayments } from '../../src/payments/charge';
import type { Outcome, Payments } from '../../src/payments/protocol';
import { type LocalTempo, startLocalTempo } from '../../src/sandbox/chains/tempo';
import { testDatabase } from '../support/database';
import { signed, signedEip1559, transferData } from '../support/tempo-transactions';
import { rememberingLog, saleOf, SECRET, told, until, workOf } from './till';

const PRICE = 20_000n;
const MERCHANT = privateKeyToAccount(generatePrivateKey()).address;

describe('payments of one account that take the same turn: of those that share a nonce, the chain takes one', () => {
  let tempo: LocalTempo;
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let payments: Payments;
  let other: Payments;
  beforeAll(async () => {
    [tempo, database] = await Promise.all([startLocalTempo(), testDatabase()]);
    const settings = {
      ...{ realm: 'api.example.com', secrets: [SECRET], settle_patience_ms: 1_500, rpc_ms: 15_000, admission_ms: 20_000 },
      tempo: { rpc_urls: [tempo.url], pay_to: MERCHANT, chain_id: tempo.chain_id, usdc: tempo.usdc },
    };
    const deps = { pool: database.pool, logger: rememberingLog([]) };
    [payments, other] = await Promise.all([createPayments(settings, deps), createPayments(settings, deps)]);
    await payments.start();
  });
  afterAll(async () => {
    await Promise.all([payments.stop(), other.stop()]);
    await Promise.all([tempo.stop(), database.drop()]);
  });
  afterEach(() => tempo.faults.clear());

  type Key = `0x${string}`;
  async function account(): Promise<Key> {
    const key = generatePrivateKey();
    await tempo.fund(privateKeyToAccount(key).address, 5_000_000n);
    return key;
  }

  async function credentialOf(raw: string, path: string): Promise<Record<string, string>> {
    const outcome = await payments.charge(saleOf({ path, amount: PRICE }), workOf());
    if (outcome.kind !== 'challenge') throw new Error(`expected a challenge, got ${told(outcome)}`);
    const [header] = [outcome.challenge.headers['WWW-Authenticate'] ?? []].flat();
    const challenge = Object.fromEntries([...(header ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
    const payload = { type: 'transaction', signature: raw };
    return { Authorization: `Payment ${Buffer.from(JSON.stringify({ challenge, payload })).toString('base64url')}` };
  }

  /** A proof by the account's own nonce, which is the turn of `nonce_key` 0 as well. */
  const plain = (key: Key, path: string, nonce = 0n): Promise<Record<string, string>> =>
    credentialOf(signedEip1559({ chainId: tempo.chain_id, nonce, gas: 2_000_000n, data: transferData(PRICE, MERCHANT) }, key), path);

  /** The same as a transaction of Tempo's own. */
  async function native(key: Key, path: string, nonceKey: bigint, validBefore?: number): Promise<Record<string, string>> {
    const call = { to: tempo.usdc as Key, data: transferData(PRICE, MERCHANT) };
    const turn = { nonceKey, nonce: 0n, validBefore, calls: [call] };
    return credentialOf(await signed({ chainId: tempo.chain_id, gas: 2_000_000n, ...turn }, Account.fromSecp256k1(key)), path);
  }

  const charge = (path: string, headers: Record<string, string>, work = workOf(), at = payments): Promise<Outcome> =>
    at.charge(saleOf({ path, headers, amount: PRICE }), work);

  /** Work that is let go on by hand. */
  function heldWork() {
    let go: (answer: string) => void = () => undefined;
    const answer = new Promise<string>((resolve) => (go = resolve));
    return { work: workOf(() => answer), go: () => go('served') };
  }

  it('one runs its query, the other is told to wait, uncharged, here and in another process; then that its nonce is used', async () => {
    const key = await account();
    const [first, second] = [await plain(key, '/one'), await native(key, '/other', 0n)];
    const { work, go } = heldWork();
    const charging = charge('/one', first, work);
    await until(() => work.runs() === 1);
    const idle = workOf();
    for (const at of [payments, other]) {
      const outcome = await charge('/other', second, idle, at);
      expect(outcome).toMatchObject({ kind: 'refused', charged: false, error: { code: 'payment_in_progress' } });
      expect((outcome as Outcome & { kind: 'refused' }).error.message).toContain('same nonce');
    }
    go();
    expect(told(await charging)).toBe('200');
    expect(told(await charge('/other', second, idle))).toBe('402 verification_failed nonce_mismatch');
    expect(idle.runs()).toBe(0);
    expect(told(await charge('/other', await plain(key, '/other', 1n), idle))).toBe('200');
  });

  it('turns of other sequences, and those that take none, do not wait for each other', async () => {
    const key = await account();
    const soon = Math.floor(Date.now() / 1000) + 25;
    const { work, go } = heldWork();
    const proofs = [
      await plain(key, '/0'),
      await native(key, '/1', 7n),
      await native(key, '/2', 2n ** 256n - 1n, soon),
      await native(key, '/3', 2n ** 256n - 1n, soon - 1),
    ];
    const charging = proofs.map((headers, index) => charge(`/${index}`, headers, work));
    await until(() => work.runs() === proofs.length);
    go();
    expect((await Promise.all(charging)).map(told)).toEqual(['200', '200', '200', '200']);
  });

  it('a turn is free again when its payment comes to nothing', async () => {
    const key = await account();
    const [first, second] = [await plain(key, '/one'), await plain(key, '/other')];
    expect(
      told(
        await charge(
          '/one',
          first,
          workOf(() => Promise.reject(new Error('no luck'))),
        ),
      ),
    ).toBe('500 internal');
    expect(told(await charge('/other', second))).toBe('200');
  });

  it('and while nothing is heard of one that was sent: its buyer who signs afresh is given what it has paid for', async () => {
    const key = await account();
    const work = workOf(async () => {
      for (const method of ['eth_sendRawTransactionSync', 'eth_sendRawTransaction'])
        tempo.faults.inject(method, { kind: 'refuse' }, Infinity);
      return 'paid for';
    });
    expect(told(await charge('/one', await plain(key, '/one'), work))).toBe('503 settlement_pending');
    tempo.faults.clear();
    const outcome = await charge('/one', await native(key, '/one', 0n), work);
    expect(outcome).toMatchObject({ kind: 'paid', replayed: true, answer: 'paid for' });
    expect(work.runs()).toBe(1);
  });

  it('nor does the turn stay taken of one that was given the answer of an earlier payment, and not used', async () => {
    const key = await account();
    const silence = workOf(async () => {
      tempo.faults.inject('eth_sendRawTransactionSync', { kind: 'drop' }, Infinity);
      tempo.faults.inject('eth_getTransactionReceipt', { kind: 'refuse' }, Infinity);
      return 'paid for';
    });
    const lost = async (nonceKey: bigint): Promise<void> => {
      expect(told(await charge('/one', await native(key, '/one', nonceKey), silence))).toBe('503 settlement_pending');
      tempo.faults.clear();
    };
    for (const settledFirst of [true, false]) {
      const [unheard, unused] = settledFirst ? [1n, 2n] : [3n, 4n];
      await lost(unheard);
      if (settledFirst) await until(async () => (await payments.reconcile('all')).open === 0);
      expect(await charge('/one', await native(key, '/one', unused))).toMatchObject({ kind: 'paid', replayed: true, answer: 'paid for' });
      expect(told(await charge('/other', await native(key, '/other', unused)))).toBe('200');
    }
  });
});
