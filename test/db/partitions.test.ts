import { testDatabase } from '../support/database';

let db: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  db = await testDatabase();
  await db.pool.query(
    'CREATE TABLE fact (id int, timestamp timestamptz NOT NULL, PRIMARY KEY (id, timestamp)) PARTITION BY RANGE (timestamp); CREATE INDEX ON fact USING brin (timestamp)',
  );
});
afterAll(() => db.drop());

const ensure = (from: string, to: string): Promise<unknown> => db.pool.query("SELECT ensure_month_partitions('fact', $1, $2)", [from, to]);

test('months are made as they are needed, indexes included, in UTC whatever the session thinks', async () => {
  await db.pool.query("SET TIME ZONE 'Asia/Tokyo'");
  await ensure('2026-01-31T23:59:59.999Z', '2026-03-01T00:00:00Z');
  const { rows } = await db.pool
    .query<{ name: string; bounds: string }>(
      "SET TIME ZONE 'UTC'; SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'fact'::regclass ORDER BY 1",
    )
    .then(
      (results) =>
        (results as unknown as { rows: { name: string; bounds: string }[] }[])[1] as { rows: { name: string; bounds: string }[] },
    );
  expect(rows.map(({ name }) => name)).toEqual(['fact_202601', 'fact_202602', 'fact_202603']);
  expect(rows[1]?.bounds).toContain("FROM ('2026-02-01 00:00:00+00') TO ('2026-03-01 00:00:00+00')");
  await db.pool.query("INSERT INTO fact VALUES (1, '2026-02-28T23:59:59.999Z')");
  const indexes = await db.pool.query("SELECT count(*)::int AS n FROM pg_indexes WHERE tablename = 'fact_202602'");
  expect(indexes.rows[0]).toEqual({ n: 2 });
});

test('two loaders may want the same month at once', async () => {
  const months = Array.from({ length: 12 }, (_, index) => `2025-${String(index + 1).padStart(2, '0')}-15T00:00:00Z`);
  await Promise.all(months.flatMap((month) => [ensure(month, month), ensure(month, month), ensure(month, month)]));
  const { rows } = await db.pool.query(
    "SELECT count(*)::int AS n FROM pg_inherits WHERE inhparent = 'fact'::regclass AND inhrelid::regclass::text LIKE 'fact_2025%'",
  );
  expect(rows[0]).toEqual({ n: 12 });
});

test('readers go on while a loader makes a month and has not committed', async () => {
  const loader = await db.pool.connect();
  await loader.query("BEGIN; SELECT ensure_month_partitions('fact', '2027-01-01', '2027-01-01')");
  const read = db.pool.query('SELECT count(*)::int AS n FROM fact');
  await expect(
    Promise.race([read.then(() => 'read'), new Promise((resolve) => setTimeout(() => resolve('waited'), 20_000).unref())]),
  ).resolves.toBe('read');
  await loader.query('ROLLBACK');
  loader.release();
});
