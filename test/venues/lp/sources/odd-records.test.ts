import bs58 from 'bs58';
import fc from 'fast-check';
import { inTransaction } from '../../../../src/db/transaction';
import { SOL, USDC } from '../../../../src/venues/lp/chain-addresses';
import { rebuild } from '../../../../src/venues/lp/rollups/rebuild';
import type { FieldType } from '../../../../src/venues/lp/sources/borsh';
import { EVENT_LAYOUTS } from '../../../../src/venues/lp/sources/event-layouts';
import { dlmmPools } from '../../../../src/venues/lp/sources/dlmm-pools';
import { type TestDatabase, testDatabase } from '../../../support/database';
import { differencesOf, dumpOf, keptTables } from '../../../support/dump';
import { key, named, parsedTransaction, u64 } from '../chain-writer';
import { loadRecords, pageOf } from '../load';
import {
  ANNA,
  BEN,
  dammPoolsPage,
  dlmmPoolsPage,
  dlmmSwap,
  history,
  pairs,
  SOL_USDC,
  tokenList,
  tx,
  ZED,
  ZED_SOL,
  ZED_USDC,
} from '../pages';

// What no venue tells: it stops nothing, is counted, and loses nothing beside it.

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

const rows = async (text: string): Promise<Record<string, unknown>[]> => (await db.pool.query<Record<string, unknown>>(text)).rows;
const load = (name: string, records: unknown[], format?: 'json' | 'ndjson') => loadRecords(db.pool, name, records, format);
const dumped = async (): Promise<Record<string, string[]>> => dumpOf(db.pool, await keptTables(db.pool, 'lp'));

type Events = readonly { program: string; mark: string; layout: (typeof EVENT_LAYOUTS)[string][string] }[];
const EVENTS: Events = Object.entries(EVENT_LAYOUTS).flatMap(([program, layouts]) =>
  Object.entries(layouts).map(([mark, layout]) => ({ program, mark, layout })),
);
const [POOLS, MINTS] = [
  [SOL_USDC, ZED_SOL, ZED_USDC],
  [SOL, USDC, ZED],
];
const few = (name: string): string[] => [1, 2, 3].map((n) => named(`${name} ${n}`));
const WIDTHS: Record<string, number> = { u8: 1, u16: 2, u32: 4, i32: 4, u64: 8, i64: 8, u128: 16, index: 8, u64x2: 16 };

/** Zero, one, the largest, the smallest below zero, or anything. */
const bytesOf = (width: number): fc.Arbitrary<Buffer> =>
  fc.oneof(
    fc.constantFrom(
      Buffer.alloc(width),
      Buffer.from([1, ...Buffer.alloc(width - 1)]),
      Buffer.alloc(width, 255),
      Buffer.from([...Buffer.alloc(width - 1), 128]),
    ),
    fc.uint8Array({ minLength: width, maxLength: width }).map((bytes) => Buffer.from(bytes)),
  );
const joined = (parts: fc.Arbitrary<Buffer>[]): fc.Arbitrary<Buffer> => fc.tuple(...parts).map((pieces) => Buffer.concat(pieces));

function fieldOf(name: string, type: FieldType): fc.Arbitrary<Buffer> {
  if (type === 'pubkey') {
    const addresses = /lb_pair|pool/.test(name) ? POOLS : /mint|token/i.test(name) ? MINTS : few(/position|dcaKey/.test(name) ? 'p' : 'o');
    return fc.constantFrom(...addresses).map(key);
  }
  if (type === 'bool') return fc.boolean().map((yes) => Buffer.from([Number(yes)]));
  // Rewards that none has would leave few claims of those that are.
  if (type === 'index') return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(u64(0), u64(1)) }, bytesOf(8));
  if (typeof type === 'string') return bytesOf(WIDTHS[type] as number);
  if ('bytes' in type) return bytesOf(type.bytes);
  if ('option' in type) return fc.oneof(fc.constant(Buffer.from([0])), joined([fc.constant(Buffer.from([1])), fieldOf(name, type.option)]));
  return joined(type.struct.map(([inner, own]) => fieldOf(inner, own)));
}

const EVENT = fc.constantFrom(...EVENTS).chain(({ program, mark, layout }) =>
  fc.record({
    program: fc.constant(program),
    outer: fc.integer({ min: 0, max: 2 }),
    data: joined(layout.fields.map(([name, type]) => fieldOf(name, type))).map((payload) =>
      bs58.encode(Buffer.concat([Buffer.from(`e445a52e51cb9a1d${mark}`, 'hex'), payload])),
    ),
  }),
);
const TRANSACTIONS = fc.array(
  fc.record({ minute: fc.integer({ min: 0, max: 3 }), events: fc.array(EVENT, { minLength: 1, maxLength: 4 }) }),
  { minLength: 30, maxLength: 60 },
);

test('whatever the fields of an event hold, its page is loaded, and a rebuild leaves it', async () => {
  await load('dlmm_pools_2026-03-01T00-00-00Z.json', [dlmmPoolsPage]);
  await load('damm_v2_pools_2026-03-01T00-00-00Z.json', [dammPoolsPage]);
  await load('pair_all.json', pairs);
  await load('tokens.json', tokenList);
  let run = 0;
  const seed = Date.now();
  await fc.assert(
    fc.asyncProperty(TRANSACTIONS, async (told) => {
      run += 1;
      const answers = told.map(({ minute, events }, n) =>
        parsedTransaction({ signature: named(`${run} ${n}`, 64), at: `2026-03-01T00:0${minute}:00Z`, payer: ANNA, events }),
      );
      const report = await load('transactions.ndjson', answers, 'ndjson');
      expect(report.inserted).toBeGreaterThan(10);
    }),
    { numRuns: 8, endOnFailure: true, seed },
  );
  const before = await dumped();
  await inTransaction(db.pool, rebuild);
  expect({ seed, differences: differencesOf(before, await dumped()) }).toEqual({ seed, differences: {} });
});

test('a reward of an index that none has is counted, and its neighbours are kept', async () => {
  const [claim, odd] = [u64(1), u64(70_000)].map((index) => {
    const payload = Buffer.concat([key(SOL_USDC), key(named('position')), key(ANNA), index, u64(5)]);
    return {
      program: EVENTS[0]?.program as string,
      data: bs58.encode(Buffer.concat([Buffer.from('e445a52e51cb9a1d947486cc16ab555f', 'hex'), payload])),
    };
  }) as [never, never];
  expect(await load('transactions.ndjson', [tx('a', '2026-03-01T00:00:00Z', ANNA, odd), tx('b', '2026-03-01T00:00:00Z', ANNA, claim)], 'ndjson')).toEqual({
    read: 2, inserted: 1, duplicates: 0, skipped: { undecodable_event: 1 },
  }); // prettier-ignore
});

test.each([-10_000, -20_000, -1, 0, 65_536])(
  'a pool whose bin step is said to be %i has none, and its swaps are kept',
  async (bin_step) => {
    const [pool] = dlmmPoolsPage.data;
    await load('dlmm_pools_2026-03-01T00-00-00Z.json', [
      { ...dlmmPoolsPage, data: [{ ...pool, pool_config: { ...pool?.pool_config, bin_step } }] },
    ]);
    const swap = dlmmSwap(SOL_USDC, ANNA, 5, 1_000_000_000, 100_000_000, true, 1_000);
    expect(await load('transactions.ndjson', [tx('a', '2026-03-01T00:10:00Z', ANNA, swap)], 'ndjson')).toMatchObject({ inserted: 1 });
    expect(await rows('SELECT bin_step FROM lp_pool')).toEqual([{ bin_step: null }]);
  },
);

test('a row that an answer tells twice counts once: of a history, and of hourly volumes', async () => {
  const row = { tx: 't1', at: '2026-03-05T10:00:00Z', type: 'add', pool: SOL_USDC, position: named('p'), owner: BEN, x: '1', y: '100', usdX: '100', usdY: '100' } as const; // prettier-ignore
  expect(await load('historical.json', [history(row, { ...row, x: '2' }, row)])).toEqual({
    read: 3,
    inserted: 2,
    duplicates: 0,
    skipped: { repeated_event: 1 },
  });
  const [timestamp, name] = [Date.UTC(2026, 2, 5, 10) / 1_000, `pools_${SOL_USDC}_volume_history.json`];
  const data = [
    { timestamp, volume: 8, fees: 1 },
    { timestamp: timestamp + 300, volume: 5, fees: 1 },
    { timestamp, volume: 7, fees: 1 },
  ];
  expect(await load(name, [{ timeframe: '5m', data }])).toEqual({ read: 2, inserted: 1, duplicates: 0, skipped: { repeated_bucket: 1 } });
  expect(await rows('SELECT volume_usd, fees_usd FROM lp_volume_hour')).toEqual([{ volume_usd: '13', fees_usd: '2' }]);
});

test('an event of a history that does not say when it happened is left out: when the index wrote it down, it would count beside itself', async () => {
  const row = { tx: 't1', at: '2026-03-05T10:00:00Z', type: 'add', pool: SOL_USDC, position: named('p'), owner: BEN, x: '1', y: '100', usdX: '100', usdY: '100' } as const; // prettier-ignore
  const told = history(row) as { events: Record<string, unknown>[] };
  const untimed = told.events.map(({ blockTime: _, ...event }) => ({ ...event, createdAt: '2026-03-05T10:00:04Z' }));
  await load('historical.json', [told]);
  expect(await load('historical.json', [{ events: untimed }])).toEqual({
    read: 1,
    inserted: 0,
    duplicates: 0,
    skipped: { unusable_event: 1 },
  });
  expect(await rows('SELECT usd FROM lp_event')).toEqual([{ usd: '200' }]);
});

test('an answer that is no page of pools is counted', async () => {
  await inTransaction(db.pool, async (client) => {
    const page = pageOf('dlmm_pools_2026-03-01T00-00-00Z.json', ['busy', null, 7, { error: 'busy' }]);
    expect(await dlmmPools.load(page, client, { progress: () => undefined })).toMatchObject({ read: 4, skipped: { unusable_pool: 4 } });
  });
});
