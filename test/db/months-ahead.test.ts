import { catchUpMonths, makeMonthsAhead } from '../../src/db/months-ahead';
import { openPool } from '../../src/db/pool';
import { type Logger, makeLogger } from '../../src/observability/logger';
import { testDatabase } from '../support/database';

let db: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  db = await testDatabase();
  await db.pool.query(
    `CREATE TABLE fact (id int, timestamp timestamptz NOT NULL, PRIMARY KEY (id, timestamp)) PARTITION BY RANGE (timestamp);
     CREATE TABLE by_name (name text PRIMARY KEY) PARTITION BY LIST (name); CREATE TABLE by_name_a PARTITION OF by_name FOR VALUES IN ('a');
     CREATE TABLE unused (at timestamptz NOT NULL) PARTITION BY RANGE (at)`,
  );
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.pool.query(
    "DO $$ DECLARE c text; BEGIN FOR c IN SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'fact'::regclass LOOP EXECUTE 'DROP TABLE ' || c; END LOOP; END $$",
  );
  await db.pool.query("SELECT ensure_month_partitions('fact', '2026-01-01', '2026-01-01')");
});

const months = async (): Promise<string[]> => {
  const { rows } = await db.pool.query<{ name: string }>(
    "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'fact'::regclass ORDER BY 1",
  );
  return rows.map(({ name }) => name);
};

test.each([
  ['the last millisecond of January', '2026-01-31T23:59:59.999Z', ['fact_202601', 'fact_202602', 'fact_202603']],
  ['the first of February', '2026-02-01T00:00:00Z', ['fact_202601', 'fact_202602', 'fact_202603']],
  ['the middle of January', '2026-01-15T12:00:00Z', ['fact_202601', 'fact_202602']],
  ['the end of a year', '2026-12-31T23:59:59Z', ['fact_202601', 'fact_202612', 'fact_202701', 'fact_202702']],
])('%s', async (_name, now, expected) => {
  const made = await makeMonthsAhead(db.pool, new Date(now));
  expect(await months()).toEqual(expected);
  expect(made).toBe(expected.length - 1);
  expect(await makeMonthsAhead(db.pool, new Date(now))).toBe(0);
});

test('months are those of UTC, whatever the session thinks', async () => {
  const client = await db.pool.connect();
  await client.query("SET TIME ZONE 'Pacific/Auckland'");
  client.release();
  await makeMonthsAhead(db.pool, new Date('2026-01-31T12:30:00Z'));
  expect(await months()).toEqual(['fact_202601', 'fact_202602', 'fact_202603']);
  await db.pool.query("INSERT INTO fact VALUES (1, '2026-02-28T23:59:59.999Z')");
  const { rows } = await db.pool.query('SELECT tableoid::regclass::text AS part FROM fact');
  expect(rows).toEqual([{ part: 'fact_202602' }]);
  await db.pool.query('DISCARD ALL');
});

test('the first fact of a month finds its place made: a loader takes no lock on the table', async () => {
  await makeMonthsAhead(db.pool, new Date('2026-01-31T23:59:59Z'));
  const loader = await db.pool.connect();
  await loader.query("BEGIN; SELECT ensure_month_partitions('fact', '2026-02-01', '2026-02-01')");
  await loader.query("INSERT INTO fact VALUES (1, '2026-02-01T00:00:00Z')");
  const { rows } = await loader.query<{ mode: string }>(
    "SELECT DISTINCT mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 'fact'::regclass",
  );
  await loader.query('ROLLBACK');
  loader.release();
  expect(rows.map(({ mode }) => mode).filter((mode) => !['AccessShareLock', 'RowExclusiveLock'].includes(mode))).toEqual([]);
});

test('what was made is told the operator, and why nothing could be', async () => {
  const told: unknown[] = [];
  const logger = { info: (...words: unknown[]) => told.push(words), warn: (...words: unknown[]) => told.push(words) } as unknown as Logger;
  const pool = await openPool(db.url, { max: 1 });
  const now = new Date('2026-01-31T00:00:00Z');
  for (let times = 0; times < 2; times += 1) await catchUpMonths(pool, now, logger);
  await pool.end();
  await catchUpMonths(pool, now, logger);
  expect(told).toEqual([
    [{ made: 2 }, 'partitions made ahead'],
    [{ err: expect.any(Error) }, 'partitions could not be made ahead'],
  ]);
});

test('a table that somebody holds is left for next time; nothing is half made and nothing throws', async () => {
  const holder = await db.pool.connect();
  await holder.query('BEGIN; LOCK TABLE fact IN SHARE UPDATE EXCLUSIVE MODE');
  const catchUp = (): Promise<void> => catchUpMonths(db.pool, new Date('2026-01-31T00:00:00Z'), makeLogger('silent'));
  await catchUp();
  expect(await months()).toEqual(['fact_202601']);
  await holder.query('ROLLBACK');
  holder.release();
  await catchUp();
  expect(await months()).toEqual(['fact_202601', 'fact_202602', 'fact_202603']);
});
