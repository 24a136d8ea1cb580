import { sqlOver } from '../../../../src/db/sql';
import { type Columns, byColumn, rowsOf } from '../../../../src/venues/prediction/queries/by-column';
import { testDatabase } from '../../../support/database';

interface Told {
  word: string | null;
  number: number;
  amount: string | null;
  at: Date | null;
  list: string[];
}

const COLUMNS: Columns<Told> = { word: 'plain', number: 'plain', amount: 'exact', at: 'instant', list: 'plain' };

const ROWS = `SELECT * FROM (VALUES
  ('a "quoted" word, with ü', 0.1::float8, 12345678901234567890.123456789012345678::numeric, timestamptz '2026-02-01T00:00:00.789Z', ARRAY['x', 'y']),
  (NULL, 1e-9, NULL, NULL, '{}'),
  ('z', -3, 1.50, timestamptz '1969-12-31T23:59:59.999Z', ARRAY['']) 
) AS given(word, number, amount, at, list)`;

describe('rows told by column', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.drop());

  const tell = async (condition: string): Promise<Told[]> => {
    const text = byColumn(COLUMNS, `${ROWS} WHERE ${condition} ORDER BY number DESC`);
    const [told] = await sqlOver(database).query({ name: `test_${condition.length}`, text }, []);
    return rowsOf(COLUMNS, told);
  };

  test('are the rows, in their order, to the last digit and millisecond', async () => {
    expect(await tell('true')).toEqual([
      {
        word: 'a "quoted" word, with ü',
        number: 0.1,
        amount: '12345678901234567890.123456789012345678',
        at: new Date('2026-02-01T00:00:00.789Z'),
        list: ['x', 'y'],
      },
      { word: null, number: 1e-9, amount: null, at: null, list: [] },
      { word: 'z', number: -3, amount: '1.50', at: new Date('1969-12-31T23:59:59.999Z'), list: [''] },
    ]);
  });

  test('are none where there is no row, or no answer', async () => {
    expect(await tell('false')).toEqual([]);
    expect(rowsOf(COLUMNS, undefined)).toEqual([]);
  });
});
