import type { PoolClient } from 'pg';
import { groupedBy } from '../grouped';
import { monthTable, openMonth } from '../rollups/months-due';

const DAY_MS = 86_400_000;

const ONE_MAKER = 'LOCK TABLE pm_trade IN SHARE UPDATE EXCLUSIVE MODE';

/** Where rows of each month are written: `pm_trade`, or a month's own table while it is filled before it becomes a partition. */
export class Months {
  private readonly tables = new Map<string, string>();
  private readonly ofDay = new Map<number, string>();

  constructor(private readonly rollups: 'now' | 'later') {}

  /** Rows by the table they belong in, which is made where it is not there. */
  async sort<Row extends { timestamp: Date }>(rows: readonly Row[], client: PoolClient): Promise<Map<string, Row[]>> {
    for (const { timestamp } of rows) {
      const day = Math.floor(timestamp.getTime() / DAY_MS);
      if (this.ofDay.has(day)) continue;
      const month = new Date(day * DAY_MS).toISOString().slice(0, 7);
      const table = this.tables.get(month) ?? (await this.tableOf(month, client));
      this.tables.set(month, table);
      this.ofDay.set(day, table);
    }
    return groupedBy(rows, ({ timestamp }) => this.ofDay.get(Math.floor(timestamp.getTime() / DAY_MS)) as string);
  }

  private async tableOf(month: string, client: PoolClient): Promise<string> {
    const table = monthTable(month);
    const known = await partitionState(table, client);
    if (known !== 'none') return known === 'partition' ? 'pm_trade' : table;
    // One maker at a time; taking the lock also makes this session see what the one before it made.
    await client.query(ONE_MAKER);
    if (this.rollups === 'now') {
      await client.query("SELECT ensure_month_partitions('pm_trade', $1, $1)", [`${month}-01T00:00:00Z`]);
      return 'pm_trade';
    }
    if ((await partitionState(table, client)) === 'partition') return 'pm_trade';
    await openMonth(client, table);
    return table;
  }
}

async function partitionState(table: string, client: PoolClient): Promise<'none' | 'partition' | 'due'> {
  const { rows } = await client.query<{ attached: boolean }>(
    'SELECT relispartition AS attached FROM pg_class WHERE oid = to_regclass($1)',
    [table],
  );
  return rows[0] === undefined ? 'none' : rows[0].attached ? 'partition' : 'due';
}
