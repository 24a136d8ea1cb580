import { AppError } from '../../src/errors';
import { PAYMENT_DEFAULTS } from '../../src/payments/config';
import { type PaymentRecord, type Settlement, TRANSACTION_EXPIRED, type ValidProof } from '../../src/payments/protocol';
import { Settler } from '../../src/payments/settler';
import type { Admitted, Visit } from '../../src/payments/visit';
import { BuyerGone } from '../../src/payments/work';
import { rememberingLog, saleOf, SECRET } from './till';

// The last door without a chain and without a database: what is counted, kept and told, whatever those say.

const RECORD: PaymentRecord = {
  id: '1',
  protocol: 'x402',
  payer: 'payer',
  amount: 20_000n,
  transaction: 'tx',
  raw: 'raw',
  details: {},
  settle_by: null,
  created_at: new Date(),
};
const CONFIRMED: Settlement = { status: 'confirmed', transaction: 'tx' };
const PREPARED = { transaction: 'tx', raw: 'raw', details: {}, settle_by: null };
const away = (): Promise<never> => Promise.reject(new AppError('payments_unavailable'));
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What the chain and the ledger say where nothing else is said of them; and how long the chain is waited for. */
interface World {
  chain?: object;
  ledger?: object;
  admission_ms?: number;
}

/** A settler in such a world, with what it counted, what it kept for a fresh proof, what it wrote as handed out, and what it logged. */
function settlerIn({ chain, ledger, ...config }: World) {
  const [counted, kept, delivered, logged]: [string[], unknown[], unknown[], string[]] = [[], [], [], []];
  const settler = new Settler({
    config: { ...PAYMENT_DEFAULTS, realm: 'api.example.com', secrets: [SECRET], ...config },
    protocols: [
      {
        name: 'x402',
        settlement: {
          prepare: async () => PREPARED,
          settle: async () => CONFIRMED,
          lookup: async () => ({ status: 'unknown', transaction: 'tx' }),
          ...chain,
        },
        receipt: ({ transaction }: PaymentRecord) => ({ 'PAYMENT-RESPONSE': transaction }),
      },
    ],
    ledger: {
      confirmed: async () => new Date(),
      delivered: (one: object) => void delivered.push(one),
      flush: async () => undefined,
      unknown: async () => undefined,
      failed: async () => true,
      release: async () => true,
      owe: async () => true,
      writeAhead: async () => true,
      ...ledger,
    },
    rechallenge: { mayKeep: async () => true, keep: async (...of: unknown[]) => void kept.push(of.at(-1)) },
    log: rememberingLog(logged),
    figures: { payment: (event: string) => void counted.push(event) },
  } as unknown as ConstructorParameters<typeof Settler>[0]);
  return { settler, counted, kept, delivered, logged };
}

const visitOf = (client_gone?: AbortSignal): Visit => ({ sale: saleOf({ client_gone }) }) as Visit;

/** A payment that was admitted and worked for; `transaction` is null while its fee is to be ours. */
function admitted(settler: Settler, transaction: string | null, landed: string | null = null): Admitted {
  const proof = { protocol: 'x402', payer: 'payer', amount: 20_000n, proof_key: 'key', transaction, details: {} } as unknown as ValidProof;
  const [protocol, now] = [settler.protocolOf(RECORD), new Date()];
  return { visit: visitOf(), protocol, proof, id: '1', admitted_at: now, began_at: now, waiting: null, may_keep: true, landed };
}

describe('a payment that several wait for', () => {
  const heardBefore = { confirmed: async () => null };

  it('counts once: for who hears of its end first', async () => {
    const [first, second] = [settlerIn({}), settlerIn({ ledger: heardBefore })];
    for (const { settler } of [first, second])
      expect(await settler.broadcast(visitOf(), RECORD, 'data', true)).toMatchObject({ kind: 'paid', answer: 'data' });
    expect([first.counted, second.counted]).toEqual([['settled'], []]);
  });

  it('counts as well for who waits alone, and asks nobody', async () => {
    const { settler, counted } = settlerIn({ ledger: heardBefore });
    await settler.broadcast(visitOf(), RECORD, 'data', false);
    expect(counted).toEqual(['settled']);
  });

  it('brings its answer to a buyer who is there though the database is away; to one who left nothing, and it is pending', async () => {
    const { settler, counted } = settlerIn({ ledger: { confirmed: away, unknown: away } });
    expect(await settler.broadcast(visitOf(), RECORD, 'data', true)).toMatchObject({ kind: 'paid' });
    const left = settler.broadcast(visitOf(AbortSignal.abort()), RECORD, 'data', false);
    await expect(left).rejects.toMatchObject({ transaction: 'tx', error: { code: 'settlement_pending' } });
    await tick();
    expect(counted).toEqual(['settled']);
  });
});

it('the transaction that the chain has is the one on record and on the receipt', async () => {
  const settle = async (): Promise<Settlement> => ({ status: 'confirmed', transaction: 'as it landed' });
  const { settler, delivered } = settlerIn({ chain: { settle } });
  const outcome = await settler.broadcast(visitOf(), RECORD, 'data', false);
  expect([outcome.headers, delivered]).toMatchObject([{ 'PAYMENT-RESPONSE': 'as it landed' }, [{ transaction: 'as it landed' }]]);
});

it.each([
  [TRANSACTION_EXPIRED, ['"data"']],
  ['transaction_reverted', []],
])('of a payment that failed, %s, the answer waits for a fresh proof: %j', async (reason, waiting) => {
  const settle = async (): Promise<Settlement> => ({ status: 'failed', reason });
  const { settler, counted, kept } = settlerIn({ chain: { settle } });
  await expect(settler.broadcast(visitOf(), RECORD, 'data', false)).rejects.toMatchObject({
    code: 'settlement_failed',
    context: { reason },
  });
  expect([counted, kept]).toEqual([['failed'], waiting]);
});

it('a payment that failed counts once, for who writes it down; where the database is away for who has heard of it', async () => {
  const settle = async (): Promise<Settlement> => ({ status: 'failed', reason: 'transaction_reverted' });
  for (const [failed, events, code] of [
    [async () => true, ['failed'], 'settlement_failed'],
    [async () => false, [], 'settlement_failed'],
    [away, ['failed'], undefined],
  ] as const) {
    const { settler, counted } = settlerIn({ chain: { settle }, ledger: { failed } });
    const error = await settler.broadcast(visitOf(), RECORD, 'data', true).catch((thrown: unknown) => thrown);
    expect([counted, (error as AppError).code]).toEqual([events, code]);
  }
});

describe('what its buyer sent itself', () => {
  const lookup = async (): Promise<Settlement> => CONFIRMED;
  const over = (): Promise<never> => Promise.reject(new AppError('payment_expired'));

  it('counts as paid where the work was done before its time was over, and is on record with the answer', async () => {
    const written: unknown[] = [];
    const confirmed = async (...of: unknown[]): Promise<Date> => (written.push(of), new Date());
    const { settler, counted } = settlerIn({ chain: { prepare: over, lookup }, ledger: { confirmed } });
    expect(await settler.settle(admitted(settler, 'tx'), 'data')).toMatchObject({ kind: 'paid', answer: 'data', replayed: false });
    expect([counted, written]).toEqual([['settled'], [['1', 'tx', '"data"']]]);
  });

  it('is owed where there is nothing to hand out: counted where that is on record', async () => {
    for (const [owe, events] of [
      [async () => true, ['owed']],
      [async () => false, []],
      [away, []],
    ] as const) {
      // prettier-ignore
      const { settler, counted } = settlerIn({ chain: { lookup }, ledger: { owe } });
      const given = settler.giveUp(admitted(settler, 'tx'), new AppError('empty_result'));
      await expect(given).rejects.toMatchObject({ transaction: 'tx', error: { code: 'empty_result' } });
      expect(counted).toEqual(events);
    }
  });

  it('is no debt where it failed on the chain', async () => {
    const failed = async (): Promise<Settlement> => ({ status: 'failed', reason: 'transaction_reverted' });
    const { settler, counted } = settlerIn({ chain: { lookup: failed } });
    await expect(settler.giveUp(admitted(settler, 'tx'), new AppError('empty_result'))).rejects.toMatchObject({ code: 'empty_result' });
    expect(counted).toEqual(['released']);
  });

  it('and that we adopted is not handed out where it is not on record', async () => {
    const { settler, delivered } = settlerIn({ ledger: { confirmed: async () => null } });
    await expect(settler.settle(admitted(settler, 'tx', 'tx'), 'data')).rejects.toMatchObject({ error: { code: 'internal' } });
    expect(delivered).toEqual([]);
  });
});

it('a sale that comes to nothing counts as released by who let go of it', async () => {
  for (const [released, events] of [
    [true, ['released']],
    [false, []],
  ] as const) {
    // prettier-ignore
    const { settler, counted } = settlerIn({ ledger: { release: async () => released } });
    await expect(settler.giveUp(admitted(settler, 'tx'), new AppError('empty_result'))).rejects.toMatchObject({ code: 'empty_result' });
    expect(counted).toEqual(events);
  }
});

it('a chain that says nothing when a payment is made ready is not waited for', async () => {
  const prepare = (_proof: unknown, _at: unknown, signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new AppError('payments_unavailable'))));
  const { settler } = settlerIn({ chain: { prepare }, admission_ms: 1 });
  await expect(settler.settle(admitted(settler, 'tx'), 'data')).rejects.toMatchObject({ code: 'payments_unavailable' });
});

it.each([
  ['is to be ours', null, PAYMENT_DEFAULTS.payer_failures],
  ['is its own', 'tx', 9],
])('of nine payments of one payer whose fee %s so many are made ready at once', async (_, transaction, most) => {
  const begun: (() => void)[] = [];
  const prepare = (): Promise<unknown> => new Promise((resolve) => begun.push(() => resolve(PREPARED)));
  const { settler } = settlerIn({ chain: { prepare } });
  const settling = Promise.all(Array.from({ length: 9 }, () => settler.settle(admitted(settler, transaction), 'data')));
  await tick();
  expect(begun).toHaveLength(most);
  for (let next = 0; next < 9; next += 1) {
    begun[next]?.();
    await tick();
  }
  expect(await settling).toHaveLength(9);
});

it('a failure of ours is told to the operator, not that a buyer hung up', () => {
  const { settler, logged } = settlerIn({});
  expect(settler.tell(new BuyerGone(), saleOf())).toMatchObject({ code: 'internal' });
  expect(logged).toEqual([]);
  settler.tell(new Error('no luck'), saleOf());
  expect(logged).toEqual([expect.stringContaining('no luck')]);
});
