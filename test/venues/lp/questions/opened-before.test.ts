import { testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { named } from '../chain-writer';
import { loadRecords } from '../load';
import {
  dammPoolsPage,
  dlmmPoolsPage,
  history,
  liquidity,
  liquidityChange,
  pairs,
  positionClose,
  rebalancing,
  SOL_USDC,
  tx,
  ZED_SOL,
  ZED_USDC,
} from '../pages';

// Positions of which the first fact on record was not the first: what they cost nobody knows, and so not what they came to.

const NOW = new Date('2026-03-10T12:30:00Z');
const [FIRST, LAST] = ['2026-03-05T10:00:00Z', '2026-03-06T10:00:00Z'];

type Row = Record<string, unknown>;
type Move = [type: 'add' | 'remove' | 'claim_fee', usd: number];
let db: Awaited<ReturnType<typeof testDatabase>>;

const positionOf = (name: string): string => named(`position ${name}`);
const ownerOf = (name: string): string => named(`owner ${name}`);

/** One transaction of a position, its parts in their order, as the index tells it. */
const moved = (name: string, at: string, ...moves: Move[]): Row =>
  history(
    ...moves.map(([type, usd], i) => ({
      tx: `${name} ${at}`,
      at,
      type,
      pool: SOL_USDC,
      position: positionOf(name),
      owner: ownerOf(name),
      x: '0',
      y: String(usd),
      usdX: '0',
      usdY: String(usd),
      ix: i + 1,
    })),
  );

const closed = (name: string): Row => tx(`close ${name}`, LAST, ownerOf(name), positionClose(positionOf(name), ownerOf(name)));

const dollars = (usd: number): number => usd * 1_000_000;

/** A rebalance, and a withdrawal of all with the close, as the chain tells them. */
const rebalanced = (name: string, out: number, into: number, end: number): Row[] => {
  const [position, owner] = [positionOf(name), ownerOf(name)];
  return [
    tx(`re ${name}`, FIRST, owner, rebalancing(SOL_USDC, position, owner, 0, [0, 0, dollars(out), dollars(into), 0, 0])),
    tx(
      `end ${name}`,
      LAST,
      owner,
      liquidity('RemoveLiquidity', SOL_USDC, owner, position, 0, dollars(end), 0),
      positionClose(position, owner),
    ),
  ];
};

/** A deposit and a withdrawal of so much liquidity in a pool of the other type, of ten ZED each. */
const changed = (name: string, into: number, out: number): Row[] =>
  (
    [
      [FIRST, 0, into],
      [LAST, 1, out],
    ] as const
  ).map(([at, type, delta]) =>
    tx(`${name} ${at}`, at, ownerOf(name), liquidityChange(ZED_SOL, positionOf(name), ownerOf(name), 10_000_000, 0, type, [0, 0], delta)),
  );

beforeAll(async () => {
  db = await testDatabase();
  await loadRecords(db.pool, 'pools.json', [dlmmPoolsPage]);
  for (const at of [FIRST, LAST]) await loadRecords(db.pool, `damm_${at.replaceAll(':', '-')}.json`, [dammPoolsPage]);
  await loadRecords(db.pool, 'histories.json', [
    moved('put anew', FIRST, ['remove', 1000], ['add', 1000]),
    moved('put anew', LAST, ['remove', 1050]),
    moved('compounded', FIRST, ['claim_fee', 50], ['add', 50]),
    moved('compounded', LAST, ['remove', 1050]),
    moved('left', FIRST, ['remove', 1000]),
    moved('left', '2026-03-05T12:00:00Z', ['add', 500]),
    moved('left', LAST, ['remove', 450]),
    moved('claimed', FIRST, ['claim_fee', 9]),
    moved('brief', FIRST, ['add', 1000], ['claim_fee', 5], ['remove', 1010]),
  ]);
  await loadRecords(db.pool, 'chain.json', [
    ...['put anew', 'compounded', 'left', 'claimed'].map(closed),
    ...rebalanced('rebalanced', 1000, 1001, 1050),
    ...rebalanced('begun by one', 0, 1000, 990),
    ...changed('more out', 100, 1100),
    ...changed('all out', 100, 100),
  ]);
});
afterAll(() => db.drop());

async function summaryOf(name: string): Promise<Row> {
  const { data } = await ask<{ summary: Row }>(db, 'lp/positions/history', NOW, { position_address: positionOf(name) });
  return data.summary;
}

const UNKNOWN = {
  status: 'closed',
  opened_at: null,
  hold_hours: null,
  realized_pnl_usd: null,
  realized_pnl_pct: null,
  hodl_value_usd: null,
  il_usd: null,
};

test.each(['put anew', 'compounded', 'left', 'claimed', 'rebalanced', 'more out'])(
  'a position that was there before has no known result: %s',
  async (name) => {
    expect(await summaryOf(name)).toMatchObject(UNKNOWN);
    const { data } = await ask<{ summary: Row; pool_breakdown: Row[] }>(db, 'lp/lps/profile', NOW, { owner: ownerOf(name) });
    expect(data.summary).toMatchObject({ closed_positions: 1, realized_pnl_usd: null, win_rate: null, avg_hold_hours: null });
    expect(data.pool_breakdown).toMatchObject([{ status: 'closed', realized_pnl_usd: null, il_usd: null }]);
  },
);

test('what begins with a deposit is as old as that, whatever follows in its second', async () => {
  const known = { status: 'closed', opened_at: FIRST };
  expect(await summaryOf('brief')).toMatchObject({ ...known, closed_at: FIRST, realized_pnl_usd: 15, hodl_value_usd: 1000, il_usd: 10 });
  expect(await summaryOf('begun by one')).toMatchObject({ ...known, hold_hours: 24, realized_pnl_usd: -10, il_usd: -10 });
  expect(await summaryOf('all out')).toMatchObject({ ...known, hold_hours: 24, realized_pnl_usd: 0, il_usd: 0 });
});

test('an address that was a position of one pool and is one of another: told apart, the last first', async () => {
  await loadRecords(db.pool, 'pairs.json', pairs);
  const [position, owner] = [positionOf('twice'), ownerOf('twice')];
  const part = (at: string, type: 'add' | 'remove', pool: string, usd: string): Row =>
    history({ tx: `twice ${at}`, at, type, pool, position, owner, x: '0', y: usd, usdX: '0', usdY: usd });
  await loadRecords(db.pool, 'histories.json', [
    part(FIRST, 'add', SOL_USDC, '100'),
    part('2026-03-05T12:00:00Z', 'remove', SOL_USDC, '120'),
    part(LAST, 'add', ZED_USDC, '70'),
  ]);
  const told = async (variables: Row): Promise<unknown[]> => {
    const { data } = await ask<{ events: Row[]; summary: Row }>(db, 'lp/positions/history', NOW, variables);
    const { pool_address, status, deposited_usd, realized_pnl_usd } = data.summary;
    return [pool_address, status, deposited_usd, realized_pnl_usd, data.events.map((row) => [row.PoolAddress, row.CumulativeNetUsd])];
  };
  const before = [SOL_USDC, 'closed', 100, 20, [[SOL_USDC, 100], [SOL_USDC, -20]]]; // prettier-ignore
  expect(await told({ position_address: position })).toEqual([ZED_USDC, 'open', 70, null, [[ZED_USDC, 70]]]);
  expect(await told({ position_address: position, pool_address: SOL_USDC })).toEqual(before);
  expect(await told({ owner, pool_address: SOL_USDC })).toEqual(before);
});
