import type { Pool } from 'pg';
import { createPayments } from '../../src/payments/charge';
import type { PaymentsSettings } from '../../src/payments/config';
import type { Payments } from '../../src/payments/protocol';
import type { Fault, RpcFaults } from '../../src/sandbox/chains/rpc-faults';
import { type Death, DEATHS, dieIn } from './dying';
import { type Booth, PRICE } from './booth';
import { rememberingLog, saleOf, told, workOf } from './till';

// Killed in every state while the chain's RPC misbehaves in every way: when the next process has looked after what the dead
// one left, and the buyer has come back, ledger, chain and answer agree, and the buyer has paid exactly once.

// A tenth of what production waits (30 s for the confirmation, 2 s for one answer), and of a reply that is 30 s late.
const TIMES = { settle_patience_ms: 3_000, rpc_ms: 1_000, instance_stale_ms: 1_000, reconcile_ms: 3_600_000 };
const LATE_MS = 3_500;
const BEHIND = { kind: 'error', code: -32005, message: 'Node is behind by 400 slots' } as const;

const SENDS = ['sendTransaction', 'eth_sendRawTransactionSync', 'eth_sendRawTransaction'];
/** What each reading says when it has not seen the transaction. */
const READS: Record<string, unknown> = {
  getSignatureStatuses: { context: { slot: 1 }, value: [null] },
  getTransaction: null,
  eth_getTransactionReceipt: null,
};

const all = (faults: RpcFaults, methods: readonly string[], fault: Fault): void =>
  methods.forEach((method) => faults.inject(method, fault, Infinity));

const FAULTS = {
  'no fault': () => undefined,
  'dropped reply': (faults) => all(faults, SENDS, { kind: 'drop' }),
  'late reply': (faults) => all(faults, [...SENDS, ...Object.keys(READS)], { kind: 'delay', ms: LATE_MS }),
  'stale answer': (faults) => Object.entries(READS).forEach(([method, result]) => all(faults, [method], { kind: 'answer', result })),
  'already processed': (faults) => all(faults, SENDS, { kind: 'already_processed' }),
  error: (faults) => all(faults, [...SENDS, ...Object.keys(READS)], BEHIND),
  'both RPCs down': (faults) => faults.down(),
} satisfies Record<string, (faults: RpcFaults) => unknown>;
type FaultName = keyof typeof FAULTS;

/** What is crossed: deaths by faults. */
export interface Table {
  deaths: readonly Death[];
  faults: readonly FaultName[];
}
export const WHOLE_TABLE: Table = { deaths: DEATHS, faults: Object.keys(FAULTS) as FaultName[] };

interface Row {
  state: string;
  transaction: string | null;
}

/** One column of the table: a fault, on a chain and a ledger of its own. */
interface Column {
  fault: FaultName;
  booth: Booth;
  settings: PaymentsSettings;
  next: Payments;
}

interface Buyer {
  payer: string;
  headers: Record<string, string>;
}

const rowsOf = async (pool: Pool, payer: string): Promise<Row[]> =>
  (await pool.query<Row>('SELECT state, transaction FROM payment WHERE lower(payer) = lower($1) ORDER BY id', [payer])).rows;

const isPaid = ({ state }: Row): boolean => state === 'CONFIRMED' || state === 'DELIVERED';
const RUNNING = /RESERVED|EXECUTING|RESULT_READY|BROADCASTING/;

/** Lets the living process look until nothing is left that the dead one held. */
async function lookAfter({ booth, next }: Column, payer: string): Promise<Row[]> {
  for (let pass = 0; pass < 100; pass += 1) {
    await booth.pool.query("UPDATE payment SET look_at = now() - interval '1 second' WHERE look_at IS NOT NULL");
    await next.reconcile();
    const rows = await rowsOf(booth.pool, payer);
    if (!rows.some(({ state }) => RUNNING.test(state))) return rows;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('the living process never took over what the dead one left');
}

/** What the buyer is told who comes back as often as 503 asks for it: on a busy machine the chain may take longer than the patience here. */
async function sold(shop: Payments, buyer: Buyer, work: ReturnType<typeof workOf>): ReturnType<Payments['charge']> {
  for (let visit = 1; ; visit += 1) {
    const outcome = await shop.charge(saleOf({ headers: buyer.headers, amount: PRICE }), work);
    if (visit === 10 || told(outcome) !== '503 payments_unavailable') return outcome;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** From the death to the buyer's answer: what the cell says. Throws where ledger, chain and answer disagree. */
async function aftermath(column: Column, buyer: Buyer, end: string | null, sending: boolean): Promise<string> {
  const { booth, fault, next } = column;
  // Those who died before there was anything to send: the fault begins with their death.
  if (!sending) await FAULTS[fault](booth.faults);
  const spent = (): Promise<bigint> => booth.spent(buyer.payer);
  // While the RPC still misbehaves nothing may be said that is not so.
  const during = await lookAfter(column, buyer.payer);
  const landed = (await spent()) > 0n;
  for (const row of during) expect([row.state, landed && /RELEASED|EXPIRED|REJECTED/.test(row.state)]).toEqual([row.state, false]);
  expect(during.some(isPaid) && !landed).toBe(false);

  booth.faults.clear();
  await booth.faults.up();
  const after = await lookAfter(column, buyer.payer);
  const paid = after.filter(isPaid).length;
  expect([paid, await spent()]).toEqual(landed ? [1, PRICE] : [0, 0n]);

  const work = workOf(async () => 'from the living');
  const outcome = await sold(next, buyer, work);
  expect(told(outcome)).toMatch(/^200/);
  const known = after.some(({ state }) => isPaid({ state, transaction: null }) || state === 'UNKNOWN');
  expect(outcome).toMatchObject({ answer: known ? 'from the process that died' : 'from the living', replayed: known });
  expect(work.runs()).toBe(known ? 0 : 1);
  const final = await rowsOf(booth.pool, buyer.payer);
  expect([final.filter(isPaid).length, await spent()]).toEqual([1, PRICE]);
  expect(final.find(isPaid)?.transaction).toEqual(expect.any(String));
  const left = after.at(-1)?.state ?? 'nothing on record';
  return `${end === null ? '' : `lived (${end}); `}${left}${landed ? ', paid' : ''}; ${known ? 'collected' : 'sold anew'}`;
}

/** The tests of one protocol, over booths that `open` opens; the table they filled in is printed at the end. */
export function killTable(protocol: string, open: () => Promise<Booth>, { deaths, faults }: Table = WHOLE_TABLE): void {
  const table: Record<string, string[]> = {};
  let columns: Column[];

  beforeAll(async () => {
    columns = await Promise.all(
      faults.map(async (fault) => {
        const booth = await open();
        const settings = { ...booth.settings, ...TIMES };
        const next = await createPayments(settings, { pool: booth.pool, logger: rememberingLog([]) });
        await next.start();
        return { fault, booth, settings, next };
      }),
    );
  }, 120_000);
  afterAll(async () => {
    for (const { next } of columns) await next.stop();
    await Promise.all(columns.map(({ booth }) => booth.close()));
    const lines = [['state', ...faults], faults.map(() => '---').concat('---'), ...deaths.map((state) => [state, ...(table[state] ?? [])])];
    process.stdout.write(`\nKilled, ${protocol}:\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`);
  });

  test.each(deaths)(
    '%s',
    async (state: Death) => {
      const buyers = await Promise.all(columns.map(({ booth, next }) => booth.buyer(next)));
      const sales = columns.map(({ booth, settings }, index) => ({
        database_url: booth.database_url,
        settings,
        sale: { ...saleOf({ headers: buyers[index]?.headers }), amount: String(PRICE) },
      }));
      const sending = new Set<number>();
      const spoil = async (sale: number): Promise<void> => {
        sending.add(sale);
        const { fault, booth } = columns[sale] as Column;
        await FAULTS[fault](booth.faults);
      };
      const ends = await dieIn({ die: state, sales }, spoil);
      table[state] = await Promise.all(
        columns.map((column, index) => aftermath(column, buyers[index] as Buyer, ends[index] as string | null, sending.has(index))),
      );
    },
    180_000,
  );
}
