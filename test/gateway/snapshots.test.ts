import { AppError } from '../../src/errors';
import { withFallback } from '../../src/gateway/fallbacks';
import { makeContext } from '../../src/graph/context';
import { prediction } from '../../src/venues/prediction/index';
import { buildSnapshots } from '../../src/workers/snapshots';
import { ENDPOINTS, endpointNamed } from '../support/catalogue';
import { testDatabase } from '../support/database';
import { startOpenGateway } from '../support/open-gateway';
import { loadSmallWorld, now } from '../venues/prediction/small-world';
import { condition } from '../venues/prediction/support';

test('a copy that is too old is not sold, and what to ask instead is named', async () => {
  const db = await testDatabase();
  const late = new Date(now.getTime() + 31 * 60_000);
  try {
    await loadSmallWorld(db.pool);
    await buildSnapshots(db.pool, prediction, () => makeContext(db, now));
    const gateway = await startOpenGateway(db, late);
    try {
      const paths = ['markets/opportunities', 'wallets/insiders', 'wallets/alpha-callers', 'wallets/niche-experts?category=Politics', `markets/similar?condition_id=${condition(1)}`]; // prettier-ignore
      for (const path of paths) {
        const response = await fetch(`${gateway.url}/api/v1/${path}`, { headers: { 'PAYMENT-SIGNATURE': 'proof' } });
        const body = (await response.json()) as Record<string, unknown>;
        expect([path, response.status, body.code, body.reason, body.charged, response.headers.get('retry-after')]).toEqual([path, 503, 'stale_data', 'snapshot_age', false, '60']); // prettier-ignore
        if (path === 'markets/opportunities') expect(body.fallback).toMatchObject({ path: '/api/v1/markets/high-conviction' });
      }
      expect([...gateway.charges.values()].some(({ charged }) => charged)).toBe(false);
    } finally {
      await gateway.close();
    }
  } finally {
    await db.drop();
  }
}); // prettier-ignore

test('only our own failures name a fallback, of endpoints that have one, unless the answer names a better one', () => {
  const scanner = endpointNamed('markets/opportunities');
  const contextOf = (thrown: unknown, endpoint = scanner): unknown => (withFallback(endpoint, thrown) as AppError).context?.fallback;
  expect(contextOf(new Error('bug'))).toMatchObject({ path: '/api/v1/markets/high-conviction' });
  expect(contextOf(new AppError('query_timeout'))).toBeDefined();
  expect(contextOf(new AppError('empty_result'))).toBeUndefined();
  expect(contextOf(new AppError('internal'), endpointNamed('markets/trades'))).toBeUndefined();
  const better = { method: 'GET', path: '/better', note: '' };
  expect(contextOf(new AppError('stale_data', { fallback: better }))).toBe(better);
  const named = ENDPOINTS.map((endpoint) => contextOf(new AppError('internal'), endpoint) as { method: string; path: string } | undefined);
  const sold = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
  for (const fallback of named.filter((one) => one !== undefined))
    expect(sold).toContain(`${fallback.method} ${fallback.path.split('?')[0]}`);
});
