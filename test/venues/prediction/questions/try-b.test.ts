import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { score } from '../../../../src/venues/prediction/scoring/job';
import { testDatabase } from '../../../support/database';
import { ask as askAll } from '../ask';
import { loadRecords } from '../support';
const ask = <T>(db: any, e: string, n: Date, v: any) => { const fs = require('node:fs'); const { parse, valueFromASTUntyped } = require('graphql'); const d = parse(fs.readFileSync(`graphql/endpoints/${e}.graphql`, 'utf8')).definitions[0] as any; const defaults = Object.fromEntries(d.variableDefinitions.filter((x: any) => x.defaultValue).map((x: any) => [x.variable.name.value, valueFromASTUntyped(x.defaultValue)])); return askAll<T>(db, e, n, { ...defaults, ...v }); };
const start = new Date('2026-02-01T00:00:00Z');
const DAY = 86_400_000;
test('try', async () => {
  const db = await testDatabase();
  const now = new Date(start.getTime() + 30 * DAY);
  const world = predictionWorld({ seed: 1, size: 30_000, start });
  let t = performance.now(); let n = 0;
  for (const page of world.pages(start, now)) { await loadRecords(db.pool, page.name, page.records, page.format); n += page.records.length; }
  console.log('load', n, performance.now() - t);
  t = performance.now();
  console.log(await score(db.pool, now, () => undefined), performance.now() - t);
  const truth = world.truth(now);
  const roles = new Map(truth.map((w) => [w.wallet, w.role]));
  const { rows } = await db.pool.query('SELECT wallet, max(score)::float8 AS score FROM pm_insider GROUP BY 1 ORDER BY 2 DESC');
  console.log(JSON.stringify(rows.map((r: any) => [roles.get(r.wallet), r.score])));
  t = performance.now();
  const a = await ask<any>(db, 'wallets/insiders', now, { limit: 2 });
  console.log(performance.now() - t, JSON.stringify(a.data, null, 1).slice(0, 3500));
  const planted = truth.find((w) => w.role === 'insider')!;
  t = performance.now();
  const b = await ask<any>(db, 'markets/insiders', now, { condition_id: planted.condition_id, limit: 5 });
  console.log(performance.now() - t, JSON.stringify(b.data.summary), b.data.insiders.map((i: any) => [roles.get(i.wallet), i.insider_score]));
  t = performance.now();
  const c = await ask<any>(db, 'wallets/insiders/trend', now, { limit: 2 });
  console.log(performance.now() - t, JSON.stringify({ ...c.data, time_series: c.data.time_series.slice(-3) }, null, 1));
  for (const metric of ['sharpe', 'roi', 'win_rate', 'pnl', 'volume']) {
    t = performance.now();
    const d = await ask<any>(db, 'wallets/top-performers', now, { metric, limit: 10 });
    console.log(metric, performance.now() - t, JSON.stringify(d.data.map((r: any) => [roles.get(r.wallet), r.rank_value, r.period_trades])));
  }
  for (const category of ['Crypto', 'Politics']) {
    t = performance.now();
    const d = await ask<any>(db, 'wallets/niche-experts', now, { category, limit: 10, min_category_trades: 5 });
    console.log(category, performance.now() - t, JSON.stringify(d.data.map((r: any) => [roles.get(r.wallet), r.category_sharpe, r.category_positions])));
  }
  await db.drop();
}, 180000);
