import { unlessNone, withoutNone } from '../../src/db/segments';
import type { Statement } from '../../src/db/sql';

const statement: Statement = {
  name: 'told',
  text: `SELECT 1 WHERE $1 ${unlessNone('$2::jsonb', 'OR $2')} AND $3 ${unlessNone('$4', 'OR $4')}`,
};

/** What is sent of a statement. */
async function sent(values: readonly unknown[]): Promise<Statement> {
  const statements: Statement[] = [];
  const sql = withoutNone({
    query: async (one) => {
      statements.push(one);
      return [];
    },
  });
  await sql.query(statement, values);
  return statements[0] as Statement;
}

describe('parts about lists', () => {
  it('are left out where the list holds nothing, under a name of their own', async () => {
    const texts = await Promise.all([
      sent([true, '[]', true, '[]']),
      sent([true, '[{}]', true, '[]']),
      sent([true, '[]', true, '[{}]']),
      sent([true, '[{}]', true, '[{}]']),
    ]);
    expect(texts.map(({ text }) => text)).toEqual([
      'SELECT 1 WHERE $1  AND $3 ',
      'SELECT 1 WHERE $1 OR $2 AND $3 ',
      'SELECT 1 WHERE $1  AND $3 OR $4',
      'SELECT 1 WHERE $1 OR $2 AND $3 OR $4',
    ]);
    expect(new Set(texts.map(({ name }) => name)).size).toBe(4);
  });
});
