import { PassThrough } from 'node:stream';
import { progressBar } from '../../src/cli/progress';

// How far a long work is, where there is no terminal: in a log, or in a pipe.

function told(work: (bar: ReturnType<typeof progressBar>) => void): string {
  const stream = new PassThrough();
  const bar = progressBar('{value} records', stream, 60_000);
  work(bar);
  bar.stop();
  return String(stream.read() ?? '');
}

test('the last line is told once, and no empty one after it', () => {
  expect(told((bar) => bar.start(0, 0))).toBe('0 records\n');
  expect(
    told((bar) => {
      bar.start(0, 0);
      bar.increment(7);
    }),
  ).toBe('0 records\n7 records\n');
});

test('a work that never began is not told of', () => expect(told(() => undefined)).toBe(''));
