import express from 'express';
import { AppError } from '../../src/errors';
import { AnswerCache } from '../../src/gateway/answers';
import { RateLimit } from '../../src/gateway/limits';
import { type PaidDeps, paidHandler } from '../../src/gateway/paid';
import { type Listening, listen } from '../../src/gateway/server';
import type { Operation } from '../../src/graph/execute';
import type { Outcome, Payments, Sale } from '../../src/payments/protocol';
import { endpointNamed } from '../support/catalogue';
import { until } from '../support/feeds';
import { deliverDeps } from './deliver-deps';

// Whoever pays is never rationed. What costs us something and brings nothing is, by address and by wallet: the time stands still here.

const endpoint = endpointNamed('markets/trending');
const MOST = 2;

const challenge = (error: AppError): Outcome => ({
  kind: 'challenge',
  error,
  challenge: { x402: null, headers: {}, expires_at: new Date() },
  headers: {},
});
const refused = (error: AppError, charged: false | 'pending' = false): Outcome => ({
  kind: 'refused',
  error,
  charged,
  transaction: null,
  headers: {},
});
const paid = (answer: unknown, replayed = false): Outcome => ({ kind: 'paid', answer, replayed, headers: {} });

/** How a request with a proof ends, once its query was run where `work` is called. */
type Ending = (work: () => Promise<unknown>, sale: Sale) => Promise<Outcome>;

let server: Listening | undefined;
afterEach(() => server?.stop(0));

interface Shop {
  /** A request with a proof of a wallet that is new each time, where none is named; resolves to its status. */
  ask(signal?: AbortSignal | null, address?: string): Promise<number>;
  executed(): number;
}

/** A shop where every payment ends in the same way. */
async function shopWhere(ending: Ending, limits: { refused?: number; uncharged?: number }, wallet?: string): Promise<Shop> {
  let executed = 0;
  const operation: Operation = async () => {
    executed += 1;
    return [{ question: '?' }];
  };
  let wallets = 0;
  const payments = {
    charge: async (sale, { run }) => {
      const payer = wallet ?? `wallet ${(wallets += 1)}`;
      try {
        return await ending(() => run({ signal: new AbortController().signal, payer }), sale);
      } catch (error) {
        return refused(error as AppError);
      }
    },
  } as Pick<Payments, 'charge'> as Payments;
  const limit = (most = 0): RateLimit => new RateLimit(most, 'tries', () => 0);
  const deps: PaidDeps = {
    ...deliverDeps(limits.uncharged),
    payments,
    cache: new AnswerCache(1),
    unpaid: limit(),
    refused: limit(limits.refused),
    publicUrl: 'http://localhost',
  };
  const app = express().set('trust proxy', 1);
  app.use((_request, response, next) => void (response.set('X-Request-Id', 'req_1'), next()));
  app.get('/', paidHandler({ endpoint, operation, bazaar: {} }, deps));
  server = await listen(app, 0, '127.0.0.1');
  const url = `http://127.0.0.1:${server.port}/`;
  const ask = async (signal: AbortSignal | null = null, address = '198.51.100.1'): Promise<number> =>
    (await fetch(url, { headers: { 'PAYMENT-SIGNATURE': 'a proof', 'X-Forwarded-For': address }, signal })).status;
  return { ask, executed: () => executed };
}

const UNPAID: [name: string, ending: Ending, status: number][] = [
  ['the balance is gone when the work is done', (work) => work().then(() => challenge(new AppError('settlement_failed'))), 402],
  ['the proof runs out under the work', (work) => work().then(() => challenge(new AppError('payment_expired'))), 402],
  ['the work takes all its time', (work) => work().then(() => refused(new AppError('query_timeout'))), 504],
];

test.each(UNPAID)('%s: so often and no more', async (_, ending, status) => {
  const shop = await shopWhere(ending, { uncharged: MOST });
  expect([await shop.ask(), await shop.ask(), await shop.ask(), shop.executed()]).toEqual([status, status, 429, MOST]);
});

test('a wallet that asks from another address each time is nobody new', async () => {
  const shop = await shopWhere((work) => work().then(() => challenge(new AppError('settlement_failed'))), { uncharged: MOST }, 'a wallet');
  const addresses = ['198.51.100.1', '198.51.100.2', '198.51.100.3'];
  const statuses: number[] = [];
  for (const address of addresses) statuses.push(await shop.ask(null, address));
  expect([statuses, shop.executed()]).toEqual([[402, 402, 429], MOST]);
});

const gone = ({ client_gone }: Sale): Promise<void> =>
  new Promise((resolve) => (client_gone?.aborted ? resolve() : client_gone?.addEventListener('abort', () => resolve())));

/** An ending in which the consumer leaves after `first`, and how a request of such a consumer is made. */
function leaving(first: (work: () => Promise<unknown>) => Promise<unknown>): { ending: Ending; leave(shop: Shop): Promise<void> } {
  let leaver = new AbortController();
  let ended = (): void => undefined;
  return {
    ending: async (work, sale) => {
      await first(work);
      leaver.abort();
      await gone(sale);
      // What becomes of the outcome comes first.
      setImmediate(ended);
      return refused(new AppError('internal'));
    },
    leave: async (shop) => {
      leaver = new AbortController();
      const end = new Promise<void>((resolve) => (ended = resolve));
      await expect(shop.ask(leaver.signal)).rejects.toThrow('aborted');
      await end;
    },
  };
}

test('whoever leaves while the query runs has had it run: so often and no more', async () => {
  const { ending, leave } = leaving((work) => work());
  const shop = await shopWhere(ending, { uncharged: MOST });
  for (let time = 0; time < MOST; time += 1) await leave(shop);
  expect([await shop.ask(), shop.executed()]).toEqual([429, MOST]);
});

const NOT_THEIRS: [name: string, ending: Ending, status: number][] = [
  ['a sale', (work) => work().then((answer) => paid(answer)), 200],
  ['a failure of ours', (work) => work().then(() => refused(new AppError('internal'))), 500],
  ['a payment the chain has not judged', (work) => work().then(() => refused(new AppError('settlement_pending'), 'pending')), 503],
  ['what took all its time and is paid for already', (work) => work().then(() => refused(new AppError('query_timeout'), 'pending')), 504],
];

test.each(NOT_THEIRS)('%s is not counted', async (_, ending, status) => {
  const shop = await shopWhere(ending, { uncharged: 1, refused: 1 });
  expect([await shop.ask(), await shop.ask(), await shop.ask()]).toEqual([status, status, status]);
});

const USELESS: [name: string, ending: Ending, status: number][] = [
  ['refused', async () => challenge(new AppError('verification_failed')), 402],
  ['of a wallet that has failed too often', async () => refused(new AppError('rate_limited')), 429],
  ['in use', async () => refused(new AppError('payment_in_progress')), 409],
  ['that collects again what it was sold', async () => paid({ data: [1], meta: { warnings: [] } }, true), 200],
];

test.each(USELESS)('a proof %s: so often and no more', async (_, ending, status) => {
  let asked = 0;
  const shop = await shopWhere((...of) => ((asked += 1), ending(...of)), { refused: MOST });
  expect([await shop.ask(), await shop.ask(), await shop.ask(), asked]).toEqual([status, status, 429, MOST]);
});

test('who left while its body was unpacked is known to have left', async () => {
  let sold: Sale | undefined;
  const payments = { charge: async (sale: Sale) => ((sold = sale), refused(new AppError('internal'))) } as Partial<Payments> as Payments;
  const limit = new RateLimit(0, 'tries');
  const deps: PaidDeps = { ...deliverDeps(), payments, cache: new AnswerCache(1), unpaid: limit, refused: limit, publicUrl: '' };
  const handler = paidHandler({ endpoint, operation: async () => [], bazaar: {} }, deps);
  const app = express();
  app.get('/', (request, response, next) => {
    response.set('X-Request-Id', 'req_1').destroy();
    // It is told of the end before anybody listens.
    response.once('close', () => setImmediate(() => void handler(request, response, next)));
  });
  server = await listen(app, 0, '127.0.0.1');
  await expect(fetch(`http://127.0.0.1:${server.port}/`)).rejects.toThrow();
  await until(() => Promise.resolve(sold !== undefined), 'asked');
  expect(sold?.client_gone?.aborted).toBe(true);
});

test('who leaves before the proof is judged has had it judged', async () => {
  const { ending, leave } = leaving(async () => undefined);
  let asked = 0;
  const shop = await shopWhere((...of) => ((asked += 1), ending(...of)), { refused: 1 });
  await leave(shop);
  expect([await shop.ask(), asked]).toEqual([429, 1]);
});
