import { type TestDatabase, testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { key, named, u64, type WrittenEvent } from '../chain-writer';
import { loadRecords } from '../load';
import {
  ANNA,
  BEN,
  CARA,
  damm,
  dlmmPoolsPage,
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
