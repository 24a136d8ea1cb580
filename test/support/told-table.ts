/** Rows under their names as text, for a person to read. */
export function tableOf(title: string, rows: readonly Readonly<Record<string, string | number>>[]): string {
  const names = Object.keys(rows[0] ?? {});
  const cells = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? '')))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => (line[column] as string).length)));
  const lines = cells.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] as number))
      .join('  ')
      .trimEnd(),
  );
  return [title, ...lines].join('\n');
}
