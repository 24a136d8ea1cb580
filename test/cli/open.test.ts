import { withDatabase } from '../../src/cli/open';
import { ROOT } from '../support/root';
import { testDatabase } from '../support/database';

test('once a newer version has migrated the database, commands of an older one write nothing there; payments are still looked up', async () => {
  const database = await testDatabase();
  const { DATABASE_URL: before } = process.env;
  process.env.DATABASE_URL = database.url;
  const place = { root: ROOT, version: '0' };
  const work = jest.fn(async () => 0);
  try {
    expect(await withDatabase(place, work)).toBe(0);
    // However long it takes.
    expect(await withDatabase(place, async ({ pool }) => (await pool.query('SHOW statement_timeout')).rows)).toEqual([{ statement_timeout: '0' }]); // prettier-ignore
    await database.pool.query(
      "INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES (gen_random_uuid(), '', '9_newer', now())",
    );
    await expect(withDatabase(place, work)).rejects.toThrow(
      'A newer version than this one has migrated the database (9_newer): run this command by it.',
    );
    expect(work).toHaveBeenCalledTimes(1);
    expect(await withDatabase(place, work, { outdated: 'fine' })).toBe(0);
  } finally {
    if (before === undefined) delete process.env.DATABASE_URL;
    else process.env.DATABASE_URL = before;
    await database.drop();
  }
});
