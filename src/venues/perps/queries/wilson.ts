import { Z_90 } from '../../../lib/statistics';

/** Wilson's lower bound in SQL, for ordering only: answers carry `wilsonLowerBound`. Null of nothing. */
export function wilsonSql(wins: string, trials: string): string {
  const n = `nullif(${trials}::float8, 0)`;
  const share = `(${wins}::float8 / ${n})`;
  const z2 = `${Z_90 ** 2}`;
  return `((${share} + ${z2} / (2 * ${n}) - ${Z_90} * sqrt(${share} * (1 - ${share}) / ${n} + ${z2} / (4 * ${n} * ${n}))) / (1 + ${z2} / ${n}))`;
}
