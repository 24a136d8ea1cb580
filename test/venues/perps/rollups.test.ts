import fc from 'fast-check';
import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import { perps } from '../../../src/venues/perps/index';
import { testDatabase } from '../../support/database';
import { fillsOf, type RawFill } from './recount';
import { load, type TestDatabase, trader, wireFill } from './support';

const KEYS: Record<string, string> = {
  perp_trader_hour: 'trader, coin, hour',
  perp_coin_hour: 'coin, hour',
  perp_trader_day: 'trader, coin, day',
  perp_trader_life: 'trader, coin',
  perp_trader_sum: 'trader, day',
  perp_coin_day: 'coin, day',
  perp_coin_month: 'coin, month',
  perp_coin_quarter: 'coin, quarter',
  perp_coin_bar: 'coin, bar',
  perp_volume_hour: 'hour',
  perp_coin_takers: 'coin, hours, bucket',
  perp_coin_last_day: 'coin, day',
  perp_trader_drawdown: 'trader, day',
  perp_trader_coin_drawdown: 'trader, coin, day',
  perp_trader: 'trader',
  perp_round_trip: 'trader, coin, closed_at, tid, oid',
  perp_position: 'trader, coin',
};

/** Everything the rollups say; a numeric is compared as the number it is, whatever zeros it ends in. */
async function told(db: TestDatabase): Promise<Record<string, unknown[]>> {
  const all: Record<string, unknown[]> = {};
  for (const [table, key] of Object.entries(KEYS)) {
    const { rows } = await db.pool.query<Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY ${key}`);
    all[table] = rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])));
  }
  return all;
}

const plain = (value: unknown): unknown =>
  typeof value === 'string' && /^-?\d+\.\d+$/.test(value) ? value.replace(/\.?0+$/, '').replace(/^-0$/, '0') : value;

async function rebuilt(db: TestDatabase): Promise<Record<string, unknown[]>> {
  const client = await db.pool.connect();
  try {
    await client.query('BEGIN');
    await perps.rebuild?.(client);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
  return told(db);
}

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

describe('of a simulated world', () => {
  const start = new Date('2026-03-01T00:00:00Z');
  const pages = [...perpsWorld({ seed: 5, size: 6_000, start }).pages(start, new Date('2026-03-19T13:20:00Z'))];
  const blocks = pages.filter(({ format }) => format === 'ndjson').flatMap(({ records }) => records);

  test('loaded in order, then shuffled, late and twice: the same, and the same again from facts', async () => {
    for (let at = 0; at < blocks.length; at += 400) await load(db.pool, blocks.slice(at, at + 400));
    const inOrder = await told(db);
    expect(await rebuilt(db)).toEqual(inOrder);
    expect(inOrder.perp_round_trip?.length).toBeGreaterThan(500);

    const other = await testDatabase();
    try {
      const pieces = Array.from({ length: 24 }, (_, index) => blocks.filter((_, place) => place % 24 === index));
      for (const piece of [...pieces.slice(12).reverse(), ...pieces.slice(6), ...pieces.slice(0, 9)]) await load(other.pool, piece);
      const shuffled = await told(other);
      expect(shuffled).toEqual(await rebuilt(other));
      expect(shuffled).toEqual(inOrder);
    } finally {
      await other.drop();
    }
  });

  test('an account told apart from the others, newest page first', async () => {
    const fills = fillsOf(pages);
    const counts = new Map<string, RawFill[]>();
    for (const fill of fills) counts.set(fill.user, [...(counts.get(fill.user) ?? []), fill]);
    const [user, own] = [...counts].sort(([, a], [, b]) => b.length - a.length)[3] as [string, RawFill[]];
    for (let end = own.length; end > 0; end -= 40)
      await load(db.pool, [{ channel: 'userFills', data: { user, fills: own.slice(Math.max(0, end - 40), end) } }]);
    const late = await told(db);
    expect(await rebuilt(db)).toEqual(late);
    await load(db.pool, blocks);
    expect(await rebuilt(db)).toEqual(await told(db));
  });
});

interface Told {
  is_long: boolean;
  opened: boolean;
  gross: number;
  closed_at: number;
}

/** Round trips of fills in their order, the plain way. */
function tripsOf(fills: readonly { delta: number; start: number; pnl: number; time: number }[]): {
  trips: Told[];
  position: number | null;
} {
  const trips: Told[] = [];
  let open: { is_long: boolean; opened: boolean; gross: number } | null = null;
  let position: number | null = null;
  for (const { delta, start, pnl, time } of fills) {
    const closing = start !== 0 && start > 0 !== delta > 0 ? Math.min(Math.abs(start), Math.abs(delta)) : 0;
    if (closing > 0) {
      if (open === null || open.is_long !== start > 0) open = { is_long: start > 0, opened: false, gross: 0 };
      open.gross += pnl;
      if (closing === Math.abs(start)) {
        trips.push({ ...open, closed_at: time });
        open = null;
      }
    }
    if (Math.abs(delta) > closing) {
      const flat = start === 0 || closing > 0;
      if (flat || open === null || open.is_long !== delta > 0) open = { is_long: delta > 0, opened: flat, gross: 0 };
      if (closing === 0) open.gross += pnl;
    }
    position = start + delta;
  }
  return { trips, position };
}

test('any trading with gaps, loaded in any order, is told as fill by fill', async () => {
  const user = trader('7');
  let coin = 0;
  const seed = Date.now();
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          delta: fc.integer({ min: -4, max: 4 }).filter((delta) => delta !== 0),
          lost: fc.boolean(),
          wait: fc.integer({ min: 0, max: 3 }),
          pnl: fc.integer({ min: -9, max: 9 }),
        }),
        { minLength: 1, maxLength: 24 },
      ),
      fc.infiniteStream(fc.integer({ min: 0, max: 5 })),
      async (moves, parts) => {
        coin += 1;
        let [position, time] = [0, Date.UTC(2026, 0, 1)];
        const seen: { delta: number; start: number; pnl: number; time: number }[] = [];
        for (const { delta, lost, wait, pnl } of moves) {
          // Two fills of one instant are told apart by their positions; after a gap they could not be.
          time += wait === 0 && !lost ? 1 : wait * 1_200_000 + 1;
          if (!lost) seen.push({ delta, start: position, pnl: position !== 0 && position > 0 !== delta > 0 ? pnl : 0, time });
          position += delta;
        }
        const wire = seen.map(
          ({ delta, start, pnl, time: at }, index) =>
          wireFill({ coin: `C${coin}`, px: '10', sz: String(Math.abs(delta)), side: delta > 0 ? 'B' : 'A', startPosition: String(start), closedPnl: String(pnl), time: at, tid: index + 1, oid: 1 }), // prettier-ignore
        );
        const batches = Array.from({ length: 6 }, () => [] as unknown[]);
        for (const fill of wire) batches[parts.next().value as number]?.push(fill);
        for (const fills of batches.filter((batch) => batch.length > 0))
          await load(db.pool, [{ channel: 'userFills', data: { user, fills } }]);
        const { rows } = await db.pool.query<{ is_long: boolean; opened: boolean; gross: string; closed_at: Date }>(
          'SELECT is_long, opened_at IS NOT NULL AS opened, gross_pnl AS gross, closed_at FROM perp_round_trip WHERE coin = $1 ORDER BY closed_at',
          [`C${coin}`],
        );
        const expected = tripsOf(seen);
        expect(rows.map((row) => ({ ...row, gross: Number(row.gross), closed_at: row.closed_at.getTime() }))).toEqual(expected.trips);
        const held = await db.pool.query<{ size: string }>('SELECT size FROM perp_position WHERE coin = $1', [`C${coin}`]);
        expect(held.rows.map(({ size }) => Number(size))).toEqual(seen.length === 0 ? [] : [expected.position]);
      },
    ),
    { numRuns: 60, seed },
  );
  const incremental = await told(db);
  expect({ seed, told: await rebuilt(db) }).toEqual({ seed, told: incremental });
});

test('a match that comes to be known better moves between the columns of its hour, its day and its bar', async () => {
  const both = { px: '100', sz: '5', tid: 77, time: Date.UTC(2026, 0, 15, 10, 20) };
  const one = wireFill({ ...both, side: 'B', crossed: undefined });
  const other = wireFill({ ...both, side: 'A', crossed: true, liquidation: { liquidatedUser: trader('2') } });
  const figures = 'matches, volume_usd::float, bought_usd::float, sold_usd::float, undirected, liquidated_usd::float';
  const hour = async (): Promise<unknown> => {
    const { rows } = await db.pool.query(`SELECT ${figures} FROM perp_coin_hour`);
    for (const unit of ['day', 'bar']) expect((await db.pool.query(`SELECT ${figures} FROM perp_coin_${unit}`)).rows).toEqual(rows);
    return rows;
  };
  await load(db.pool, [{ channel: 'userFills', data: { user: trader('1'), fills: [one] } }]);
  expect(await hour()).toEqual([{ matches: 1, volume_usd: 500, bought_usd: 0, sold_usd: 0, undirected: 1, liquidated_usd: 0 }]);
  await load(db.pool, [{ channel: 'userFills', data: { user: trader('2'), fills: [other] } }]);
  const known = [{ matches: 1, volume_usd: 500, bought_usd: 0, sold_usd: 500, undirected: 0, liquidated_usd: 500 }];
  expect(await hour()).toEqual(known);
  await load(db.pool, [{ channel: 'userFills', data: { user: trader('1'), fills: [one] } }]);
  expect(await hour()).toEqual(known);
  expect(await rebuilt(db)).toEqual(await told(db));
});
