import type { SignatureView, SolanaChain } from '../../src/chains/solana';
import type { PaymentRecord } from '../../src/payments/protocol';
import { HOUR_MS } from '../../src/lib/time';
import { SolanaLanding } from '../../src/payments/protocols/solana-landing';
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
}

function landingOn(
  { views, heights = [], change, err = null, providers = 2, kept_hours = Infinity }: Told,
  logged: string[] = [],
): SolanaLanding {
  const chain = {
    providers,
    listSignatureViews: async () => views,
    listDatedViews: async (_: string, since: Date | null) => {
      const forgotten = since !== null && Date.now() - since.getTime() > kept_hours * HOUR_MS;
      return views.map((view, index) => ({ ...view, height: forgotten ? null : (heights[index] ?? null) }));
    },
    findTokenChange: async () => (change === undefined ? undefined : { err, change }),
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
});
