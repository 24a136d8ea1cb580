/** Values of a statement that is put together from parts; each part names its own by number. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Takes a value; tells its place in the statement, with its type. */
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }

  /** Takes a length of time in milliseconds, as an interval. */
  addLength(ms: number): string {
    return this.add(`${ms} milliseconds`, 'interval');
  }

  /**
   * Takes a list of texts that the planner is not to look into, for a condition `= ANY`: each text of a list it sees is compared with all common values of the
   * column, for every way to read the table that it thinks of. With a hundred market ids that took longer than reading.
   */
  addUnseen(texts: readonly string[]): string {
    return `ARRAY(SELECT unnest(${this.add(texts, 'text[]')}))`;
  }
}
