import type { PoolClient } from 'pg';
import { type Derived, lifeDays, lifeHours, poolLasts } from './days';
import { smartLasts } from './smart';

/** FROM items `c`: the changed pairs (pool_address, owner), and the changed owners. */
export interface Changed {
  pairs: string;
  owners: string;
}

interface Counted {
  derived: Derived;
  key: string;
  /** What is counted: a row in which all of it is zero is none. */
  counts: readonly string[];
  /** The changed rows of the table it is counted from. */
  source: (changed: Changed) => string;
  /** Its rows `t` that may have been emptied. */
  near: (changed: Changed) => string;
}

const ofPairs = (table: string): Pick<Counted, 'key' | 'source' | 'near'> => ({
  key: 'pool_address, unit, since',
  source: ({ pairs }) => `${pairs} JOIN ${table} p ON p.owner = c.owner AND p.pool_address = c.pool_address`,
  near: ({ pairs }) => `USING ${pairs} WHERE t.pool_address = c.pool_address`,
});

const ofOwners: Pick<Counted, 'counts' | 'source' | 'near'> = {
  counts: ['came', 'last'],
  source: ({ owners }) => `${owners} JOIN lp_owner_life l ON l.owner = c.owner`,
  near: () => 'WHERE true',
};

const COUNTED: readonly Counted[] = [
  { derived: poolLasts, counts: ['owners'], ...ofPairs('lp_owner_pool') },
  { derived: smartLasts, counts: ['owners', 'scores'], ...ofPairs('lp_smart_pool') },
  { derived: lifeDays, key: 'pool_type, day', ...ofOwners },
  { derived: lifeHours, key: 'hour, pool_type', ...ofOwners },
];

/**
 * Takes what changed out of the counts by day and hour (`-`, before it is counted anew) or puts it back in: there are too many providers to count
 * all of a day anew.
 */
export async function moveCounts(client: PoolClient, sign: '' | '-', changed: Changed): Promise<void> {
  for (const { derived, key, counts, source, near } of COUNTED) {
    const { table, columns, select } = derived;
    const moved = columns.split(', ').map((column) => (counts.includes(column) ? `${sign}n.${column}` : `n.${column}`));
    const text = `
INSERT INTO ${table} AS t (${columns}) SELECT ${moved.join(', ')} FROM (${select(source(changed))}) AS n(${columns})
ON CONFLICT (${key}) DO UPDATE SET ${counts.map((column) => `${column} = t.${column} + EXCLUDED.${column}`).join(', ')}`;
    await client.query({ name: `lp_${sign === '-' ? 'leave' : 'enter'}_${table}`, text });
    if (sign === '')
      await client.query(`DELETE FROM ${table} t ${near(changed)} AND ${counts.map((column) => `t.${column} = 0`).join(' AND ')}`);
  }
}
