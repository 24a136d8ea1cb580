import { type PredictionWorld, predictionWorld } from '../../../src/sandbox/simulator/prediction';
import type { WorldPage } from '../../../src/sandbox/simulator/world';
import { endpointNamed } from '../../support/catalogue';
import { testDatabase } from '../../support/database';
import { ask } from '../../venues/prediction/ask';
import { loadRecords } from '../../venues/prediction/support';

const DAY = 86_400_000;
const start = new Date('2026-01-05T07:00:00.250Z');
const at = (ms: number): Date => new Date(start.getTime() + ms);
const worldOf = (size: number, seed = 7): PredictionWorld => predictionWorld({ seed, size, start });

/** What graphql/endpoints gives as the sample market. */
const SAMPLE_MARKET = endpointNamed('markets/trades').parameters[0]?.sample;

type Row = {
  proxyWallet: string;
  conditionId: string;
  side: string;
  type?: string;
  outcomeIndex: number;
  size: number;
  price: number;
  usdcSize?: number;
  timestamp: number;
  transactionHash: string;
};

/** Facts of some pages, told by content and number among equals, in no order. */
function factsOf(pages: Iterable<WorldPage>): string[] {
  const facts: string[] = [];
  for (const page of pages) facts.push(...page.records.map((record) => JSON.stringify(record)));
  return facts.sort();
}

function rowsOf(world: PredictionWorld, from: Date, to: Date): Row[] {
  return [...world.pages(from, to)]
    .filter((page) => !page.name.startsWith('markets'))
    .flatMap((page) => page.records as Row[])
    .sort((a, b) => a.timestamp - b.timestamp);
}

describe('the pretended prediction market', () => {
  test('tells the same whenever and in whatever pieces it is asked', () => {
    const whole = factsOf(worldOf(3_000).pages(at(0), at(20 * DAY)));
    const again = worldOf(3_000);
    expect(factsOf(again.pages(at(0), at(20 * DAY)))).toEqual(whole);
    expect(factsOf(again.pages(at(0), at(20 * DAY)))).toEqual(whole);
    const cuts = [0, 3_700, 40_000, DAY, DAY + 1, 3.3 * DAY, 9 * DAY, 19.99 * DAY, 20 * DAY];
    const world = worldOf(3_000);
    const parts = cuts.slice(1).flatMap((cut, index) => [...world.pages(at(cuts[index] as number), at(cut))]);
    expect(factsOf(parts)).toEqual(whole);
    // Entered in the middle, by a world that was never asked before.
    expect(factsOf([...worldOf(3_000).pages(at(9 * DAY), at(20 * DAY)), ...worldOf(3_000).pages(at(0), at(9 * DAY))])).toEqual(whole);
    expect(factsOf(worldOf(3_000, 8).pages(at(0), at(20 * DAY)))).not.toEqual(whole);
  });

  test('is about as large as asked, and goes on', () => {
    const world = worldOf(30_000);
    const facts = [...world.pages(at(0), at(30 * DAY))].reduce((sum, page) => sum + page.facts, 0);
    expect(facts).toBeGreaterThan(24_000);
    expect(facts).toBeLessThan(36_000);
    let told = 0;
    for (let tick = 0; tick < 500; tick += 1)
      told += factsOf(world.pages(at(30 * DAY + tick * 4_000), at(30 * DAY + (tick + 1) * 4_000))).length;
    expect(told).toBeGreaterThan(5);
  });

  test('economics hold: nobody sells what he has not, payouts are owed, prices are prices', () => {
    const rows = rowsOf(worldOf(6_000), at(0), at(80 * DAY));
    const held = new Map<string, [number, number]>();
    const cents = (size: number): number => Math.round(size * 100);
    const order = { BUY: 0, SPLIT: 0, SELL: 1, MERGE: 1, REDEEM: 2 } as Record<string, number>;
    const kindOf = (row: Row): string => (row.type === undefined || row.type === 'TRADE' ? row.side : row.type);
    rows.sort((a, b) => a.timestamp - b.timestamp || (order[kindOf(a)] as number) - (order[kindOf(b)] as number));
    for (const row of rows) {
      const key = `${row.proxyWallet} ${row.conditionId}`;
      const own = held.get(key) ?? [0, 0];
      held.set(key, own);
      const place = row.outcomeIndex as 0 | 1;
      if (kindOf(row) === 'BUY' || kindOf(row) === 'SELL') {
        expect(row.price).toBeGreaterThan(0);
        expect(row.price).toBeLessThan(1);
        own[place] += kindOf(row) === 'BUY' ? cents(row.size) : -cents(row.size);
      } else if (kindOf(row) === 'REDEEM') {
        const payable = row.usdcSize === row.size ? Math.max(own[0], own[1]) : own[0] + own[1];
        expect(cents(row.size)).toBeLessThanOrEqual(payable);
      } else {
        for (const side of [0, 1] as const) own[side] += kindOf(row) === 'SPLIT' ? cents(row.size) : -cents(row.size);
      }
      expect(Math.min(...own)).toBeGreaterThanOrEqual(0);
    }
    expect(new Set(rows.map(kindOf))).toEqual(new Set(['BUY', 'SELL', 'REDEEM', 'SPLIT', 'MERGE']));
  });

  test('prices are true odds, and roles are what they say', () => {
    const world = worldOf(30_000);
    const pages = [...world.pages(at(0), at(70 * DAY))];
    const winners = new Map(
      pages
        .filter((page) => page.name.startsWith('markets'))
        .flatMap((page) => page.records as { conditionId: string; closed: boolean; outcomePrices: string }[])
        .filter((market) => market.closed)
        .map((market) => [market.conditionId, (JSON.parse(market.outcomePrices) as string[]).map(Number)]),
    );
    const roles = new Map(world.truth(at(70 * DAY)).map((planted) => [planted.wallet, planted.role]));
    const edges = new Map<string, number[]>();
    const wins = new Map<string, number[]>();
    for (const row of pages.filter((page) => page.name.startsWith('trades')).flatMap((page) => page.records as Row[])) {
      const paid = winners.get(row.conditionId)?.[row.outcomeIndex];
      const role = roles.get(row.proxyWallet) as string;
      if (paid === undefined || row.side !== 'BUY' || paid === 0.5) continue;
      edges.set(role, [...(edges.get(role) ?? []), paid - row.price]);
      wins.set(role, [...(wins.get(role) ?? []), paid]);
    }
    const mean = (values: number[] | undefined): number => (values ?? []).reduce((a, b) => a + b, 0) / (values?.length ?? 0);
    expect(mean(edges.get('skilled'))).toBeGreaterThan(0.08);
    expect(mean(edges.get('copier'))).toBeGreaterThan(0.05);
    expect(mean(edges.get('loser'))).toBeLessThan(-0.05);
    expect(Math.abs(mean(edges.get('noise')))).toBeLessThan(0.04);
    expect(mean(edges.get('insider'))).toBeGreaterThan(0.4);
    // Wins nearly always, gains nothing.
    expect(mean(wins.get('favourite_buyer'))).toBeGreaterThan(0.85);
    expect(Math.abs(mean(edges.get('favourite_buyer')))).toBeLessThan(0.05);
    expect([...new Set(roles.values())].sort()).toEqual([
      'copier',
      'favourite_buyer',
      'hft_bot',
      'insider',
      'loser',
      'lucky',
      'market_maker',
      'newcomer',
      'noise',
      'set_maker',
      'skilled',
      'wash',
      'whale',
    ]);
    for (const planted of world.truth(at(70 * DAY)).filter((one) => one.role === 'copier' || one.role === 'wash'))
      expect(planted.of).toMatch(/^0x[0-9a-f]{40}$/);
  });

  test('loads through the wing whole, once, and answers its questions', async () => {
    const db = await testDatabase();
    try {
      const world = worldOf(30_000);
      const total = { facts: 0, inserted: 0, duplicates: 0 };
      for (const page of world.pages(at(0), at(30 * DAY))) {
        const { report } = await loadRecords(db.pool, page.name, page.records, page.format);
        expect([report.skipped, report.read]).toEqual([{}, page.facts]);
        total.facts += page.facts;
        total.inserted += report.inserted;
        total.duplicates += report.duplicates;
      }
      expect(total).toEqual({ facts: total.facts, inserted: total.facts, duplicates: 0 });
      for (const page of world.pages(at(28 * DAY), at(30 * DAY))) {
        expect((await loadRecords(db.pool, page.name, page.records, page.format)).report).toMatchObject({
          inserted: 0,
          duplicates: page.facts,
        });
      }
      const now = at(30 * DAY);
      for (const timeframe of ['24h', '7d', 'all']) {
        const stats = (await ask<Record<string, number>>(db, 'platform/stats', now, { timeframe })).data;
        expect(stats.total_trades).toBeGreaterThan(200);
        const whales = (
          await ask<unknown[]>(db, 'trades/whales', now, {
            min_usdc: 10_000,
            timeframe,
            smart_money_only: false,
            limit: 50,
            aggregate: 'fill',
          })
        ).data;
        expect(whales.length).toBeGreaterThan(0);
        const trades = (
          await ask<{ trades: unknown[] }>(db, 'markets/trades', now, {
            condition_id: SAMPLE_MARKET,
            min_usdc: 0,
            smart_money_only: false,
            limit: 100,
            timeframe,
          })
        ).data;
        expect(trades.trades.length).toBeGreaterThan(0);
      }
      const categories = await db.pool.query<{ category: string }>('SELECT DISTINCT category FROM pm_market ORDER BY 1');
      expect(categories.rows.map((row) => row.category)).toEqual([
        'Crypto',
        'Culture',
        'Economics',
        'Esports',
        'Finance',
        'Mentions',
        'Politics',
        'Sports',
        'Tech',
        'Weather',
        'World',
      ]);
    } finally {
      await db.drop();
    }
  });
});
