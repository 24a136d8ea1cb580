import type { Pool } from 'pg';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { seededRandom } from '../../../support/random';
import { rebuildPositions } from '../../../../src/venues/prediction/rollups/positions-rebuild';
import { inTransaction } from '../../../../src/db/transaction';
import { retractFills } from '../../../../src/venues/prediction/rollups/retract';
import { testDatabase } from '../../../support/database';
import { loadAtOnce } from '../../../support/world';
import { isAnyLater, listPositionsAsOf } from '../../../../src/venues/prediction/rollups/positions-as-of';
import { sqlOver } from '../../../../src/db/sql';
import { condition, loadRecords, token, wallet } from '../support';
import { NOW, iso, market, move, trade } from '../small-world';

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');

interface Page {
  name: string;
  records: unknown[];
  format: 'json' | 'ndjson' | 'csv';
}

async function contents(pool: Pool): Promise<Record<string, unknown>[]> {
  const { rows } = await pool.query<Record<string, unknown>>(
    'SELECT to_jsonb(position) AS row FROM pm_position AS position ORDER BY condition_id, wallet, token_id',
  );
  return rows.map(({ row }) => row as Record<string, unknown>);
}

async function rebuild(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await rebuildPositions(client);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}

function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const random = seededRandom(seed);
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

describe('positions of a simulated world', () => {
  const pages = [...predictionWorld({ seed: 5, size: 6_000, start }).pages(start, new Date(start.getTime() + 20 * DAY))] as Page[];

  test('kept row by row they are what all facts give, in whatever order pages come', async () => {
    const [inOrder, shaken] = await Promise.all([testDatabase(), testDatabase()]);
    try {
      for (const page of pages) await loadRecords(inOrder.pool, page.name, page.records, page.format);
      const kept = await contents(inOrder.pool);
      expect(kept.length).toBeGreaterThan(500);
      await rebuild(inOrder.pool);
      expect(await contents(inOrder.pool)).toEqual(kept);
      // Some pages come twice, late ones among them.
      for (const page of shuffled([...pages, ...pages.slice(0, 10)], 7))
        await loadRecords(shaken.pool, page.name, page.records, page.format);
      expect(await contents(shaken.pool)).toEqual(kept);
    } finally {
      await Promise.all([inOrder.drop(), shaken.drop()]);
    }
  });

  test('as of an earlier instant they are what a store that ends there has', async () => {
    const [whole, cut] = await Promise.all([testDatabase(), testDatabase()]);
    try {
      const world = predictionWorld({ seed: 6, size: 3_000, start });
      const now = new Date(start.getTime() + 11 * DAY + 12_345_000);
      await loadAtOnce(whole.pool, 'prediction', world.pages(start, new Date(now.getTime() + 4 * DAY)));
      await loadAtOnce(cut.pool, 'prediction', world.pages(start, now));
      const { rows } = await whole.pool.query<{ wallet: string }>('SELECT wallet FROM pm_wallet');
      const later = await listPositionsAsOf(sqlOver(whole), { wallets: rows.map((row) => row.wallet) }, now);
      const known = await listPositionsAsOf(sqlOver(cut), { wallets: rows.map((row) => row.wallet) }, new Date(now.getTime() + DAY * 100));
      const inOrder = (positions: typeof later): typeof later =>
        [...positions].sort((a, b) => (a.wallet + a.token_id < b.wallet + b.token_id ? -1 : 1));
      expect(inOrder(later).map((row) => ({ ...row, gain: Number(row.gain), cost: Number(row.cost) }))).toEqual(
        inOrder(known).map((row) =>
          expect.objectContaining({
            token_id: row.token_id,
            wallet: row.wallet,
            status: row.status,
            gain: Number(row.gain),
            cost: Number(row.cost),
          }),
        ),
      );
      expect(later.length).toBeGreaterThan(200);
    } finally {
      await Promise.all([whole.drop(), cut.drop()]);
    }
  });

  test('at its instant a fill has not happened yet, a resolution has; either counts as of later', async () => {
    const db = await testDatabase();
    try {
      const sql = sqlOver(db);
      const ago = (seconds: number): Date => new Date((NOW - seconds) * 1_000);
      await loadRecords(db.pool, 'trades.json', [trade(1, 2, 0, 1, 'BUY', 10, 0.5, 100)]);
      await loadRecords(db.pool, 'markets.json', [
        market(1),
        market(2, { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - 50), umaResolutionStatus: 'resolved' }),
      ]);
      expect([await isAnyLater(sql, ago(50)), await isAnyLater(sql, ago(49))]).toEqual([true, false]);
      await loadRecords(db.pool, 'trades.json', [trade(2, 1, 0, 1, 'BUY', 10, 0.5, 100), trade(3, 1, 0, 1, 'BUY', 10, 0.6, 50)]);
      const asOf = async (seconds: number): Promise<unknown[]> =>
        (await listPositionsAsOf(sql, { wallets: [wallet(1)] }, ago(seconds)))
          .map(({ token_id, status, paid_shares }) => [token_id, status, Number(paid_shares)])
          .sort();
      const [one, two] = [token(1, 0), token(2, 0)];
      expect(await asOf(50)).toEqual([[one, 'open', 10], [two, 'resolved', 10]]); // prettier-ignore
      expect(await asOf(51)).toEqual([[one, 'open', 10], [two, 'open', 10]]); // prettier-ignore
      expect(await asOf(49)).toEqual([[one, 'open', 20], [two, 'resolved', 10]]); // prettier-ignore
      await loadRecords(db.pool, 'trades.json', [trade(4, 1, 0, 2, 'BUY', 10, 0.6, 20)]);
      expect([await isAnyLater(sql, ago(20)), await isAnyLater(sql, ago(19))]).toEqual([true, false]);
      // What a conversion ties to a market that is asked for is reckoned with it, and not told.
      const group = { negRisk: true, negRiskMarketID: '0x34' };
      await loadRecords(db.pool, 'markets.json', [market(3, group), market(4, group)]);
      await loadRecords(db.pool, 'trades.json', [trade(5, 3, 1, 3, 'BUY', 10, 0.5, 10), trade(6, 3, 1, 3, 'BUY', 10, 0.5, 5)]);
      await loadRecords(db.pool, 'activity.json', [move(7, 3, 3, 'CONVERSION', 5, 0, 8)]);
      const tied = await listPositionsAsOf(sql, { condition_ids: [condition(3)] }, ago(7));
      expect(tied.map(({ condition_id, shares }) => [condition_id, Number(shares)])).toEqual([[condition(3), 5]]);
    } finally {
      await db.drop();
    }
  });

  test('pages that are loaded at the same time are counted like pages in a row', async () => {
    const db = await testDatabase();
    try {
      const some = pages.slice(0, 24);
      for (let first = 0; first < some.length; first += 6) {
        await Promise.all(some.slice(first, first + 6).map((page) => loadRecords(db.pool, page.name, page.records, page.format)));
      }
      const kept = await contents(db.pool);
      await rebuild(db.pool);
      expect(await contents(db.pool)).toEqual(kept);
    } finally {
      await db.drop();
    }
  });
});

/** Three markets of a group, told late or early, and random rows of four wallets on them; `base` keeps runs apart. */
function scramble(seed: number, base: number): { name: string; records: unknown[] }[] {
  const random = seededRandom(seed);
  const whole = (most: number): number => Math.floor(random() * most);
  const rows = Array.from({ length: 60 }, (_, index) => {
    const [n, by, ago] = [base + whole(3), base + whole(4), 60 * (1 + whole(90))];
    const id = base * 100 + index;
    const kind = whole(14);
    if (kind < 7) return { ...trade(id, n, whole(2), by, 'BUY', 1 + whole(50), (1 + whole(98)) / 100, ago), type: 'TRADE' };
    if (kind < 10) return { ...trade(id, n, whole(2), by, 'SELL', 1 + whole(20), (1 + whole(98)) / 100, ago), type: 'TRADE' };
    const size = 1 + whole(20);
    const type = ['SPLIT', 'MERGE', 'REDEEM', 'CONVERSION'][kind - 10] as string;
    return move(id, n, by, type, size, type === 'CONVERSION' ? 0 : size, ago);
  });
  const listing = (n: number, more: Record<string, unknown>): Record<string, unknown> =>
    market(n, { negRisk: true, negRiskMarketID: `0x${base}`, ...more });
  const closed = {
    closed: true,
    outcomePrices: '["0", "1"]',
    closedTime: iso(NOW - 1_800),
    updatedAt: iso(NOW - 1_700),
    umaResolutionStatus: 'resolved',
  };
  const catalogue = [
    { name: 'markets-1.json', records: [listing(base, {}), listing(base + 1, {})] },
    { name: 'markets-2.json', records: [listing(base + 2, whole(2) === 0 ? closed : {})] },
    {
      name: 'markets-3.json',
      records: [listing(base, closed), listing(base + 1, { ...closed, outcomePrices: whole(2) === 0 ? '["1", "0"]' : '["0.5", "0.5"]' })],
    },
  ];
  const feeds = Array.from({ length: 12 }, (_, index) => ({
    name: `activity-${index}.json`,
    records: rows.slice(5 * index, 5 * index + 5),
  }));
  return shuffled([...feeds, ...catalogue, ...feeds.slice(0, 2)], seed + 1);
}

test('late, repeated and tied rows, results and groups learned late: what is kept is what all facts give', async () => {
  const db = await testDatabase();
  try {
    for (let run = 0; run < 12; run += 1)
      for (const { name, records } of scramble(run, 1_000 + 10 * run)) await loadRecords(db.pool, name, records);
    const kept = await contents(db.pool);
    await rebuild(db.pool);
    expect(await contents(db.pool)).toEqual(kept);
    const { rows } = await db.pool.query<{ status: string; moved: boolean; count: number }>(
      'SELECT status, gain_conversion <> 0 OR paid_usdc > buy_usdc AS moved, count(*)::int FROM pm_position GROUP BY 1, 2',
    );
    expect(new Set(rows.map((row) => row.status))).toEqual(new Set(['open', 'closed', 'resolved', 'voided']));
    expect(rows.filter((row) => row.moved).reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(20);
  } finally {
    await db.drop();
  }
});

describe('what a conversion brought follows what is learned after it', () => {
  const listing = (n: number, more: Record<string, unknown> = {}): Record<string, unknown> =>
    market(n, { negRisk: true, negRiskMarketID: 'group', ...more });
  const alone = (n: number): Record<string, unknown> => listing(n, { negRisk: false, negRiskMarketID: undefined, updatedAt: iso(NOW) });
  const bought = trade(1, 1, 1, 1, 'BUY', 10, 0.6, 300);
  const yes = (n: number): string => token(n, 0);

  // Wallet 1 buys ten No shares of market 1 and converts them, then does no more: what else is learned, and of which tokens it then has positions.
  test.each<[string, string[], ...Record<string, unknown>[][]]>([
    ['a market of the group that is listed later', [token(1, 1), yes(3), yes(4)], [listing(4)]],
    ['one that was traded before', [token(1, 1), yes(3), yes(4)], [trade(2, 4, 0, 2, 'BUY', 5, 0.2, 400)], [listing(4)]],
    ['tokens of one that trades name later', [token(1, 1), yes(3), yes(4)], [listing(4, { clobTokenIds: null })], [0, 1].map((n) => trade(2 + n, 4, n, 2, 'BUY', 5, 0.4, 100))], // prettier-ignore
    ['a market that leaves the group', [token(1, 1)], [alone(3)]],
    ['the converted market that leaves the group', [token(1, 1)], [alone(1)]],
    ['tokens in another order', [token(1, 1), token(3, 1)], [listing(3, { clobTokenIds: [token(3, 1), yes(3)], updatedAt: iso(NOW) })]],
    ['a late row by which the shares were gone before', [token(1, 1)], [trade(3, 1, 1, 1, 'SELL', 10, 0.6, 250)]],
  ])('%s', async (_, tokens, ...learned) => {
    const db = await testDatabase();
    try {
      for (const page of [[listing(1), listing(3)], [bought], [move(9, 1, 1, 'CONVERSION', 10, 0, 200)], ...learned])
        await loadRecords(db.pool, 'page.json', page);
      const kept = await contents(db.pool);
      expect(kept.filter((row) => row.wallet === wallet(1)).map((row) => row.token_id)).toEqual(tokens);
      await rebuild(db.pool);
      expect(await contents(db.pool)).toEqual(kept);
    } finally {
      await db.drop();
    }
  });

  test('its shares taken back', async () => {
    const db = await testDatabase();
    try {
      for (const page of [[listing(1), listing(3)], [bought], [move(9, 1, 1, 'CONVERSION', 10, 0, 200)]])
        await loadRecords(db.pool, 'page.json', page);
      const at = new Date((NOW - 300) * 1_000);
      await inTransaction(db.pool, (client) => retractFills(client, { from: at, to: new Date(at.getTime() + 1_000) }));
      expect(await contents(db.pool)).toEqual([]);
    } finally {
      await db.drop();
    }
  });
});

test('a fill whose USDC another feed states later changes the position', async () => {
  const db = await testDatabase();
  try {
    await loadRecords(db.pool, 'trades.json', [trade(1, 1, 0, 1, 'BUY', 100, 0.5, 100), trade(2, 1, 0, 1, 'SELL', 50, 0.6, 50)]);
    await loadRecords(db.pool, 'activity.json', [{ ...trade(1, 1, 0, 1, 'BUY', 100, 0.5, 100), type: 'TRADE', usdcSize: 52 }]);
    const { rows } = await db.pool.query<Record<string, string>>(
      'SELECT wallet, condition_id, token_id, paid_usdc, cost, gain FROM pm_position',
    );
    expect(rows).toEqual([
      { wallet: wallet(1), condition_id: condition(1), token_id: token(1, 0), paid_usdc: '52', cost: '26', gain: '4' },
    ]);
  } finally {
    await db.drop();
  }
});

test.each([
  ['another wallet trades it', trade(4, 3, 0, 3, 'BUY', 1, 0.5, 90)],
  ['the row that bought it comes again', trade(1, 3, 0, 1, 'BUY', 100, 0.5, 100)],
])('a token that no row named, of a market that tells none, is paid and part of a set once %s', async (_, naming) => {
  const db = await testDatabase();
  try {
    const resolved = { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - 60), umaResolutionStatus: 'resolved' };
    await loadRecords(db.pool, 'markets.json', [{ ...market(3, resolved), clobTokenIds: undefined }]);
    await loadRecords(db.pool, 'trades-1.json', [{ ...trade(1, 3, 0, 1, 'BUY', 100, 0.5, 100), outcome: '', outcomeIndex: undefined }]);
    await loadRecords(db.pool, 'activity.json', [move(2, 3, 2, 'SPLIT', 10, 10, 80)]);
    const paid = async (): Promise<string[]> =>
      (await contents(db.pool)).filter((row) => row.wallet !== wallet(3)).map((row) => `${String(row.status)} ${String(row.gain)}`);
    expect(await paid()).toEqual(['open 0']);
    await loadRecords(db.pool, 'trades-2.json', [naming]);
    expect(await paid()).toEqual(['resolved 50', 'resolved 0']);
    const kept = await contents(db.pool);
    await rebuild(db.pool);
    expect(await contents(db.pool)).toEqual(kept);
  } finally {
    await db.drop();
  }
});

test('rows that came before what they are about: a set of unknown tokens, a redemption before its purchase', async () => {
  const db = await testDatabase();
  try {
    await loadRecords(db.pool, 'activity-1.json', [move(1, 4, 1, 'SPLIT', 10, 10, 100)]);
    await loadRecords(db.pool, 'trades-1.json', [trade(2, 4, 0, 2, 'BUY', 5, 0.7, 90)]);
    await loadRecords(db.pool, 'trades-2.json', [trade(3, 4, 1, 2, 'BUY', 5, 0.3, 80)]);
    const closed = { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - 60), umaResolutionStatus: 'resolved' };
    await loadRecords(db.pool, 'markets.json', [market(3, closed)]);
    await loadRecords(db.pool, 'activity-2.json', [move(4, 3, 1, 'REDEEM', 10, 10, 20)]);
    await loadRecords(db.pool, 'trades-3.json', [trade(5, 3, 0, 1, 'BUY', 10, 0.5, 500)]);
    const { rows } = await db.pool.query(
      'SELECT token_id, shares, cost, redeemed_shares, status FROM pm_position WHERE wallet = $1 ORDER BY token_id',
      [wallet(1)],
    );
    expect(rows).toEqual([
      { token_id: token(3, 0), shares: '10', cost: '10', redeemed_shares: '10', status: 'resolved' },
      { token_id: token(4, 0), shares: '10', cost: '5', redeemed_shares: '0', status: 'open' },
      { token_id: token(4, 1), shares: '10', cost: '5', redeemed_shares: '0', status: 'open' },
    ]);
  } finally {
    await db.drop();
  }
});
