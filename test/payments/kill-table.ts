import type { Pool } from 'pg';
import { createPayments } from '../../src/payments/charge';
import type { PaymentsSettings } from '../../src/payments/config';
import type { Payments } from '../../src/payments/protocol';
import type { Fault, RpcFaults } from '../../src/sandbox/chains/rpc-faults';
import { type Death, DEATHS, dieIn } from './dying';
import { type Booth, PRICE } from './booth';
import { rememberingLog, saleOf, told, until, workOf } from './till';

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
const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

interface Row {
  state: string;
  transaction: string | null;
}

/** One column of the table: a fault, on a chain and a ledger of its own, which all protocols of the chain share. */
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

async function openColumn(fault: FaultName, open: () => Promise<Booth>): Promise<Column> {
  const booth = await open();
  const settings = { ...booth.settings, ...TIMES };
  const next = await createPayments(settings, { pool: booth.pool, logger: rememberingLog([]) });
  await next.start();
  return { fault, booth, settings, next };
}

/** A buyer, and how its sale ended in the dying process; null: with the process. */
interface Cell {
  buyer: Buyer;
  end: string | null;
}

const rowsOf = async (pool: Pool, payer: string): Promise<Row[]> =>
  (await pool.query<Row>('SELECT state, transaction FROM payment WHERE lower(payer) = lower($1) ORDER BY id', [payer])).rows;

const isPaid = ({ state }: Row): boolean => state === 'CONFIRMED' || state === 'DELIVERED';
const RUNNING = /RESERVED|EXECUTING|RESULT_READY|BROADCASTING/;

/** Lets the living process look until nothing is left that the dead one held, and it has heard of what `landed`: on a busy machine a node may not answer a look in time. */
async function lookAfter({ booth, next }: Column, payer: string, landed = false): Promise<Row[]> {
  for (let pass = 0; pass < 400; pass += 1) {
    await booth.pool.query("UPDATE payment SET look_at = now() - interval '1 second' WHERE look_at IS NOT NULL");
    await next.reconcile();
    const rows = await rowsOf(booth.pool, payer);
    if (!rows.some(({ state }) => RUNNING.test(state)) && (!landed || rows.some(isPaid))) return rows;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('the living process never took over what the dead one left');
}

/** What the buyer is told who comes back as often as 503 asks for it: on a busy machine the chain may take longer than the patience here. */
async function sold(shop: Payments, buyer: Buyer, work: ReturnType<typeof workOf>): ReturnType<Payments['charge']> {
  for (let visit = 1; ; visit += 1) {
    const outcome = await shop.charge(saleOf({ headers: buyer.headers, amount: PRICE }), work);
    if (visit === 10 || !told(outcome).startsWith('503')) return outcome;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** From the death to the buyers' answers: what the cells say. Throws where ledger, chain and answer disagree. */
async function aftermath(column: Column, cells: readonly Cell[], spoiled: boolean): Promise<string[]> {
  const { booth, fault } = column;
  // Those who died before there was anything to send: the fault begins with their death.
  if (!spoiled) await FAULTS[fault](booth.faults);
  // One after the other: a pass of one buyer's look would hold the other's row.
  const landed: boolean[] = [];
  for (const { buyer } of cells) landed.push(await whileSpoiled(column, buyer));
  booth.faults.clear();
  await booth.faults.up();
  const said: string[] = [];
  for (const [index, cell] of cells.entries()) said.push(await afterwards(column, cell, landed[index] as boolean));
  return said;
}

/** While the RPC still misbehaves nothing may be said that is not so. Returns whether the payment is on chain. */
async function whileSpoiled(column: Column, { payer }: Buyer): Promise<boolean> {
  const during = await lookAfter(column, payer);
  const landed = (await column.booth.spent(payer)) > 0n;
  for (const row of during) expect([row.state, landed && /RELEASED|EXPIRED|REJECTED/.test(row.state)]).toEqual([row.state, false]);
  expect(during.some(isPaid) && !landed).toBe(false);
  return landed;
}

async function afterwards(column: Column, { buyer, end }: Cell, landed: boolean): Promise<string> {
  const { booth, next } = column;
  const spent = (): Promise<bigint> => booth.spent(buyer.payer);
  const after = await lookAfter(column, buyer.payer, landed);
  const paid = after.filter(isPaid).length;
  expect([paid, await spent()]).toEqual(landed ? [1, PRICE] : [0, 0n]);

  const work = workOf(async () => 'from the living');
  const outcome = await sold(next, buyer, work);
  expect(told(outcome)).toMatch(/^200/);
  const known = after.some(({ state }) => isPaid({ state, transaction: null }) || state === 'UNKNOWN');
  expect(outcome).toMatchObject(known ? { answer: 'from the process that died', replayed: true } : { answer: 'from the living' });
  expect(work.runs()).toBe(known ? 0 : 1);
  // Deliveries are written down a moment after they are made.
  await until(async () => (await rowsOf(booth.pool, buyer.payer)).some(isPaid));
  const final = await rowsOf(booth.pool, buyer.payer);
  expect([final.filter(isPaid).length, await spent()]).toEqual([1, PRICE]);
  expect(final.find(isPaid)?.transaction).toEqual(expect.any(String));
  const left = after.at(-1)?.state ?? 'nothing on record';
  return `${end === null ? '' : `lived (${end}); `}${left}${landed ? ', paid' : ''}; ${known ? 'collected' : 'sold anew'}`;
}

/** Prints one protocol's table, in Markdown. */
function print(protocol: string, cellsOf: (state: Death) => readonly string[]): void {
  const lines = [['state', ...FAULT_NAMES], ['---', ...FAULT_NAMES.map(() => '---')], ...DEATHS.map((state) => [state, ...cellsOf(state)])];
  process.stdout.write(`\nKilled, ${protocol}:\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`);
}

/** The tests of all protocols, over booths that each of `opens` opens of its chain; the tables they filled in are printed at the end. */
export function killTable(opens: readonly (() => Promise<Booth>)[]): void {
  const table: Record<string, Partial<Record<Death, string[]>>> = {};
  let columns: Column[];

  beforeAll(async () => {
    columns = await Promise.all(opens.flatMap((open) => FAULT_NAMES.map((fault) => openColumn(fault, open))));
  }, 120_000);
  afterAll(async () => {
    for (const { next } of columns) await next.stop();
    await Promise.all(columns.map(({ booth }) => booth.close()));
    for (const [protocol, rows] of Object.entries(table)) print(protocol, (state) => rows[state] ?? []);
  });

  /** A buyer of each protocol in each column, column by column. */
  const buyersOf = (column: Column): Promise<Buyer[]> => Promise.all(Object.values(column.booth.buyers).map((buyer) => buyer(column.next)));

  test.each(DEATHS)(
    '%s',
    async (state: Death) => {
      const buyers = await Promise.all(columns.map(buyersOf));
      const sales = columns.flatMap(({ booth, settings }, column) =>
        (buyers[column] as Buyer[]).map(({ headers }) => ({
          column,
          database_url: booth.database_url,
          settings,
          sale: { ...saleOf({ headers }), amount: String(PRICE) },
        })),
      );
      const spoiled = new Set<number>();
      const ends = await dieIn({ die: state, sales }, async (index) => {
        spoiled.add(index);
        const { fault, booth } = columns[index] as Column;
        await FAULTS[fault](booth.faults);
      });
      await Promise.all(
        columns.map(async (column, index) => {
          const before = buyers.slice(0, index).flat().length;
          const cells = (buyers[index] as Buyer[]).map((buyer, place) => ({ buyer, end: ends[before + place] as string | null }));
          const said = await aftermath(column, cells, spoiled.has(index));
          Object.keys(column.booth.buyers).forEach((protocol, place) => {
            const row = ((table[protocol] ??= {})[state] ??= []);
            row[FAULT_NAMES.indexOf(column.fault)] = said[place] as string;
          });
        }),
      );
    },
    300_000,
  );
}
