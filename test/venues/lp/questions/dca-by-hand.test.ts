import { DCA_PROGRAM, SOL, USDC } from '../../../../src/venues/lp/chain-addresses';
import { testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { bool, eventData, key, named, u64, type WrittenEvent } from '../chain-writer';
import { loadRecords } from '../load';
import { ANNA, BEN, CARA, dammPoolsPage, dlmmPoolsPage, tokenList, tx, ZED } from '../pages';

// Recurring orders worked out on paper; ZED is worth 0.25 USD, SOL 100.5, noon is now.

const NOW = new Date('2026-03-10T12:00:00Z');
const [ZED_UNIT, USDC_UNIT, SOL_UNIT] = [1_000_000, 1_000_000, 1_000_000_000];
const HOUR = 3_600;

interface Order {
  name: string;
  owner: string;
  input: string;
  output: string;
  deposited: number;
  cycle: number;
  every_s: number;
  opened: string;
}

const orderKey = (name: string): string => named(`order ${name}`);
const seconds = (at: string): number => Date.parse(at) / 1_000;
const dca = (name: string, ...pieces: Buffer[]): WrittenEvent => ({ program: DCA_PROGRAM, data: eventData(name, ...pieces) });
/** What Opened and Closed both begin with. */
const orderPieces = ({ name, owner, input, output, deposited, cycle, every_s, opened }: Order): Buffer[] => [
  key(owner), key(orderKey(name)), u64(deposited), key(input), key(output), u64(every_s), u64(cycle), u64(seconds(opened)),
]; // prettier-ignore
const opened = (order: Order): Record<string, unknown> => tx(`open ${order.name}`, order.opened, order.owner, dca('Opened', ...orderPieces(order))); // prettier-ignore
const filled = ({ name, owner, input, output }: Order, at: string, amount: number): Record<string, unknown> =>
  tx(`fill ${name} ${at}`, at, CARA, dca('Filled', key(owner), key(orderKey(name)), key(input), key(output), u64(amount), u64(1), key(output), u64(0))); // prettier-ignore
const closed = (order: Order, at: string): Record<string, unknown> =>
  tx(`close ${order.name}`, at, order.owner, dca('Closed', ...orderPieces(order), u64(0), u64(0), u64(0), bool(true)));

const BUY_HOURLY: Order = { name: 'hourly', owner: ANNA, input: USDC, output: ZED, deposited: 1_000 * USDC_UNIT, cycle: 100 * USDC_UNIT, every_s: HOUR, opened: '2026-03-10T09:30:00Z' }; // prettier-ignore
const BUY_WITH_SOL: Order = { name: 'six-hourly', owner: BEN, input: SOL, output: ZED, deposited: 2 * SOL_UNIT, cycle: SOL_UNIT / 2, every_s: 6 * HOUR, opened: '2026-03-10T10:00:00Z' }; // prettier-ignore
const SELL_DAILY: Order = { name: 'daily', owner: CARA, input: ZED, output: USDC, deposited: 4_000 * ZED_UNIT, cycle: 1_500 * ZED_UNIT, every_s: 24 * HOUR, opened: '2026-03-09T12:00:00Z' }; // prettier-ignore
const GIVEN_UP: Order = { ...BUY_HOURLY, name: 'given up', owner: BEN };
const SPENT: Order = { ...BUY_HOURLY, name: 'spent', owner: CARA, deposited: 100 * USDC_UNIT };

type Row = Record<string, unknown>;
let db: Awaited<ReturnType<typeof testDatabase>>;
const ofZed = async (timeframe: string, now = NOW): Promise<Row> =>
  (await ask<Row>(db, 'lp/dca/pressure', now, { token: ZED, timeframe })).data;

beforeAll(async () => {
  db = await testDatabase();
  await loadRecords(db.pool, 'pools.json', [dlmmPoolsPage]);
  await loadRecords(db.pool, 'tokens.json', tokenList);
  for (const at of ['2026-03-10T10-00-00Z', '2026-03-10T11-30-00Z'])
    await loadRecords(db.pool, `damm_v2_pools_${at}.json`, [dammPoolsPage]);
  await loadRecords(db.pool, 'chain.json', [
    ...[BUY_HOURLY, BUY_WITH_SOL, SELL_DAILY, GIVEN_UP, SPENT].map(opened),
    filled(BUY_HOURLY, '2026-03-10T10:30:00Z', 100 * USDC_UNIT),
    filled(BUY_HOURLY, '2026-03-10T11:30:00Z', 100 * USDC_UNIT),
    filled(SPENT, '2026-03-10T10:30:00Z', 100 * USDC_UNIT),
    closed(GIVEN_UP, '2026-03-10T10:10:00Z'),
    tx('more', '2026-03-10T11:00:00Z', ANNA, dca('Deposit', key(orderKey('hourly')), u64(200 * USDC_UNIT))),
    tx('less', '2026-03-10T11:05:00Z', ANNA, dca('Withdraw', key(orderKey('hourly')), u64(100 * USDC_UNIT), u64(0), bool(true))),
  ]);
});
afterAll(() => db.drop());

// Left: 1,000 + 200 - 100 - 2 x 100 = 900 USDC, 2 SOL = 201 USD, 4,000 ZED = 1,000 USD.
const LEFT = { open_buy_orders: 2, open_sell_orders: 1, buyers: 2, remaining_buy_usd: 1_101, remaining_sell_usd: 1_000, next_cycle_at: '2026-03-10T12:00:00Z' }; // prettier-ignore

test.each([
  // The daily order is due this instant; half past twelve is no longer in the half hour.
  ['30m', 0, 375, -100, 'distribution'],
  ['1h', 100, 375, -57.894737, 'distribution'],
  // Six hourly cycles, and half a SOL at four.
  ['6h', 650.25, 375, 26.84711, 'accumulation'],
  // All that is left of both purchases; tomorrow's noon is not in it.
  ['24h', 1_101, 375, 49.186992, 'accumulation'],
  // Three more days sell the rest.
  ['7d', 1_101, 1_000, 4.807235, 'neutral'],
  ['all', 1_101, 1_000, 4.807235, 'neutral'],
])('what falls due within %s', async (timeframe, buy_volume, sell_volume, score, label) => {
  expect(await ofZed(timeframe)).toMatchObject({
    token_mint: ZED, symbol: 'ZED', timeframe, buy_volume, sell_volume, net_pressure: buy_volume - sell_volume, score: expect.closeTo(score, 5) as never, label, ...LEFT,
  }); // prettier-ignore
});

test('means of payment have their own rows, and no place in the list', async () => {
  const { data: usdc } = await ask<Row>(db, 'lp/dca/pressure', NOW, { token: USDC, timeframe: '1h' });
  expect(usdc).toMatchObject({ buy_volume: 375, sell_volume: 100, open_buy_orders: 1, open_sell_orders: 1, buyers: 1 });
  // Both are for lists: a price that grew with the limit is not passed over in silence.
  const idle = async (token: string | null): Promise<unknown> =>
    (await ask<Row>(db, 'lp/dca/pressure', NOW, { token, timeframe: '1h', limit: 200 })).meta.ineffective;
  expect([await idle(USDC), await idle(null)]).toEqual([{ limit: 'token', min_volume_usd: 'token' }, {}]);
  const { data: sol } = await ask<Row>(db, 'lp/dca/pressure', NOW, { token: SOL, timeframe: '6h' });
  expect(sol).toMatchObject({ buy_volume: 0, sell_volume: 50.25, score: -100, remaining_sell_usd: 201, next_cycle_at: '2026-03-10T16:00:00Z' }); // prettier-ignore
  const list = async (min_volume_usd: number): Promise<unknown> => (await ask<Row>(db, 'lp/dca/pressure', NOW, { timeframe: '1h', min_volume_usd })).data; // prettier-ignore
  expect(await list(475)).toMatchObject({ timeframe: '1h', tokens: [{ token_mint: ZED }], last_updated: '2026-03-10T11:30:00Z' });
  await expect(list(475.01)).rejects.toMatchObject({ code: 'empty_result' });
});

test('an earlier now knows neither later fills nor later deposits', async () => {
  expect(await ofZed('1h', new Date('2026-03-10T10:15:00Z'))).toMatchObject({
    buy_volume: 200, sell_volume: 0, score: 100, open_buy_orders: 3, buyers: 3, remaining_buy_usd: 1_301, next_cycle_at: '2026-03-10T10:30:00Z',
  }); // prettier-ignore
});

test('an order that is opened again at the address of a closed one is open, with what was put into it since', async () => {
  const later = await testDatabase();
  try {
    await loadRecords(later.pool, 'tokens.json', tokenList);
    const again = { ...BUY_HOURLY, deposited: 300 * USDC_UNIT, opened: '2026-03-10T11:15:00Z' };
    const rows = [
      opened(BUY_HOURLY),
      filled(BUY_HOURLY, '2026-03-10T10:30:00Z', 100 * USDC_UNIT),
      closed(BUY_HOURLY, '2026-03-10T11:00:00Z'),
      tx('open again', again.opened, ANNA, dca('Opened', ...orderPieces(again))),
    ];
    for (const record of [...rows].reverse()) await loadRecords(later.pool, 'chain.json', [record]);
    const told = async (now: Date): Promise<unknown> =>
      (await ask<Row>(later, 'lp/dca/pressure', now, { token: ZED, timeframe: 'all' })).data;
    expect(await told(NOW)).toMatchObject({ open_buy_orders: 1, remaining_buy_usd: 300, next_cycle_at: '2026-03-10T12:15:00Z' });
    expect(await told(new Date('2026-03-10T10:45:00Z'))).toMatchObject({ open_buy_orders: 1, remaining_buy_usd: 900 });
  } finally {
    await later.drop();
  }
});

test('an order of two tokens without a price is one order left out, in whichever rows it counts', async () => {
  const [ODD, EVEN] = [named('mint odd'), named('mint even')];
  const later = await testDatabase();
  try {
    await loadRecords(later.pool, 'chain.json', [opened({ ...BUY_HOURLY, input: ODD, output: EVEN })]);
    const { data, meta } = await ask<{ tokens: Row[] }>(later, 'lp/dca/pressure', NOW, { min_volume_usd: 0 });
    expect(data.tokens.map(({ open_buy_orders, open_sell_orders }) => [open_buy_orders, open_sell_orders]).sort()).toEqual([
      [0, 1],
      [1, 0],
    ]);
    expect(meta.warnings[0]).toBe('1 order pays in a token without a known price: counted, left out of sums');
  } finally {
    await later.drop();
  }
});

test('an order that comes round once in ages is due once it can be, and breaks nothing', async () => {
  const later = await testDatabase();
  try {
    await loadRecords(later.pool, 'tokens.json', tokenList);
    const forever = [10_000_000_000_000, Number.MAX_SAFE_INTEGER].map((every_s) =>
      opened({ ...BUY_HOURLY, name: `every ${every_s}`, every_s }),
    );
    await loadRecords(later.pool, 'chain.json', forever);
    const { data } = await ask<Row>(later, 'lp/dca/pressure', NOW, { token: ZED, timeframe: 'all' });
    expect(data).toMatchObject({ buy_volume: 2_000, open_buy_orders: 2, next_cycle_at: null });
    expect((await ask<Row>(later, 'lp/dca/pressure', NOW, { token: ZED, timeframe: '365d' })).data).toMatchObject({ buy_volume: 0 });
  } finally {
    await later.drop();
  }
});

test('a token whose cycles are shown as the least volume asked for reaches it', async () => {
  const store = await testDatabase();
  try {
    await loadRecords(store.pool, 'tokens.json', tokenList);
    await loadRecords(store.pool, 'damm_v2_pools_2026-03-10T11-30-00Z.json', [dammPoolsPage]);
    // 0.995024875 SOL are 99.9999999375 USD.
    await loadRecords(store.pool, 'chain.json', [opened({ ...BUY_WITH_SOL, cycle: 995_024_875, every_s: HOUR })]);
    const list = async (min_volume_usd: number): Promise<unknown> => (await ask<Row>(store, 'lp/dca/pressure', NOW, { timeframe: '1h', min_volume_usd })).data; // prettier-ignore
    expect(await list(100)).toMatchObject({ tokens: [{ token_mint: ZED, buy_volume: 100 }] });
    await expect(list(100.000_001)).rejects.toMatchObject({ code: 'empty_result' });
  } finally {
    await store.drop();
  }
});
