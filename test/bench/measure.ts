import { nearestRank } from '../../src/lib/statistics';

/** Latencies in milliseconds of `count` runs, `concurrent` at a time. */
export async function latencies(count: number, concurrent: number, run: (index: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      const started = performance.now();
      await run(index);
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: concurrent }, worker));
  return times;
}

/** A quantile of latencies, to the hundredth of a millisecond. */
export const quantileMs = (times: readonly number[], q: number): number => Number((nearestRank(times, q) ?? 0).toFixed(2));

export interface Figure {
  what: string;
  [column: string]: string | number;
}

/** One row of a table: median, 99th percentile and rate. */
export function figure(what: string, times: readonly number[], seconds: number): Figure {
  const ms = (q: number): number => quantileMs(times, q);
  return { what, runs: times.length, 'p50 ms': ms(0.5), 'p99 ms': ms(0.99), 'per second': Math.round(times.length / seconds) };
}

/** Prints rows as a Markdown table, as test/bench/README.md keeps them. */
export function printTable(title: string, rows: readonly Figure[]): void {
  const columns = Object.keys(rows[0] ?? { what: '' });
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  process.stdout.write(
    `\n### ${title}\n\n${[line(columns), line(columns.map(() => '---')), ...rows.map((row) => line(columns.map((column) => row[column] ?? '')))].join('\n')}\n`,
  );
}

/** Runs `work` and returns its result with the seconds it took. */
export async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const started = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - started) / 1_000 };
}
