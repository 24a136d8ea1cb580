/** Values of a statement that is put together from parts; each part names its own by number. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Takes a value; tells its place in the statement, with its type. */
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}
