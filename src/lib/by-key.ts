import DataLoader from 'dataloader';

/** A loader of the one row of each key, null where there is none; `list` finds the rows of many keys, in any order. */
export function byKey<Row>(list: (keys: string[]) => Promise<Row[]>, keyOf: (row: Row) => string): DataLoader<string, Row | null> {
  return new DataLoader(async (keys) => {
    const found = new Map((await list([...keys])).map((row) => [keyOf(row), row]));
    return keys.map((key) => found.get(key) ?? null);
  });
}
