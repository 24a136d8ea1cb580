/**
 * A PostgreSQL array's text. Only for ids, numbers, truth values and instants, which hold nothing that an array's text would have to
 * escape: the driver looks at every letter of every element to find out.
 */
export const arrayOf = (values: readonly (string | number | boolean | Date | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : value instanceof Date ? value.toISOString() : value)).join(',')}}`;
