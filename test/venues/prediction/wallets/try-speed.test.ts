import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { testDatabase } from '../../../support/database';
import { loadRecords } from '../support';
const start = new Date('2026-02-01T00:00:00Z');
const DAY = 86_400_000;
test('try', async () => {
  const db = await testDatabase();
  const now = new Date(start.getTime() + 4 * DAY);
  const world = predictionWorld({ seed: 1, size: 600_000, start });
  const times = new Map<string, [number, number]>();
  const connect = db.pool.connect.bind(db.pool);
  (db.pool as any).connect = async () => {
    const c: any = await connect();
    if (c.__w) return c;
    c.__w = true;
    const q = c.query.bind(c);
    c.query = async (a: any, b: any) => {
      const t = performance.now();
      const r = await q(a, b);
      const k = (typeof a === 'string' ? a : (a.name ?? a.text)).slice(0, 60);
      const e = times.get(k) ?? [0, 0];
      e[0] += performance.now() - t;
      e[1]++;
      times.set(k, e);
      return r;
    };
    return c;
  };
  const groups: Record<string, any[]> = { markets: [], trades: [], activity: [] };
  const pages = [...world.pages(start, now)];
  for (const page of pages) groups[page.name.split('-')[0]!]!.push(...page.records);
  for (const name of ['markets', 'trades', 'activity']) {
    const t = performance.now();
    times.clear();
    const c = process.cpuUsage();
    await loadRecords(db.pool, `${name}-all.json`, groups[name]!, 'json');
    const u = process.cpuUsage(c);
    const ms = performance.now() - t;
    console.log(
      name,
      groups[name]!.length,
      ms,
      Math.round((1000 * groups[name]!.length) / ms),
      'per s; node cpu',
      u.user / 1000,
      [...times]
        .sort((a, b) => b[1][0] - a[1][0])
        .slice(0, 14)
        .map(([k, [m, n]]) => `${m.toFixed(0)}ms ${n}x ${k}`)
        .join('\n'),
    );
  }
  await db.drop();
}, 300000);
