import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { testDatabase } from '../../support/database';

test('the migration makes what prisma/prediction.prisma says', async () => {
  const db = await testDatabase();
  try {
    await db.pool.query("SELECT ensure_month_partitions('pm_trade', '2026-01-01', '2026-03-01')");
    const root = path.resolve(__dirname, '../../..');
    const args = ['prisma', 'migrate', 'diff', '--from-config-datasource', '--to-schema', 'prisma', '--script'];
    const { stdout, stderr, status } = spawnSync('npx', args, {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, DATABASE_URL: db.url },
    });
    expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
    expect(stdout.split('\n').filter((line) => line.includes('pm_'))).toEqual([]);
  } finally {
    await db.drop();
  }
});
