import fs from 'node:fs';
import path from 'node:path';
import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import { perps } from '../../../src/venues/perps/index';
import { pageOf } from '../../../src/workers/pages';
import { loadPage, recognise } from '../../../src/workers/ingest';
import { testDatabase } from '../../support/database';
import { ask, type TestDatabase } from './support';

const SIZE = Number(process.env.TRY_SIZE ?? 30000);
test('try', async () => {
  const db: TestDatabase = await testDatabase();
  const start = new Date('2026-03-01T00:00:00Z');
  const now = new Date('2026-03-31T00:20:30.500Z');
  const world = perpsWorld({ seed: 1, size: SIZE, start });
  let t = Date.now();
  let n = 0;
  let inLoad = 0;
  if (process.env.TRY_KEEP) fs.writeFileSync('/tmp/perps-try-url', db.url);
  for (const simulated of world.pages(start, now)) {
    const { source, page } = await recognise(perps, pageOf(simulated.name, simulated.format, simulated.records));
    const t0 = Date.now();
    if (source) n += (await loadPage(db.pool, source, page, { progress: () => undefined })).inserted;
    inLoad += Date.now() - t0;
    fs.writeFileSync('/tmp/perps-try.txt', `loading ${n} total ${Date.now() - t} in load ${inLoad}`);
  }
  const out: string[] = [`load ${n} facts ${Date.now() - t} ms`];
  fs.writeFileSync('/tmp/perps-try.txt', out.join('\n'));
  await db.pool.query('VACUUM ANALYZE');
  t = Date.now();
  out.push(`score ${JSON.stringify(await perps.score?.(db.pool, now, () => undefined))} ${Date.now() - t} ms`);
  const top = (
    await db.pool.query<{ trader: string }>('SELECT trader FROM perp_score WHERE score IS NOT NULL ORDER BY trades DESC LIMIT 5')
  ).rows.map((r) => r.trader);
  const smart = (await db.pool.query<{ trader: string }>('SELECT trader FROM perp_score ORDER BY score DESC NULLS LAST LIMIT 5')).rows.map(
    (r) => r.trader,
  );
  const truth = SIZE > 100_000 ? [] : world.truth(now);
  for (const role of new Set(truth.map((x) => x.role))) {
    const ts = truth.filter((x) => x.role === role).map((x) => x.trader);
    const r = (
      await db.pool.query(
        'SELECT count(*)::int AS n, count(*) FILTER (WHERE score >= 85)::int AS smart, avg(score)::float AS avg, max(score)::float AS max, min(score)::float as min FROM perp_score WHERE trader = ANY($1)',
        [ts],
      )
    ).rows[0];
    const tags = (
      await db.pool.query(
        'SELECT tag, count(*)::int AS n FROM perp_score, unnest(tags) tag WHERE trader = ANY($1) GROUP BY 1 ORDER BY 2 DESC',
        [ts],
      )
    ).rows
      .map((x) => `${x.tag}:${x.n}`)
      .join(' ');
    out.push(`${role} ${ts.length} ${JSON.stringify(r)} ${tags}`);
  }
  const calls: [string, Record<string, unknown>][] = [
    ['perps/platform/stats', {}],
    ['perps/platform/stats', { timeframe: 'all' }],
    ['perps/coins/list', {}],
    ['perps/coins/trending', {}],
    ['perps/coins/trending', { timeframe: '7d' }],
    ['perps/coins/volume-heatmap', {}],
    ['perps/coins/volume-heatmap', { timeframe: 'all' }],
    ['perps/trades/long-short-ratio', { coin: 'BTC' }],
    ['perps/trades/long-short-ratio', { coin: 'BTC', timeframe: 'all', bucket_size: '1h' }],
    ['perps/pressure/summary', {}],
    ['perps/pressure/pairs', {}],
    ['perps/pressure/pairs', { min_score: 0, timeframe: 'all' }],
    ['perps/traders/daily-pnl', { trader: top[0] }],
    ['perps/traders/pnl-by-coin', { trader: top[0] }],
    ['perps/traders/profile', { trader: top[0], days: 365, explain: true }],
    ['perps/traders/profile', { trader: smart[0], explain: true }],
    ['perps/traders/compare', { traders: [...smart.slice(0, 3), ...top.slice(0, 2)] }],
    ['perps/traders/leaderboard', {}],
    ['perps/traders/leaderboard', { timeframe: 'all', sort_by: 'sharpe' }],
    ['perps/traders/leaderboard', { timeframe: '30d', sort_by: 'win_rate', limit: 100 }],
    ['perps/traders/leaderboard', { timeframe: '30d', sort_by: 'score', coin: 'BTC' }],
    ['perps/traders/fresh-whales', { min_volume: 10000 }],
    ['perps/traders/fresh-whales', { min_volume: 10000, sort_by: 'suspicion_score', max_wallet_age_days: 90, min_pnl: -1e9 }],
    ['perps/smart-wallets/list', {}],
    ['perps/smart-wallets/list', { sort_by: 'pnl', min_score: 0, limit: 200 }],
    ['perps/smart-wallets/list', { sort_by: 'win_rate', min_score: 40 }],
    ['perps/smart-wallets/activity', {}],
    ['perps/smart-wallets/activity', { min_score: 0, timeframe: 'all', side: 'Close Long' }],
    ['perps/smart-wallets/signals', {}],
    ['perps/smart-wallets/signals', { min_score: 0, timeframe: 'all' }],
    ['perps/trades/whales', { smart_money_only: true }],
  ];
  const dump: Record<string, unknown> = {};
  for (const [endpoint, variables] of calls) {
    const times: number[] = [];
    let answer: unknown;
    for (let i = 0; i < 3; i += 1) {
      t = Date.now();
      try {
        answer = await ask(db, endpoint, variables, now);
      } catch (error) {
        answer = {
          error: (error as Error).message,
          context: (error as { context?: unknown }).context,
          stack: (error as Error).stack?.slice(0, 600),
        };
      }
      times.push(Date.now() - t);
    }
    const failed = (answer as { error?: string }).error;
    out.push(`${endpoint} ${JSON.stringify(variables).slice(0, 100)} ${times.join('/')} ms ${failed ?? ''}`);
    dump[`${endpoint} ${JSON.stringify(variables)}`] = answer;
  }
  fs.writeFileSync('/tmp/perps-try.txt', out.join('\n'));
  fs.writeFileSync('/tmp/perps-dump.json', JSON.stringify(dump, null, 1));
  if (process.env.TRY_KEEP) {
    fs.writeFileSync('/tmp/perps-try-url', db.url);
    await new Promise((r) => setTimeout(r, Number(process.env.TRY_KEEP)));
  }
  await db.drop();
  void path;
}, 900_000);
