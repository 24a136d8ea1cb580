import { Client } from 'pg';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { testDatabase } from '../../../support/database';
import { loadRecords } from '../support';
test('load', async () => {
  const db = await testDatabase();
  const start = new Date('2026-02-01T00:00:00Z');
  const world = predictionWorld({ seed: 3, size: 60_000, start });
  const spent = new Map<string, number>();
  const original = Client.prototype.query as (...a: unknown[]) => unknown;
  (Client.prototype as { query: unknown }).query = function (this: unknown, ...args: unknown[]) {
    const first = args[0] as { name?: string; text?: string } | string;
    const name = typeof first === 'string' ? first.slice(0, 50) : (first.name ?? first.text?.slice(0, 50) ?? '?');
    const s = performance.now();
    const result = original.apply(this, args) as Promise<unknown>;
    if (result && typeof (result as { then?: unknown }).then === 'function') return result.then((r) => { spent.set(name, (spent.get(name) ?? 0) + performance.now() - s); return r; });
    return result;
  };
  const pages = [...world.pages(start, new Date(start.getTime() + 29 * 86_400_000))];
  const t = Date.now(); let n = 0;
  for (const page of pages) { await loadRecords(db.pool, page.name, page.records, page.format); n += page.records.length; }
  const line1 = `${pages.length} pages ${n} rows in ${Date.now() - t} ms = ${Math.round(n / (Date.now() - t) * 1000)}/s\n` + [...spent].sort((a, b) => b[1] - a[1]).slice(0, 18).map(([k, v]) => `${k} ${Math.round(v)}`).join('\n');
  spent.clear();
  const big = await testDatabase();
  const t2 = Date.now(); let m = 0;
  for (const kind of ['markets', 'trades', 'activity']) { const records = pages.filter((p) => p.name.startsWith(kind)).flatMap((p) => p.records); await loadRecords(big.pool, `${kind}.json`, records); m += records.length; }
  const line2 = `one page each: ${m} rows in ${Date.now() - t2} ms = ${Math.round(m / (Date.now() - t2) * 1000)}/s\n` + [...spent].sort((a, b) => b[1] - a[1]).slice(0, 18).map(([k, v]) => `${k} ${Math.round(v)}`).join('\n');
  require('fs').writeFileSync('/tmp/load-b.out', `${line1}\n\n${line2}\n`);
  (Client.prototype as { query: unknown }).query = original;
  await db.drop(); await big.drop();
}, 500000);
