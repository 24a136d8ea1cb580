/** What `EXPLAIN (ANALYZE, FORMAT JSON)` tells of a part of a plan. */
export interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

/** The row of such an EXPLAIN. */
export interface Explained {
  'QUERY PLAN': [{ Plan: Plan }];
}

/** Rows of the table, or of its months, that a plan read, chosen or not. */
export function rowsRead(plan: Plan, table: string): number {
  const own =
    plan['Relation Name']?.replace(/_\d{6}$/, '') === table
      ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
      : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsRead(part, table), own);
}
