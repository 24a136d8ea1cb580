import { type TestDatabase, testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { key, named, u128, u64, u8, type WrittenEvent } from '../chain-writer';
import { loadRecords } from '../load';
import {
  ANNA,
  BEN,
  CARA,
  damm,
  dammPoolsPage,
  dlmmPoolsPage,
  inSlot,
  liquidity,
  liquidityChange,
  positionClose,
  positionCreate,
  SOL_USDC,
  tx,
  ZED_SOL,
} from '../pages';

// Positions of damm_v2 pools change hands without an event: each belongs to the owner of its newest one, as of the instant of the answer.

const NOW = new Date('2026-03-02T00:00:00Z');
const POSITION = named('moved position');
const claim = (owner: string): WrittenEvent => damm('EvtClaimPositionFee', key(ZED_SOL), key(POSITION), key(owner), u64(1), u64(1));
const change = (owner: string, type: 0 | 1): WrittenEvent => liquidityChange(ZED_SOL, POSITION, owner, 1_000_000, 1_000_000, type);

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

const load = (...records: unknown[]) => loadRecords(db.pool, 'transactions.ndjson', records, 'ndjson');
const holders = async (now = NOW): Promise<string[]> =>
  (await ask<{ owner: string }[]>(db, 'lp/positions/active', now, { pool_address: ZED_SOL })).data.map(({ owner }) => owner);
const openOf = async (owner: string, now: Date): Promise<unknown> =>
  (await ask<{ summary: { open_positions: number } }>(db, 'lp/lps/profile', now, { owner })).data.summary.open_positions;

test('of owners in one second the one whose event stands last on the chain holds the position, in whatever order they are read', async () => {
  const first = tx('deposit', '2026-03-01T00:00:00Z', ANNA, change(ANNA, 0));
  const [x, y] = ['claim of ben', 'claim of cara'].map((name, n) => tx(name, '2026-03-01T00:10:00Z', ANNA, claim(n === 0 ? BEN : CARA)));
  const told: string[][] = [];
  for (const order of [
    [first, x, y],
    [y, x, first],
    [x, first, y],
  ]) {
    await db.pool.query('TRUNCATE lp_event, lp_position, lp_position_sum, lp_owner_result');
    for (const record of order) await load(record);
    told.push(await holders());
  }
  expect(told).toEqual(Array(3).fill(told[0]));
  await load(tx('both', '2026-03-01T00:20:00Z', ANNA, change(CARA, 0), change(BEN, 0), change(ANNA, 0)));
  expect(await holders()).toEqual([ANNA]);
});

test('a position that moved after the instant of the answer is still whose it was', async () => {
  const then = new Date('2026-03-01T00:05:00Z');
  await load(
    tx('deposit', '2026-03-01T00:00:00Z', ANNA, change(ANNA, 0)),
    tx('before', '2026-03-01T00:01:00Z', BEN, change(BEN, 0)),
    tx('claim', '2026-03-01T00:10:00Z', ANNA, claim(ANNA)),
  );
  expect(await holders(then)).toEqual([BEN]);
  expect(await holders()).toEqual([ANNA]);
  expect([await openOf(ANNA, then), await openOf(BEN, then)]).toEqual([0, 1]);
  expect([await openOf(ANNA, NOW), await openOf(BEN, NOW)]).toEqual([1, 0]);
  const history = (owner: string, now: Date): Promise<unknown> =>
    ask<{ summary: { owner: string } }>(db, 'lp/positions/history', now, { owner, pool_address: ZED_SOL }).then(
      ({ data }) => data.summary.owner,
      (error: { originalError?: { code: string }; code: string }) => (error.originalError ?? error).code,
    );
  expect([await history(ANNA, then), await history(BEN, then)]).toEqual(['not_found', BEN]);
  expect([await history(ANNA, NOW), await history(BEN, NOW)]).toEqual([ANNA, 'not_found']);
});

test('nor is it yet the position of whoever claims a reward after that instant, which is no event of it', async () => {
  const reward = damm('EvtClaimReward', key(ZED_SOL), key(POSITION), key(BEN), key(named('reward mint')), u8(0), u64(5));
  await load(tx('deposit', '2026-03-01T00:00:00Z', ANNA, change(ANNA, 0)), tx('reward', '2026-03-01T00:10:00Z', BEN, reward));
  const then = new Date('2026-03-01T00:05:00Z');
  expect([await holders(then), await holders(new Date('2026-03-01T00:10:01Z')), await holders()]).toEqual([[ANNA], [BEN], [BEN]]);
  expect([await openOf(ANNA, then), await openOf(ANNA, NOW)]).toEqual([1, 0]);
});

test('a position that was emptied stays whose it was then, whoever claims its last fees', async () => {
  await load(
    tx('deposit', '2026-03-01T00:00:00Z', ANNA, change(ANNA, 0)),
    tx('withdraw', '2026-03-01T00:01:00Z', ANNA, liquidityChange(ZED_SOL, POSITION, ANNA, 1_000_000, 1_000_000, 1)),
    tx('claim', '2026-03-01T00:10:00Z', BEN, claim(BEN)),
  );
  const of = async (owner: string): Promise<unknown> =>
    (await ask<{ summary: { closed_positions: number } }>(db, 'lp/lps/profile', NOW, { owner })).data.summary.closed_positions;
  expect([await of(ANNA), await of(BEN)]).toEqual([1, 0]);
});

test.each([300_000_000, 300_000_123])(
  'in slot %i a position is whose it was at the close, and of owners in one transaction the last one’s',
  async (slot) => {
    const closed = damm('EvtClosePosition', key(ZED_SOL), key(BEN), key(POSITION), key(named('nft')));
    await load(
      tx('deposit', '2026-03-01T00:00:00Z', ANNA, change(ANNA, 0)),
      tx('withdraw', '2026-03-01T00:01:00Z', ANNA, liquidityChange(ZED_SOL, POSITION, ANNA, 1_000_000, 1_000_000, 1)),
      inSlot(slot, tx('close', '2026-03-01T00:10:00Z', BEN, closed)),
    );
    const closedOf = async (owner: string): Promise<unknown> =>
    (await ask<{ summary: { closed_positions: number } }>(db, 'lp/lps/profile', NOW, { owner }).then(({ data }) => data.summary.closed_positions, () => 0)); // prettier-ignore
    expect(await closedOf(ANNA)).toBe(0);
    expect(
      (await ask<{ summary: { owner: string } }>(db, 'lp/positions/history', NOW, { position_address: POSITION })).data.summary.owner,
    ).toBe(BEN);
    const orders = [
      [ANNA, BEN, CARA],
      [CARA, BEN, ANNA],
      [ANNA, CARA, BEN],
    ];
    for (const [n, owners] of orders.entries()) {
      await load(inSlot(slot, tx(`order ${n}`, `2026-03-01T01:0${n}:00Z`, ANNA, ...owners.map((owner) => change(owner, 0)))));
      expect(await holders()).toEqual([owners[2]]);
    }
  },
);

test('whose an emptied position was does not depend on what is told of it after the instant of the answer', async () => {
  const then = new Date('2026-03-01T00:05:00Z');
  await load(
    tx('deposit', '2026-03-01T00:00:00Z', ANNA, change(ANNA, 0)),
    tx('withdraw', '2026-03-01T00:01:00Z', ANNA, liquidityChange(ZED_SOL, POSITION, ANNA, 1_000_000, 1_000_000, 1), claim(BEN)),
  );
  const of = async (owner: string): Promise<unknown> =>
    (await ask<{ summary: { closed_positions: number } }>(db, 'lp/lps/profile', then, { owner })).data.summary.closed_positions;
  expect([await of(ANNA), await of(BEN)]).toEqual([1, 0]);
  await load(tx('later', '2026-03-01T00:10:00Z', CARA, claim(CARA)));
  expect([await of(ANNA), await of(BEN)]).toEqual([1, 0]);
});

describe('a position that hands a part of its liquidity over to another', () => {
  const [GIVER, TAKER] = [named('giving position'), named('taking position')];
  const between = (giver: string, taker: string): Buffer[] => [key(ZED_SOL), key(ANNA), key(BEN), key(giver), key(taker), u128(1)];
  const positions = between(GIVER, TAKER);
  const rest = [u64(1), u64(2), u64(0), u64(0)];
  /** As program versions since 0.1.8 tell it: in two forms. */
  const split = (unlocked: number, locked: number, vested: number): WrittenEvent[] => [
    { ...damm('EvtSplitPosition2', ...positions, u128(locked), u128(unlocked), ...rest, Buffer.alloc(120)), outer: 1 },
    { ...damm('EvtSplitPosition3', ...positions, u128(locked), u128(unlocked), u128(vested), ...rest, Buffer.alloc(188)), outer: 1 },
  ];
  const made = (position: string, owner: string): WrittenEvent =>
    damm('EvtCreatePosition', key(ZED_SOL), key(owner), key(position), key(named('nft')));
  const changed = (position: string, owner: string, amount: number, type: 0 | 1): WrittenEvent =>
    liquidityChange(ZED_SOL, position, owner, amount, amount, type, [0, 0], amount);
  const closed = (position: string, owner: string): WrittenEvent =>
    damm('EvtClosePosition', key(ZED_SOL), key(owner), key(position), key(named('nft')));
  const rows = async (text: string): Promise<unknown[]> => (await db.pool.query<Record<string, unknown>>(text)).rows;

  test('and both are closed: what they came to is unknown, no loss of the one and no gain of the other', async () => {
    await loadRecords(db.pool, 'damm_v2_pools_2026-03-01T00-00-00Z.json', [dammPoolsPage]);
    const report = await load(
      tx('made', '2026-03-01T00:00:00Z', ANNA, made(GIVER, ANNA), changed(GIVER, ANNA, 1_000_000, 0)),
      tx('taken', '2026-03-01T00:01:00Z', BEN, made(TAKER, BEN), changed(TAKER, BEN, 10_000, 0)),
      tx('split', '2026-03-01T00:02:00Z', ANNA, ...split(300_000, 100_000, 200_000)),
      tx('given', '2026-03-01T00:03:00Z', ANNA, changed(GIVER, ANNA, 400_000, 1), closed(GIVER, ANNA)),
      tx('taken out', '2026-03-01T00:04:00Z', BEN, changed(TAKER, BEN, 610_000, 1)),
    );
    expect(report).toMatchObject({ inserted: 9, skipped: {} });
    expect(
      await rows(
        `SELECT position_address, kind, owner, raw_x, usd, liquidity_delta FROM lp_event WHERE "timestamp" = '2026-03-01T00:02:00Z' ORDER BY kind`,
      ),
    ).toEqual([
      { position_address: TAKER, kind: 'deposit', owner: BEN, raw_x: null, usd: null, liquidity_delta: '600000' },
      { position_address: GIVER, kind: 'withdraw', owner: ANNA, raw_x: null, usd: null, liquidity_delta: '-600000' },
    ]);
    for (const owner of [ANNA, BEN]) {
      const { data, meta } = await ask<{ events: { event_type: string; usd_total: number | null; amount_a: number | null }[]; summary: Record<string, unknown> }>(
        db, 'lp/positions/history', NOW, { owner, pool_address: ZED_SOL },
      ); // prettier-ignore
      expect(data.summary).toMatchObject({ status: 'closed', realized_pnl_usd: null, realized_pnl_pct: null, il_usd: null });
      expect(data.events.map(({ event_type, usd_total, amount_a }) => [event_type, usd_total === null, amount_a === null])).toEqual([
        ['add_liquidity', false, false],
        [owner === ANNA ? 'remove_liquidity' : 'add_liquidity', true, true],
        ['remove_liquidity', false, false],
      ]);
      expect(meta.warnings.join()).toContain('1');
    }
  });

  test('whole, is closed; the other is open, be it that nothing else was put in', async () => {
    await load(
      tx('made', '2026-03-01T00:00:00Z', ANNA, changed(GIVER, ANNA, 1_000_000, 0)),
      tx('split', '2026-03-01T00:02:00Z', ANNA, ...split(0, 1_000_000, 0)),
    );
    expect(await holders()).toEqual([BEN]);
    expect(await rows('SELECT position_address, closed_at::text FROM lp_position_sum WHERE closed_at IS NOT NULL')).toEqual([
      { position_address: GIVER, closed_at: '2026-03-01 00:02:00+00' },
    ]);
  });

  test('or to itself, which no program allows, is no event', async () => {
    const itself = damm('EvtSplitPosition3', ...between(GIVER, GIVER), u128(1), u128(1), u128(1), ...rest, Buffer.alloc(188));
    expect(await load(tx('split', '2026-03-01T00:02:00Z', ANNA, itself))).toMatchObject({ inserted: 0, skipped: { no_event: 1 } });
  });

  test('of which nothing but fees goes over, is no event', async () => {
    expect(await load(tx('split', '2026-03-01T00:02:00Z', ANNA, ...split(0, 0, 0)))).toMatchObject({
      inserted: 0,
      skipped: { no_event: 1 },
    });
  });
});

test('a position that was closed, and closed again after the instant of the answer, is closed', async () => {
  await loadRecords(db.pool, 'pools.json', [dlmmPoolsPage]);
  const position = named('reopened position');
  const opened = (name: string, at: string): unknown =>
    tx(name, at, ANNA, positionCreate(SOL_USDC, position, ANNA), liquidity('AddLiquidity', SOL_USDC, ANNA, position, 0, 1_000_000, 0));
  const closed = (name: string, at: string): unknown => tx(name, at, ANNA, positionClose(position, ANNA));
  await load(
    opened('first', '2026-03-01T00:00:00Z'),
    closed('close', '2026-03-01T01:00:00Z'),
    opened('again', '2026-03-01T03:00:00Z'),
    closed('close again', '2026-03-01T04:00:00Z'),
  );
  const told = async (at: string): Promise<unknown> => {
    const { data } = await ask<{ summary: Record<string, unknown> }>(db, 'lp/positions/history', new Date(at), {
      position_address: position,
    });
    return [data.summary.status, data.summary.closed_at];
  };
  expect(await told('2026-03-01T02:00:00Z')).toEqual(['closed', '2026-03-01T01:00:00Z']);
  expect(await told('2026-03-01T03:30:00Z')).toEqual(['open', null]);
  expect(await told('2026-03-01T05:00:00Z')).toEqual(['closed', '2026-03-01T04:00:00Z']);
});
