import type { IngestReport } from '../../src/workers/source';
import { Unread } from '../../src/workers/unread';

/** A step that skipped so many for these reasons, after steps with so many unread ones in a row. */
function stepOf(before: number, skipped: IngestReport['skipped'], known: Partial<IngestReport> = {}): Unread {
  const step = new Unread(before);
  step.add({ harmless: ['spot'] }, { read: 0, inserted: 0, duplicates: 0, skipped, ...known });
  return step;
}

test('unread records count from step to step until something is read, new or known', () => {
  expect(stepOf(12, { odd: 3 }).inARow(3)).toBe(15);
  for (const known of [{ inserted: 1 }, { duplicates: 1 }]) {
    const step = stepOf(12, { odd: 30 }, known);
    expect(step.inARow(30)).toBe(0);
    expect(() => step.check('a feed')).not.toThrow();
  }
});

test('twenty of them and none read stop a feed, which names the commonest reason; what nobody asks for does not', () => {
  expect(() => stepOf(10, { odd: 9 }).check('a feed')).not.toThrow();
  expect(() => stepOf(10, { odd: 4, torn: 6 }).check('a feed')).toThrow('a feed tells nothing that can be read: of 20 records none (torn)');
  expect(() => stepOf(30, { spot: 30 }).check('a feed')).not.toThrow();
});
