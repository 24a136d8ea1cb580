import { sqlOver } from '../../../../src/db/sql';
import { listNewsTimes } from '../../../../src/venues/prediction/queries/insider-evidence';
import { testDatabase } from '../../../support/database';
import { NOW, iso, market, now, trade } from '../small-world';
import { condition, loadRecords, token, wallet } from '../support';
import { call } from './call';

/**
 * What the upstream tells as it is. Market 71 has an outcome with a blank before its name, as some games have: it is told without. Market 72: the smart wallet 701 put $600 on Yes; on
 * markets 73 to 75 it bought so little that it cost nothing. Prices are USDC over shares, in ten decimals, and miss what was bid by less than a millionth: on 76 No
 * costs 0.6, which is its share of the smart weight, on 77 either costs 0.5 with as much of the weight on No, and 78 was sold at 0.9 before Yes won. On 79 either
 * costs 0.5.
 */

type Row = Record<string, unknown>;
const [HOUR, DAY] = [3_600, 86_400];

describe('records as upstreams tell them', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    await loadRecords(db.pool, 'markets.json', [
      market(71, { outcomes: JSON.stringify(['FUZOS', ' CSDIILIT']) }),
      market(72, { tags: [{ slug: 'tech' }] }),
      ...[73, 74, 75].map((n) => market(n)),
      ...[76, 77, 79].map((n) => market(n, { endDate: iso(NOW + 12 * HOUR) })),
      market(78, { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - HOUR), umaResolutionStatus: 'resolved' }),
    ]);
    await loadRecords(db.pool, 'trades.json', [
      { ...trade(1, 71, 1, 700, 'BUY', 10, 0.4, 600), outcome: ' CSDIILIT' },
      { ...trade(2, 71, 0, 700, 'BUY', 10, 0.6, 500), outcome: 'FUZOS' },
      trade(3, 72, 0, 701, 'BUY', 1_000, 0.6, DAY),
      ...[73, 74, 75].map((n) => trade(n, n, 0, 701, 'BUY', 0.000_001, 0.4, 2 * DAY)),
      trade(4, 76, 1, 702, 'BUY', 1_000, 0.6000000427, 3 * HOUR),
      trade(5, 77, 1, 702, 'BUY', 1_200, 0.4999999877, 3 * HOUR),
      ...[76, 77].flatMap((n) => [703, 704].map((by, k) => trade(6 + k, n, 0, by, 'BUY', 400, 0.5, 9 * HOUR - k * HOUR))),
      trade(8, 79, 0, 705, 'BUY', 10, 0.4999999877, 300),
      trade(9, 79, 1, 705, 'BUY', 10, 0.5, 200),
      trade(10, 78, 0, 705, 'BUY', 10, 0.8, 9 * HOUR),
      trade(11, 78, 0, 705, 'BUY', 10, 0.8999999877, 5 * HOUR),
    ]);
    for (const day of ['2026-03-09', '2026-03-10'])
      for (const by of [701, 702, 703, 704])
        await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, $2, 67.1, '{}', 'test')", [wallet(by), day]); // prettier-ignore
  });
  afterAll(() => db.drop());

  test('an outcome is found by its name, whatever blanks stand around it', async () => {
    for (const outcome of [' CSDIILIT', 'CSDIILIT', 'csdiilit '])
      for (const path of ['markets/trades', 'markets/price-history']) {
        const { data } = await call<{ trades?: unknown[]; candles_by_outcome?: unknown[] }>(db, path, now, { condition_id: condition(71), outcome }); // prettier-ignore
        expect(data.trades ?? data.candles_by_outcome).toEqual([expect.objectContaining({ outcome: 'CSDIILIT' })]);
      }
  });

  test('who mostly bought next to nothing has no usual bet: this one is as usual', async () => {
    const { data } = await call<Row[]>(db, 'markets/high-conviction', now, { category: 'Tech', min_smart_wallets: 1 });
    expect(data).toMatchObject([{ condition_id: condition(72), median_bet_share_pct: 100 }]);
  });

  test('a price that is told as the bound is not below it', async () => {
    const { data } = await call<Row[]>(db, 'markets/search', now, { query: 'question 77' });
    expect(data).toMatchObject([{ smart_money_outcome: 'No', leader_price: 0.5, has_contrarian_signal: false }]);
    const report = await call<Row>(db, 'markets/intelligence', now, { condition_id: condition(77) });
    expect(report.data).toMatchObject({ smart_money: { consensus_strength: 0.6 }, signal_analysis: { contrarian_signal: false } });
    const news = await listNewsTimes(sqlOver(db), [condition(78)], now);
    expect(news.get(condition(78))).toEqual(new Date((NOW - 9 * HOUR) * 1_000));
  });

  test('of prices that are told as equal the first leads, and what is told as constant goes with nothing', async () => {
    const { data } = await call<Row[]>(db, 'markets/search', now, { query: 'question 79' });
    expect(data).toMatchObject([{ leader_outcome: 'Yes', leader_price: 0.5 }]);
    const sent = { condition_id: condition(77), timeframe: '24h', bucket_size: '1h', outcome: 'No' };
    const flow = await call<{ overall: Row; time_series: Row[] }>(db, 'markets/smart-flow', now, sent);
    expect(flow.data.time_series.filter(({ price }) => price !== null && price !== 0.5)).toEqual([]);
    expect(flow.data.overall).toMatchObject({ net_flow: 599.999985, flow_price_correlation: null });
  });

  test('a gap that is told as none is none', async () => {
    const { data } = await call<Row[]>(db, 'markets/opportunities', now, { min_signal_strength: 'weak', min_smart_wallets: 1 });
    const found = data.find(({ condition_id }) => condition_id === condition(76));
    expect(found).toMatchObject({ token_id: token(76, 1), price_signal_gap: 0, signal_direction: 'BUY' });
  });
});
