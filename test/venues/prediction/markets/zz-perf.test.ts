import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { testDatabase } from '../../../support/database';
import { loadRecords } from '../support';
import { call } from './call';
test('perf', async () => {
  const db = await testDatabase();
  const start = new Date('2026-02-01T00:00:00Z');
  const now = new Date(start.getTime() + 29 * 86_400_000 + 43_211_250);
  const size = 300_000;
  const world = predictionWorld({ seed: 3, size, start });
  let n = 0; let t = Date.now(); let gen = 0;
  const counts = new Map<string, number>();
  for (const page of world.pages(start, now)) { gen += page.records.length; await loadRecords(db.pool, page.name, page.records, page.format); n += page.records.length; if (!page.name.startsWith('markets')) for (const r of page.records as { conditionId: string }[]) counts.set(r.conditionId, (counts.get(r.conditionId) ?? 0) + 1); }
  const out: string[] = [`loaded ${n} in ${Date.now() - t} ms = ${Math.round(n / (Date.now() - t) * 1000)}/s`];
  const truth = world.truth(now);
  for (const day of ['2026-02-20', '2026-03-01', now.toISOString().slice(0, 10)])
    await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) SELECT w, $2, s, '{}', 'v' FROM unnest($1::text[], $3::numeric[]) AS x(w, s) ON CONFLICT DO NOTHING", [truth.map((x) => x.wallet), day, truth.map((x, i) => x.role === 'skilled' ? 60 + (i % 40) : (i * 7) % 62)]);
  await db.pool.query('ANALYZE');
  const { rows } = await db.pool.query("SELECT relname, reltuples::int FROM pg_class WHERE relname LIKE 'pm_%' AND relkind = 'r' ORDER BY 2 DESC");
  out.push(JSON.stringify(rows), `wallets ${truth.length}`);
  const busy = [...counts].sort((a, b) => b[1] - a[1])[0]!;
  out.push(`busiest ${busy[1]}`);
  const show = async (e: string, v: Record<string, unknown> = {}) => { const ts: number[] = []; let res = ''; for (let i = 0; i < 2; i++) { const s = Date.now(); try { const { data } = await call<unknown>(db, 'markets/' + e, now, v); res = `${Array.isArray(data) ? data.length : 'ok'}`; } catch (x) { res = String(x).slice(0, 150); } ts.push(Date.now() - s); } out.push(`${e} ${JSON.stringify(v).slice(0, 60)} ${ts.join('/')} ms ${res}`); };
  for (const e of ['trending','search','categories','resolutions','closing-soon','high-conviction','opportunities','capital-flow','volume-heatmap','smart-signals','new-smart-interest','dumb-consensus','capital-flow-comparison','volume-by-group']) await show(e);
  for (const e of ['trending','categories','capital-flow','volume-heatmap','volume-by-group','smart-signals','new-smart-interest']) { await show(e, { timeframe: '7d' }); await show(e, { timeframe: 'all' }); }
  await show('search', { query: 'will', status: 'all' }); await show('search', { has_smart_money_signal: true, status: 'all' });
  await show('resolutions', { sort_by: 'smart_money_accuracy' }); await show('resolutions', { sort_by: 'volume' });
  await show('volume-by-group', { group_by: 'hour', timeframe: 'today' }); await show('volume-heatmap', { smart_money_only: true, timeframe: '30d' });
  for (const e of ['similar','intelligence','dumb-money','price-history','sentiment','participants','smart-flow','early-movers','ownership']) await show(e, { condition_id: busy[0] });
  await show('price-history', { condition_id: busy[0], bucket_size: '5m' }); await show('smart-flow', { condition_id: busy[0], timeframe: 'all', bucket_size: '1d' });
  console.log(out.join('\n'));
  await db.drop();
}, 900000);
