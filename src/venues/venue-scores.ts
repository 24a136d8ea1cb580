import type { Sql, Statement } from '../db/sql';
import { type PagedList, byParent } from '../lib/connection';
import { CURSOR_FORMS } from '../lib/cursor';
import { isoDay } from '../lib/time';

/** Where a venue keeps its scores: a row for each account (in column `account`) and UTC day of a run, of which `columns` (SQL, `day` as text among them) are told. */
interface ScoreTable {
  table: string;
  account: string;
  columns: string;
}

/** Accounts' scores, one a daily run, newest first. */
export function scoresOf<Row extends { day: string }>({ table, account, columns }: ScoreTable): (sql: Sql) => PagedList<Row, null> {
  const page: Statement = {
    name: `${table}_linked`,
    text: `SELECT wanted.parent, found.* FROM unnest($1::text[]) AS wanted(parent) CROSS JOIN LATERAL (
  SELECT ${columns}
  FROM ${table} AS kept WHERE kept.${account} = wanted.parent AND kept.day <= $2::date AND ($3::date IS NULL OR kept.day < $3)
  ORDER BY kept.day DESC LIMIT $4) AS found
ORDER BY wanted.parent, found.day DESC`,
  };
  return (sql) => ({
    name: `${table} of ${account}`,
    list: async (parents, { to, after, limit }) =>
      byParent(await sql.query<Row & { parent: string }>(page, [parents, isoDay(to), after?.[0] ?? null, limit])),
    position: ({ day }) => [day],
    forms: [CURSOR_FORMS.day],
  });
}
