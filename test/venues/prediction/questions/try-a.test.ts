import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { score } from '../../../../src/venues/prediction/scoring/job';
import { testDatabase } from '../../../support/database';
import fs from 'node:fs';
import { parse, valueFromASTUntyped } from 'graphql';
import { ask as askAll } from '../ask';
const ask = <T>(db: any, e: string, n: Date, v: any) => { const d = parse(fs.readFileSync(`graphql/endpoints/${e}.graphql`, 'utf8')).definitions[0] as any; const defaults = Object.fromEntries(d.variableDefinitions.filter((x: any) => x.defaultValue).map((x: any) => [x.variable.name.value, valueFromASTUntyped(x.defaultValue)])); return askAll<T>(db, e, n, { ...defaults, ...v }); };
import { loadRecords } from '../support';
const start = new Date('2026-02-01T00:00:00Z');
const DAY = 86_400_000;
test('try', async () => {
  const db = await testDatabase();
  const now = new Date(start.getTime() + 20 * DAY);
  for (const page of predictionWorld({ seed: 5, size: 6_000, start }).pages(start, new Date(now.getTime() + DAY))) await loadRecords(db.pool, page.name, page.records, page.format);
  const { rows } = await db.pool.query('SELECT wallet, count(*) FROM pm_position GROUP BY 1 ORDER BY 2 DESC LIMIT 5');
  console.log(rows);
  await score(db.pool, now, () => undefined);
  for (const [endpoint, args] of [['wallets/top-performers', { limit: 2, timeframe: 'all' }], ['wallets/top-performers', { limit: 2, metric: 'volume', category: 'Sports', timeframe: 'all', min_trades: 2 }], ['wallets/niche-experts', { category: 'Crypto', min_category_trades: 3, limit: 2 }], ['wallets/niche-experts', { category: 'Crypto', min_category_trades: 2, sort_by: 'category_edge', limit: 2, specialists_only: true }],...(['sharpe','roi','win_rate','pnl','volume'].map((metric) => ['wallets/top-performers', { metric, limit: 1, timeframe: '30d' }]))] as const) {
    const at = performance.now();
    const { data } = await ask<any>(db, endpoint, now, args as any);
    if (data.shared_positions) data.shared_positions.length = 2;
    if (data.active_positions) data.active_positions.length = 1;
    console.log(endpoint, performance.now() - at, JSON.stringify(data, null, 1).slice(0, 4000));
  }
  await db.drop();
}, 60000);
