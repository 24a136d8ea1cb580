import { Keypair } from '@solana/web3.js';
import type { SignatureView, SolanaChain } from '../../src/chains/solana';
import type { AppError } from '../../src/errors';
import type { SolanaPaymentConfig } from '../../src/payments/config';
import type { PaymentRecord, ValidProof } from '../../src/payments/protocol';
import { HOUR_MS } from '../../src/lib/time';
import { SolanaLanding } from '../../src/payments/protocols/solana-landing';
import { SolanaSettlement } from '../../src/payments/protocols/solana-settlement';
import { rememberingLog } from './till';

const PRICE = 20_000n;
/** The blockhash of the payment lives up to block 1,000. */
const RECORD = {
  ...{ transaction: 'sig', amount: PRICE, raw: null, details: { last_valid_block_height: 1_000 } },
  created_at: new Date(),
} as unknown as PaymentRecord;

type Level = 'processed' | 'confirmed' | 'finalized';
const sees = (level: Level, slot = 500, err: unknown = null): SignatureView => ({ slot, status: { level, err } });
const nothing = (slot = 500): SignatureView => ({ slot, status: null });

/** What providers answer, each in its place. */
interface Told {
  views: SignatureView[];
  heights?: number[];
  /** What the merchant's account grew by; undefined: no provider has the transaction's record. */
  change?: bigint;
  err?: unknown;
  providers?: number;
  /** For how many hours nodes keep blocks; for ever when left out. */
  kept_hours?: number;
  /** Whether no record of a transaction can be read. */
  broken?: boolean;
}

function landingOn(
  { views, heights = [], change, err = null, providers = 2, kept_hours = Infinity, broken = false }: Told,
  logged: string[] = [],
): SolanaLanding {
  const chain = {
    providers,
    listSignatureViews: async () => views,
    listDatedViews: async (_: string, since: Date | null) => {
      const forgotten = since !== null && Date.now() - since.getTime() > kept_hours * HOUR_MS;
      return views.map((view, index) => ({ ...view, height: forgotten ? null : (heights[index] ?? null) }));
    },
    findTokenChange: async (_: string, account: string) => {
      if (broken) throw new Error('the record cannot be read');
      return change === undefined || account !== 'merchant' ? undefined : { err, change };
    },
  };
  return new SolanaLanding(chain as unknown as SolanaChain, 'merchant', rememberingLog(logged));
}

const never = new AbortController().signal;

// 32 blocks past the last one it lives in, "not seen" is "never".
const AFTER = 1_033;

test.each<[told: string, chain: Told, status: string]>([
  ['seen by one that has only processed it: a fork may drop it again', { views: [sees('processed')], change: PRICE }, 'unknown'],
  ['confirmed, and the price is there', { views: [sees('confirmed')], change: PRICE }, 'confirmed'],
  ['confirmed, but its record is not there yet', { views: [sees('confirmed')] }, 'unknown'],
  ['confirmed, and it brought something else', { views: [sees('confirmed')], change: PRICE - 1n }, 'unknown'],
  ['confirmed, and it brought more, as it never could', { views: [sees('confirmed')], change: PRICE + 1n }, 'unknown'],
  ['landed with an error', { views: [sees('confirmed', 500, { InstructionError: [0, 'Custom'] })] }, 'failed'],
  ['landed with an error, says who has read further, and without one, says the other', { views: [sees('confirmed'), sees('confirmed', 501, 'AccountNotFound')], change: PRICE }, 'unknown'],
  ['landed with an error, and has only been processed without one, on a fork perhaps', { views: [sees('processed', 499), sees('confirmed', 500, 'AccountNotFound')] }, 'failed'],
  ['without an error, says its status, and with one, says its record', { views: [sees('confirmed')], change: 0n, err: 'AccountNotFound' }, 'unknown'],
  ['not seen by a laggard', { views: [nothing(499), sees('confirmed', 500)], change: PRICE }, 'confirmed'],
  ['not seen by the other of two that are equally far', { views: [nothing(), sees('confirmed')], change: PRICE }, 'confirmed'],
  ['dropped again, as the one that is furthest knows', { views: [sees('confirmed', 499), nothing(500)], change: PRICE }, 'unknown'],
  ['not seen, its time just not over', { views: [nothing(), nothing()], heights: [AFTER - 1, AFTER - 1] }, 'unknown'],
  ['not seen, its time over for one of two alone', { views: [nothing(), nothing()], heights: [AFTER, AFTER - 1] }, 'unknown'],
  ['not seen by the only one that answers', { views: [nothing()], heights: [AFTER, AFTER] }, 'unknown'],
  ['not seen by the furthest, its time over, but a laggard saw it', { views: [nothing(501), sees('processed')], heights: [AFTER, AFTER] }, 'unknown'],
  ['not seen by two, its time over for both', { views: [nothing(), nothing()], heights: [AFTER, AFTER] }, 'failed'],
  ['not seen by two of three, its time over for one and for the one that does not answer', { views: [nothing(), nothing()], heights: [AFTER, AFTER - 1], providers: 3 }, 'unknown'],
  ['not seen by two of three, its time over for both', { views: [nothing(), nothing()], heights: [AFTER, AFTER], providers: 3 }, 'failed'],
  ['not seen by the only one there is, its time over', { views: [nothing()], heights: [AFTER], providers: 1 }, 'failed'],
  ['nobody answers', { views: [], heights: [AFTER, AFTER] }, 'unknown'],
])('a payment %s', async (_, chain, status) => {
  expect(await landingOn(chain).lookup(RECORD, never)).toMatchObject({ status });
}); // prettier-ignore

test.each<[hours: number, kept_hours: number, status: string, finality: string]>([
  [0.5, 0, 'failed', 'lost'],
  [20, 48, 'failed', 'lost'],
  [20, 10, 'unknown', 'pending'],
  [30, 48, 'failed', 'lost'],
  // What was confirmed then stays so.
  [30, 10, 'unknown', 'final'],
])('a payment of %d hours ago that nobody has seen, where nodes keep blocks for %d', async (hours, kept_hours, status, finality) => {
  const landing = landingOn({ views: [nothing(), nothing()], heights: [AFTER, AFTER], kept_hours });
  const record = { ...RECORD, created_at: new Date(Date.now() - hours * HOUR_MS) };
  expect([(await landing.lookup(record, never)).status, await landing.finality(record, never)]).toEqual([status, finality]);
});

test.each<[told: string, views: SignatureView[]]>([
  ['nobody answers', []],
  ['it is not final yet', [sees('confirmed')]],
])('a payment that was confirmed 30 hours ago is not final where %s', async (_, views) => {
  const record = { ...RECORD, created_at: new Date(Date.now() - 30 * HOUR_MS) };
  expect(await landingOn({ views }).finality(record, never)).toBe('pending');
});

test('a payment that did not bring its price is complained of once, however often it is looked at', async () => {
  const logged: string[] = [];
  const landing = landingOn({ views: [sees('confirmed')], change: PRICE - 1n }, logged);
  for (const transaction of ['one', 'one', 'other', 'one']) await landing.lookup({ ...RECORD, transaction }, never);
  expect(logged.map((line) => (JSON.parse(line) as { transaction: string }).transaction)).toEqual(['one', 'other']);
});

test('a payment whose end of life nobody noted is never given up', async () => {
  const gone = landingOn({ views: [nothing(), nothing()], heights: [AFTER, AFTER] });
  expect(await gone.lookup({ ...RECORD, details: {} }, never)).toMatchObject({ status: 'unknown' });
});

test.each<[told: string, chain: Told, finality: string]>([
  ['finalized', { views: [sees('finalized')] }, 'final'],
  ['finalized with an error', { views: [sees('finalized', 500, 'AccountNotFound')] }, 'lost'],
  ['finalized with an error, says who has read further, and without one, says the other', { views: [sees('finalized'), sees('finalized', 501, 'AccountNotFound')] }, 'pending'],
  ['confirmed', { views: [sees('confirmed')], heights: [AFTER, AFTER] }, 'pending'],
  ['rolled back, its time just not over', { views: [nothing(), nothing()], heights: [AFTER - 1, AFTER - 1] }, 'pending'],
  ['rolled back, its time over', { views: [nothing(), nothing()], heights: [AFTER, AFTER] }, 'lost'],
])('a payment that was confirmed is %s', async (_, chain, finality) => {
  expect(await landingOn(chain).finality(RECORD, never)).toBe(finality);
}); // prettier-ignore

test('a payment has failed where the record of the only provider, which is asked first, tells an error', async () => {
  const told = { views: [sees('confirmed', 500, 'AccountNotFound')], change: 0n, err: 'AccountNotFound', providers: 1 };
  expect(await landingOn(told).settle(RECORD, never)).toMatchObject({ status: 'failed' });
  // Of two the one that is asked first may be wrong.
  const other = { ...told, views: [sees('confirmed'), sees('confirmed')], providers: 2 };
  expect(await landingOn(other).settle(RECORD, AbortSignal.timeout(100))).toMatchObject({ status: 'unknown' });
});

test('a payment that the only provider never sees has expired as soon as its time is over, though somebody waits for it', async () => {
  const gone = landingOn({ views: [nothing()], heights: [AFTER], providers: 1 });
  expect(await gone.settle(RECORD, AbortSignal.timeout(4_000))).toEqual({ status: 'failed', reason: 'transaction_expired' });
});

test.each([1, 2])('nothing that goes wrong is thrown, %d provider(s) asked', async (providers) => {
  const landing = landingOn({ views: [sees('confirmed')], change: PRICE, providers, broken: true });
  const unknown = { status: 'unknown', transaction: 'sig' };
  expect([await landing.settle(RECORD, AbortSignal.timeout(100)), await landing.lookup(RECORD, never)]).toEqual([unknown, unknown]);
});

test('a payment is sent again every 1.5 seconds until it is seen, be the clock set back, and whoever does not answer when it is sent holds nobody up', async () => {
  let sent = 0;
  let now = performance.now();
  const looks: number[] = [];
  const spy = jest.spyOn(performance, 'now').mockImplementation(() => now);
  const real = Date.now();
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => real - 90_000 * sent);
  const chain = {
    providers: 2,
    broadcast: (_: string, signal: AbortSignal) =>
      (sent += 1) === 1 ? new Promise((resolve) => signal.addEventListener('abort', resolve)) : Promise.resolve(2),
    listSignatureViews: async () => {
      now += 500;
      looks.push(sent);
      return sent < 2 ? [nothing(), nothing()] : [sees('confirmed'), sees('confirmed')];
    },
    listDatedViews: async () => [],
    findTokenChange: async () => ({ err: null, change: PRICE }),
  };
  const landing = new SolanaLanding(chain as unknown as SolanaChain, 'merchant', rememberingLog([]));
  expect(await landing.settle({ ...RECORD, raw: 'wire' }, AbortSignal.timeout(60_000))).toMatchObject({ status: 'confirmed' });
  for (const mock of [spy, clock]) mock.mockRestore();
  expect(looks).toEqual([1, 1, 1, 2]);
});

describe('before a payment is sent', () => {
  const pay_to = Keypair.generate().publicKey.toBase58();
  const mint = Keypair.generate().publicKey.toBase58();
  const config: SolanaPaymentConfig = { rpc_urls: [], pay_to, mint, network: 'mainnet', genesis_hash: 'ours', sponsor_key: false };
  const account = { mint, owner: pay_to, amount: 5n * PRICE, frozen: false };

  /** What a chain says of a proof whose blockhash was seen being born, 100 blocks before its last. */
  const SAYS = {
    providers: 2,
    listGenesisHashes: async () => ['ours', 'ours'],
    listSignatureViews: async () => [nothing(), nothing()],
    simulate: async (..._: unknown[]): Promise<{ err: unknown; after: typeof account | undefined }> => ({ err: null, after: account }),
    findTokenAccount: async (): Promise<typeof account | undefined> => account,
    findBlockhash: (): { last_valid_block_height: number; slot: number } | undefined => ({ last_valid_block_height: 1_000, slot: 7 }),
    estimateBlockHeight: () => 900,
    findValidSlot: async (): Promise<number | undefined> => 7_060,
    // Who tells it has read 60 slots less.
    getBlockHeight: async (slot = 7_000) => 2_000 + slot - 7_000,
  };
  const settlementOn = (says: Partial<typeof SAYS>): SolanaSettlement =>
    new SolanaSettlement(config, { ...SAYS, ...says } as unknown as SolanaChain, rememberingLog([]), { sponsor: () => undefined });
  const PROOF = {
    ...{ transaction: 'sig', amount: PRICE, raw: 'wire', details: { blockhash: 'hash', source: 'account', sponsored: false } },
  } as unknown as ValidProof;
  const LONG_AGO = new Date(0);

  const failed = ({ code, context }: AppError): string => `${code} ${context.reason}`;
  const admitted = (says: Partial<typeof SAYS>): Promise<unknown> => settlementOn(says).admit(PROOF, never).catch(failed);
  const prepared = (says: Partial<typeof SAYS>, admitted_at = LONG_AGO): Promise<unknown> =>
    settlementOn(says).prepare(PROOF, admitted_at, never).catch(failed);
  const finds = (err: unknown): Partial<typeof SAYS> => ({ simulate: async () => ({ err, after: undefined }) });
  const EXPIRED = 'payment_expired blockhash_expired';

  test.each([
    ['frozen', { frozen: true }],
    ['of another owner by now', { owner: mint }],
    ['of another mint', { mint: pay_to }],
  ])('an account of the merchant that is %s cannot receive', async (_, other) => {
    const found = (change: object): SolanaSettlement => settlementOn({ findTokenAccount: async () => ({ ...account, ...change }) });
    await expect(found(other).probe()).rejects.toThrow('cannot receive');
    expect(await found({}).probe()).toEqual({ latency_ms: expect.any(Number) });
  });

  test('an offer carries a blockhash of the last five seconds', () => {
    const freshBlockhash = jest.fn();
    settlementOn({ freshBlockhash } as object).offerBlockhash();
    expect(freshBlockhash.mock.calls).toEqual([[5_000]]);
  });

  test('providers are asked which chain they serve until each has told', async () => {
    const told = [['ours'], ['ours', 'ours'], ['other']];
    const settlement = settlementOn({ listGenesisHashes: async () => told.shift() as string[] });
    for (let probe = 0; probe < 3; probe += 1) await settlement.probe();
    expect(told).toEqual([['other']]);
  });

  // A block takes 400 ms, and the last 12 s are kept: a query of 3 s needs 37.5 blocks, a broadcast 30.
  test.each([
    [962, 3_200, 3_200],
    [963, EXPIRED, 2_800],
    [970, EXPIRED, 0],
    [971, EXPIRED, EXPIRED],
  ])('at height %d of 1,000 a proof lives for a query for %s ms more, and for a broadcast %s', async (height, query, broadcast) => {
    jest.useFakeTimers({ now: 0, doNotFake: ['nextTick', 'setImmediate'] });
    const lives = (ms: unknown): unknown => (typeof ms === 'number' ? expect.objectContaining({ settle_by: new Date(ms) }) : ms);
    const told = [await admitted({ estimateBlockHeight: () => height }), await prepared({ estimateBlockHeight: () => height }, new Date())];
    jest.useRealTimers();
    expect(told).toEqual([lives(query), lives(broadcast)]);
  });

  test('a blockhash that nobody saw being born may live as long as one of this moment, and no longer than it is valid', async () => {
    jest.useFakeTimers({ now: 0, doNotFake: ['nextTick', 'setImmediate'] });
    const unseen = { findBlockhash: () => undefined };
    const told = [await admitted(unseen), await prepared(unseen), await admitted({ ...unseen, findValidSlot: async () => undefined })];
    jest.useRealTimers();
    const lives = expect.objectContaining({
      settle_by: new Date(48_000),
      details: expect.objectContaining({ last_valid_block_height: 2_210 }),
    });
    expect(told).toEqual([lives, lives, EXPIRED]);
  });

  test('what a simulation finds: expired, on the chain already, or that it would fail', async () => {
    for (const err of ['BlockhashNotFound', 'Transaction simulation failed: Blockhash not found'])
      expect([await admitted(finds(err)), await prepared(finds(err))]).toEqual([EXPIRED, EXPIRED]);
    for (const err of ['AlreadyProcessed', 'This transaction has already been processed'])
      expect([await admitted(finds(err)), await prepared(finds(err))]).toEqual([
        expect.objectContaining({ landed: true }),
        expect.objectContaining({ transaction: 'sig', raw: 'wire' }),
      ]);
    const failing = 'invalid_exact_svm_transaction_simulation_failed';
    const poor = finds({ InstructionError: [0, { Custom: 1 }] });
    expect([await admitted(poor), await prepared(poor)]).toEqual([`verification_failed ${failing}`, `settlement_failed ${failing}`]);
  });

  test('one whose status is known has landed, whatever a simulation finds', async () => {
    const seen = { listSignatureViews: async () => [nothing(), sees('confirmed')] };
    expect(await admitted({ ...seen, ...finds('BlockhashNotFound') })).toMatchObject({ landed: true });
  });

  test('a balance that a simulation does not tell is asked for', async () => {
    expect(await admitted({})).toMatchObject({ balance: 6n * PRICE });
    expect(await admitted(finds(null))).toMatchObject({ balance: 5n * PRICE });
    expect(await admitted({ ...finds(null), findTokenAccount: async () => ({ ...account, amount: PRICE }) })).toMatchObject({
      balance: PRICE,
    });
    for (const poor of [undefined, { ...account, amount: PRICE - 1n }])
      expect(await admitted({ ...finds(null), findTokenAccount: async () => poor })).toBe('verification_failed insufficient_funds');
    const frozen = { ...finds('AccountFrozen'), findTokenAccount: async () => ({ ...account, frozen: true }) };
    expect(await admitted(frozen)).toBe('verification_failed account_frozen');
  });

  test('a node that has not read as far as the blockhash is not asked', async () => {
    const asked: unknown[] = [];
    const simulate: typeof SAYS.simulate = async (...args) => (asked.push(args[1]), { err: null, after: account });
    await admitted({ simulate });
    expect(asked).toEqual([{ verify_signatures: true, min_context_slot: 7, watch: 'account' }]);
  });
});
