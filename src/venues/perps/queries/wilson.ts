import { Z_90 } from '../../../lib/statistics';

/** Wilson's lower bound in SQL, for ordering only: answers carry `wilsonLowerBound`. Null of nothing. */
export function wilsonSql(wins: string, trials: string): string {
  const n = `${trials}::float8`;
  const share = `(${wins}::float8 / ${n})`;
  const z2 = `${Z_90 ** 2}`;
  const bound = `(${share} + ${z2} / (2 * ${n}) - ${Z_90} * sqrt(${share} * (1 - ${share}) / ${n} + ${z2} / (4 * ${n} * ${n}))) / (1 + ${z2} / ${n})`;
  // Of none won it is 0, which the noise of binary fractions would not be for every number of trials.
  return `(CASE WHEN ${wins} > 0 THEN ${bound} WHEN ${trials} > 0 THEN 0 END)`;
}
