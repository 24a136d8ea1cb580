import type { PoolClient, QueryResult } from 'pg';
import { groupedBy } from '../../../lib/grouped';
import { DAY_MS } from '../../../lib/time';
import { monthTable, openMonth } from '../rollups/months-due';
import { LOCK_ROLLUPS } from '../rollups/positions';

const ONE_MAKER = 'LOCK TABLE pm_trade IN SHARE UPDATE EXCLUSIVE MODE';

/** Where rows of each month are written: `pm_trade`, or a month's own table while it is filled before it becomes a partition. */
export class Months {
  private readonly tables = new Map<string, string>();
  private readonly ofDay = new Map<number, string>();

  constructor(private readonly rollups: 'now' | 'later') {}

  /** Locks the rollups, and tells rows by the table they belong in, which is made where it is not there. */
  async sort<Row extends { timestamp: Date }>(rows: readonly Row[], client: PoolClient): Promise<Map<string, Row[]>> {
    const unknown = new Set(rows.map(({ timestamp }) => Math.floor(timestamp.getTime() / DAY_MS)).filter((day) => !this.ofDay.has(day)));
    if (unknown.size > 0) await this.find([...unknown], client);
    return groupedBy(rows, ({ timestamp }) => this.ofDay.get(Math.floor(timestamp.getTime() / DAY_MS)) as string);
  }

  private async find(days: readonly number[], client: PoolClient): Promise<void> {
    const monthOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 7);
    const months = [...new Set(days.map(monthOf))];
    const states = await lockedStates(months.map(monthTable), client);
    for (const [index, month] of months.entries()) {
      if (!this.tables.has(month)) this.tables.set(month, await this.tableOf(month, states[index] as State, client));
    }
    for (const day of days) this.ofDay.set(day, this.tables.get(monthOf(day)) as string);
  }

  private async tableOf(month: string, known: State, client: PoolClient): Promise<string> {
    const table = monthTable(month);
    if (known !== 'none') return known === 'partition' ? 'pm_trade' : table;
    // One maker at a time; taking the lock also makes this session see what the one before it made.
    await client.query(ONE_MAKER);
    if (this.rollups === 'now') {
      await client.query("SELECT ensure_month_partitions('pm_trade', $1, $1)", [`${month}-01T00:00:00Z`]);
      return 'pm_trade';
    }
    if ((await lockedStates([table], client))[0] === 'partition') return 'pm_trade';
    await openMonth(client, table);
    return table;
  }
}

type State = 'none' | 'partition' | 'due';

const stateOf = (table: string): string =>
  `coalesce((SELECT CASE WHEN relispartition THEN 'partition' ELSE 'due' END FROM pg_class WHERE oid = to_regclass('${table}')), 'none')`;

/** Locks the rollups and, in the same message to the server, asks what these tables are, as of then. */
async function lockedStates(tables: readonly string[], client: PoolClient): Promise<State[]> {
  const answers = await client.query(`${LOCK_ROLLUPS}; SELECT ARRAY[${tables.map(stateOf).join(', ')}] AS states`);
  const [, asked] = answers as unknown as [unknown, QueryResult<{ states: State[] }>];
  return asked.rows[0]?.states ?? [];
}
