import { startProduct } from '../support/product';
import { testDatabase } from '../support/database';

test('where answers come from a replica, /health tells how old its scores and copies are, whatever the database has since', async () => {
  const replica = await testDatabase();
  const product = await startProduct({ replicaUrl: replica.url });
  const [then, now] = ['2026-02-01T00:00:00Z', '2026-02-04T00:00:00Z'];
  try {
    for (const [{ pool }, at] of [[replica, then], [product, now]] as const) {
      await pool.query("INSERT INTO source_cursor (source, venue, cursor) VALUES ('score.perps', 'perps', jsonb_build_object('as_of', $1::text))", [at]);
      await pool.query("INSERT INTO snapshot (name, part, venue, as_of, built_at, body) VALUES ('markets/opportunities', 'all', 'prediction', $1, $1, '[]')", [at]);
    }
    const health = (await (await fetch(`${product.publicUrl}/health`)).json()) as { data_freshness: Record<string, unknown> };
    expect(health.data_freshness).toMatchObject({ scores: { perps: then }, snapshots: { 'markets/opportunities': then } });
  } finally {
    await product.close();
    await replica.drop();
  }
}); // prettier-ignore
