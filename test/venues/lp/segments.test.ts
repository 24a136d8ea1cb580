import type { Sql, Statement } from '../../../src/db/sql';
import { afterwards } from '../../../src/db/segments';
import { openEnded } from '../../../src/venues/lp/queries/open-ends';
import { unlessEmpty, withoutEmpty } from '../../../src/venues/lp/queries/segments';
import { named } from '../../../src/venues/lp/queries/span';
import { hourSpanOf, type Span, spanOf, spanOfBuckets } from '../../../src/venues/lp/queries/window-span';

const [early, late] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-02T00:00:00Z')];
const text = `SELECT 1${unlessEmpty(1, 2, ' UNION ALL SELECT 2')}${afterwards('$2::timestamptz', ' UNION ALL SELECT 3')}`;

/** What is sent of the statement, with these values, where a position changed last at `newest`. */
async function sent(values: Date[], newest: Date): Promise<Statement> {
  const statements: Statement[] = [];
  const sql: Sql = {
    query: async (statement) => {
      statements.push(statement);
      return [];
    },
  };
  await withoutEmpty(sql, async () => newest.getTime()).query({ name: 'two', text }, values);
  return statements[0] as Statement;
}

test('a part is sent where its instants hold something, under a name of its own', async () => {
  expect((await sent([early, late], late)).text).toBe('SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3');
  expect((await sent([late, late], late)).text).toBe('SELECT 1 UNION ALL SELECT 3');
  expect((await sent([early, late], early)).text).toBe('SELECT 1 UNION ALL SELECT 2');
  expect((await sent([late, early], new Date(early.getTime() - 1))).text).toBe('SELECT 1');
  const shapes = [sent([early, late], late), sent([late, late], late), sent([early, late], early), sent([late, late], early)];
  expect(new Set((await Promise.all(shapes)).map(({ name }) => name)).size).toBe(4);
});

test('a statement without parts is sent as it is, and nothing is asked', async () => {
  const statements: Statement[] = [];
  const sql = { query: async (statement: Statement) => void statements.push(statement) } as unknown as Sql;
  const newest = jest.fn(async () => 0);
  await withoutEmpty(sql, newest).query({ name: 'plain', text: 'SELECT 1' }, []);
  expect(statements).toEqual([{ name: 'plain', text: 'SELECT 1' }]);
  expect(newest).not.toHaveBeenCalled();
});

/** The first six values that are sent of a span, where something happened last at `newest`. */
async function sentSpan(span: Span, newest: Date): Promise<string[]> {
  let values: readonly unknown[] = [];
  const sql: Sql = {
    query: async (_statement, given) => {
      values = given;
      return [];
    },
  };
  await openEnded(sql, async () => newest.getTime()).query({ name: 'span', text: `SELECT 1 WHERE ${named(2)}` }, ['pool', ...span]);
  expect(values[0]).toBe('pool');
  return values.slice(1).map((value) => (value as Date).toISOString().slice(0, 16));
}

test('a span goes on to the end of its month where nothing happened at its end or later', async () => {
  const window = { from: new Date('2026-01-30T09:20:00Z'), to: new Date('2026-01-31T13:27:00Z') };
  const before = new Date(window.to.getTime() - 1);
  const ends = ['2026-01-30T09:20', '2026-01-31T13:27', '2026-01-30T10:00'];
  expect(await sentSpan(spanOf(window), window.to)).toEqual([...ends, '2026-01-31T13:00', '2026-01-31T12:00', '2026-01-31T12:00']);
  expect(await sentSpan(spanOf(window), before)).toEqual([...ends, '2026-02-01T00:00', '2026-01-31T00:00', '2026-02-01T00:00']);
  expect(await sentSpan(hourSpanOf(window), window.to)).toEqual([...ends, '2026-01-31T13:00', '2026-01-30T10:00', '2026-01-30T10:00']);
  expect(await sentSpan(hourSpanOf(window), before)).toEqual([...ends, '2026-02-01T00:00', '2026-01-30T10:00', '2026-01-30T10:00']);
});

test('buckets of half a day are told by quarters of days, but for windows without a whole day, and go on to the end of the month as well', async () => {
  const long = { from: new Date('2026-01-29T09:20:00Z'), to: new Date('2026-01-31T13:27:00Z') };
  const before = new Date(long.to.getTime() - 1);
  const ends = ['2026-01-29T09:20', '2026-01-31T13:27', '2026-01-29T10:00'];
  const span = spanOfBuckets(long, '12h');
  expect(await sentSpan(span, long.to)).toEqual([...ends, '2026-01-31T13:00', '2026-01-31T12:00', '2026-01-31T12:00']);
  expect(await sentSpan(span, before)).toEqual([...ends, '2026-02-01T00:00', '2026-02-01T00:00', '2026-02-01T00:00']);
  const short = { from: new Date('2026-01-30T09:20:00Z'), to: long.to };
  expect(spanOfBuckets(short, '12h')).toEqual(hourSpanOf(short));
  expect([spanOfBuckets(long, '4h'), spanOfBuckets(long, '1d')]).toEqual([hourSpanOf(long), spanOf(long)]);
});

test.each([
  ['2026-01-31T05:59:59.999Z', '2026-01-31T13:27:00Z', '2026-01-31T12:00'],
  ['2026-01-31T06:00:00Z', '2026-01-31T11:00:00Z', '2026-01-31T06:00'],
  ['2026-01-31T06:00:00.001Z', '2026-01-31T11:00:00Z', '2026-01-31T11:00'],
  ['2026-01-31T12:10:00Z', '2026-01-31T12:50:00Z', '2026-01-31T12:45'],
  ['2026-01-31T11:10:00Z', '2026-01-31T12:00:00Z', '2026-01-31T12:00'],
])('without a whole day its hours from %s to %s are cut where the last quarter of a day begins in them, else nowhere', (from, to, cut) => {
  const [, , , , dayFrom, dayTo] = spanOf({ from: new Date(from), to: new Date(to) });
  expect([dayFrom, dayTo].map((time) => time.toISOString().slice(0, 16))).toEqual([cut, cut]);
});
