import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { testDatabase } from '../../support/database';

const ROOT = path.resolve(__dirname, '../../..');

test('the tables of this wing are what prisma/lp.prisma says', async () => {
  const db = await testDatabase();
  try {
    const asked = spawnSync('npx', ['prisma', 'migrate', 'diff', '--from-config-datasource', '--to-schema', 'prisma', '--script'], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, DATABASE_URL: db.url },
    });
    expect(asked.stderr).not.toMatch(/error/i);
    expect(asked.stdout.split('\n').filter((line) => /"(lp_|dca_|token_price)/.test(line))).toEqual([]);
    expect(asked.stdout).toMatch(/^-- /m);
  } finally {
    await db.drop();
  }
});
