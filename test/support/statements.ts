import { Client } from 'pg';

/** By what a connection is set up when it is made: how many are made is chance. */
const SET_UP = 'SELECT pg_backend_pid()';

/** Texts of the SQL statements that this process sends while `work` runs, in order. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  const query = jest.spyOn(Client.prototype, 'query');
  try {
    await work();
    for (const [statement] of query.mock.calls as unknown as [string | { text: string }][])
      sent.push(typeof statement === 'string' ? statement : statement.text);
  } finally {
    query.mockRestore();
  }
  return sent.filter((text) => !text.startsWith(SET_UP));
}
