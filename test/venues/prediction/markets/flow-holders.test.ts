import { sqlOver } from '../../../../src/db/sql';
import { DAY_MS } from '../../../../src/lib/time';
import { listSmartHolders } from '../../../../src/venues/prediction/queries/market-holders';
import { listPositionsAsOf } from '../../../../src/venues/prediction/rollups/positions-as-of';
import { testDatabase } from '../../../support/database';
import { seededRandom } from '../../../support/random';
import { NOW, iso, market, move, now, trade } from '../small-world';
import { condition, loadRecords, token, wallet } from '../support';
import { call } from './call';

/** Smart holders at the ends of a window are those whose positions hold shares as of then: conversions, sales of shares nobody saw come, and redemptions included. */

type Row = Record<string, unknown>;
type Database = Awaited<ReturnType<typeof testDatabase>>;

const [HOUR, DAY] = [3_600, 86_400];
const SIDES = ['BUY', 'SELL', 'REDEEM', 'SPLIT', 'MERGE', 'CONVERSION'];

const score = (db: Database, day: string, by: number, value: number): Promise<unknown> =>
  db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, $2, $3, '{}', 'test')", [wallet(by), day, value]); // prettier-ignore

describe('by hand', () => {
  let db: Database;
  beforeAll(async () => {
    db = await testDatabase();
    await loadRecords(db.pool, 'markets.json', [81, 82].map((n) => market(n, { negRisk: true, negRiskMarketID: 'group' }))); // prettier-ignore
    await loadRecords(db.pool, 'trades.json', [
      ...[701, 702, 703].map((by, k) => trade(1 + k, 81, 1, by, 'BUY', 10, 0.7, 10 * DAY)),
      trade(7, 81, 1, 707, 'BUY', 10, 0.7, DAY),
      // Nobody saw the hundred shares come that these sold, before the window and within it; 706 held none.
      trade(11, 82, 0, 704, 'SELL', 100, 0.3, 10 * DAY),
      trade(12, 82, 0, 704, 'BUY', 10, 0.3, 9 * DAY),
      trade(13, 82, 0, 705, 'BUY', 10, 0.3, 8 * DAY),
      trade(14, 82, 0, 705, 'SELL', 100, 0.3, 3 * DAY),
      trade(16, 82, 0, 706, 'BUY', 10, 0.3, 9 * DAY),
      trade(17, 82, 0, 706, 'SELL', 10, 0.3, 8 * DAY),
      trade(18, 82, 0, 706, 'SELL', 100, 0.3, 2 * DAY),
      trade(15, 82, 0, 705, 'BUY', 5, 0.3, 2 * DAY),
    ]);
    const converted = [9 * DAY, 2 * DAY, -HOUR].map((ago, k) => move(21 + k, 81, 701 + k, 'CONVERSION', 10, 0, ago));
    await loadRecords(db.pool, 'activity.json', converted);
    for (const by of [701, 702, 703, 704, 705, 706, 707]) await score(db, '2026-03-01', by, 70);
  });
  afterAll(() => db.drop());

  test('who converted before, within and after the window, and who sold shares that nobody saw it buy', async () => {
    const holders = async (n: number): Promise<unknown> => {
      const { data } = await call<{ by_outcome: Row[] }>(db, 'markets/smart-flow', now, { condition_id: condition(n) });
      return data.by_outcome.map((row) => [row.holders_start, row.holders_end]);
    };
    // No of 81: 702 and 703, then 703 and 707. Yes of 82: 701, 704 and 705, then 702 as well.
    expect(await holders(81)).toEqual([[0, 0], [2, 2]]); // prettier-ignore
    expect(await holders(82)).toEqual([[3, 4], [0, 0]]); // prettier-ignore
  });
});

describe.each([3, 4, 5])('histories drawn at random, seed %i', (seed) => {
  const MARKETS = [1, 3, 4];
  let db: Database;
  beforeAll(async () => {
    db = await testDatabase();
    const draw = seededRandom(seed);
    const below = (n: number): number => Math.floor(draw() * n);
    const over = { closed: true, umaResolutionStatus: 'resolved' };
    await loadRecords(db.pool, 'markets.json', [
      market(1, { negRisk: true, negRiskMarketID: 'group' }),
      market(3, { negRisk: true, negRiskMarketID: 'group', ...over, outcomePrices: '["1", "0"]', closedTime: iso(NOW - 4 * DAY) }),
      market(4, { ...over, outcomePrices: '["0.5", "0.5"]', closedTime: iso(NOW - 3 * DAY) }),
    ]);
    const rows = Array.from({ length: 700 }, (_, n) => {
      const [on, by, ago, size] = [MARKETS[below(3)] as number, 1 + below(40), below(12 * DAY), 1 + below(9)];
      const side = SIDES[draw() < 0.3 ? 0 : below(SIDES.length)] as string;
      // Most have bought what they give away.
      if (side === 'BUY' || side === 'SELL')
        return trade(n, on, below(2), by, side, side === 'BUY' ? 3 * size : size, 0.2 + below(60) / 100, ago);
      return move(n, on, by, side, size, side === 'CONVERSION' ? 0 : size, ago);
    });
    await loadRecords(db.pool, 'trades.json', rows.filter((row) => !('type' in row))); // prettier-ignore
    await loadRecords(db.pool, 'activity.json', rows.filter((row) => 'type' in row)); // prettier-ignore
    for (let by = 1; by <= 38; by++) await score(db, '2026-03-01', by, 52 + by);
  });
  afterAll(() => db.drop());

  test('at both ends of any window they are those of positions as of then, whatever the store holds of later', async () => {
    const sql = sqlOver(db);
    const smart = new Set(Array.from({ length: 31 }, (_, k) => wallet(8 + k)));
    const held = async (n: number, at: Date): Promise<number[]> => {
      const positions = await listPositionsAsOf(sql, { condition_ids: [condition(n)] }, at);
      const holding = positions.filter((own) => smart.has(own.wallet) && Number(own.shares) > Number(own.redeemed_shares));
      return [0, 1].map((outcome) => holding.filter((own) => own.token_id === token(n, outcome)).length);
    };
    const draw = seededRandom(seed + 100);
    // Markets 3 and 4 are resolved four and three days ago, to the second.
    const instants = [0, 3 * DAY_MS, 3 * DAY_MS - 1, 4 * DAY_MS, ...Array.from({ length: 10 }, () => Math.floor(draw() * 13 * DAY_MS))];
    const sorted = instants.sort((a, b) => b - a).map((ago) => new Date(now.getTime() - ago));
    const seen = new Set<number>();
    for (const n of MARKETS) {
      const known = await db.prisma.pm_market.findUniqueOrThrow({ where: { condition_id: condition(n) } });
      const truth = await Promise.all(sorted.map((at) => held(n, at)));
      for (let first = 0; first < sorted.length; first++)
        for (const last of [first, first + 3, sorted.length - 1].filter((place) => place < sorted.length)) {
          const window = { from: sorted[first] as Date, to: sorted[last] as Date };
          const rows = await listSmartHolders(sql, known, window, { start_day: '2026-03-01', end_day: '2026-03-01', min_score: 60 });
          const told = [0, 1].map((outcome) => rows.find((row) => row.token_id === token(n, outcome)));
          expect([n, window, told.map((row) => row?.holders_start ?? 0), told.map((row) => row?.holders_end ?? 0)]).toEqual([n, window, truth[first], truth[last]]); // prettier-ignore
          for (const count of truth[last] as number[]) seen.add(count);
        }
    }
    expect(seen.size).toBeGreaterThan(4);
  });
});
