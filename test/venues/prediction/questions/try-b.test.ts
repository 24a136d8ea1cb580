import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { testDatabase } from '../../../support/database';
import { loadRecords } from '../support';
const start = new Date('2026-02-01T00:00:00Z');
const DAY = 86_400_000;
test('try', async () => {
  const db = await testDatabase();
  const now = new Date(start.getTime() + 10 * DAY);
  const world = predictionWorld({ seed: 1, size: 30_000, start });
  const times = new Map<string, [number, number]>();
  const connect = db.pool.connect.bind(db.pool);
  (db.pool as any).connect = async () => { const c: any = await connect(); if (c.__w) return c; c.__w = true; const q = c.query.bind(c); c.query = async (a: any, b: any) => { const t = performance.now(); const r = await q(a, b); const k = (typeof a === 'string' ? a : (a.name ?? a.text)).slice(0, 60); const e = times.get(k) ?? [0, 0]; e[0] += performance.now() - t; e[1]++; times.set(k, e); return r; }; return c; };
  let t = performance.now(); let n = 0; let p = 0;
  for (const page of world.pages(start, now)) { await loadRecords(db.pool, page.name, page.records, page.format); n += page.records.length; p++; }
  console.log('load', n, p, performance.now() - t, [...times].sort((a, b) => b[1][0] - a[1][0]).slice(0, 30).map(([k, [ms, c]]) => `${ms.toFixed(0)}ms ${c}x ${k}`).join('\n'));
  await db.drop();
}, 120000);
