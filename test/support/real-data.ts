import fs from 'node:fs';
import path from 'node:path';

/**
 * Absolute path of a recorded upstream file (`real/perps/…`, `samples/pools/…`), or null where the recordings are absent.
 * They are not ours to publish, so they live beside the repository: SHARED_DATA, or ../shared/data.
 */
export function realData(relative: string): string | null {
  const root = process.env.SHARED_DATA ?? path.resolve(__dirname, '../../../shared/data');
  const file = path.join(root, relative);
  return fs.existsSync(file) ? file : null;
}

/** A test over a recorded file; skipped by name, with the reason, where the file is absent. */
export function testWithRealData(name: string, relative: string, run: (file: string) => Promise<void>, timeout?: number): void {
  const file = realData(relative);
  if (file === null) test.skip(`${name} (skipped: no recorded data at ${relative})`, () => undefined);
  else test(name, () => run(file), timeout);
}
