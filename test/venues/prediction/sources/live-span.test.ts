import fc from 'fast-check';
import { type Ask, PAGE_ROWS, readSpan } from '../../../../src/venues/prediction/sources/live-span';
import { UpstreamError } from '../../../../src/workers/upstream';

interface Row {
  timestamp: number;
  id: number;
}

/** A listing of rows, newest first, that serves at most `cap` a page and refuses offsets beyond `offsets`. */
const listing =
  (rows: readonly Row[], cap: number, offsets = 10_000): Ask =>
  ({ start, end, limit, offset }) => {
    if (offset > offsets) return Promise.reject(new UpstreamError('offset', 400));
    const found = rows
      .filter(({ timestamp }) => timestamp >= start && timestamp <= end)
      .sort((a, b) => b.timestamp - a.timestamp || a.id - b.id);
    return Promise.resolve(found.slice(offset, offset + Math.min(limit, cap)));
  };

async function collect(ask: Ask, from: number, to: number) {
  const slices = [];
  for await (const slice of readSpan(ask, from, to)) slices.push(slice);
  return slices;
}

const rowsOf = (seconds: readonly number[], base: number): Row[] => seconds.map((second, id) => ({ timestamp: base + second, id }));
const BASE = 1_700_000_000;

test('every row of the span is told once, whole seconds together, oldest first: however few a page holds, and however many a second', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 500, max: 502 })), { maxLength: 1_500 }),
      fc.constantFrom(60, 100, PAGE_ROWS, 1_000),
      async (seconds, cap) => {
        const rows = rowsOf(seconds, BASE);
        const slices = await collect(listing(rows, cap), BASE + 100, BASE + 30_000);
        const told = slices.flatMap((slice) => slice.rows as Row[]);
        const due = rows.filter(({ timestamp }) => timestamp >= BASE + 100 && timestamp < BASE + 30_000);
        expect(told.map(({ id }) => id).sort((a, b) => a - b)).toEqual(due.map(({ id }) => id));
        expect(slices.map(({ from }) => from)).toEqual([BASE + 100, ...slices.slice(0, -1).map(({ to }) => to)]);
        expect(slices.at(-1)?.to).toBe(BASE + 30_000);
        for (const { from, to, rows: own } of slices)
          expect((own as Row[]).every(({ timestamp }) => timestamp >= from && timestamp < to)).toBe(true);
      },
    ),
    { numRuns: 40 },
  );
});

test('a second beyond the offsets a listing serves is told as far as it goes, and that it was cut off is counted', async () => {
  const many = rowsOf(Array<number>(12_000).fill(5), BASE);
  const [refused] = (await collect(listing(many, 500, 3_000), BASE + 5, BASE + 6)) as { rows: Row[]; skipped: object }[];
  expect([refused?.rows.length, refused?.skipped]).toEqual([3_500, { beyond_offset_cap: 1 }]);
  const capped = await collect(listing(many, 500), BASE + 5, BASE + 6);
  expect([capped[0]?.rows.length, capped[0]?.skipped]).toEqual([10_000, { beyond_offset_cap: 1 }]);
});

test('a listing that does not keep to its windows, or answers no rows, is refused', async () => {
  await expect(collect(() => Promise.resolve([{ timestamp: BASE - 9 }]), BASE, BASE + 10)).rejects.toThrow('outside the window');
  await expect(collect(() => Promise.resolve({ error: 'x' }), BASE, BASE + 10)).rejects.toThrow('did not answer with rows');
});

test('a listing that does not keep to its offsets is refused: its rows would be told again and again', async () => {
  const rows = rowsOf(Array<number>(60).fill(5), BASE);
  const ask = listing(rows, 500);
  await expect(collect((window) => ask({ ...window, offset: 0 }), BASE, BASE + 10)).rejects.toThrow('the same page again');
});

test('rows without a readable time are handed on, to be counted where they are decoded', async () => {
  const slices = await collect(({ offset }) => Promise.resolve(offset === 0 ? [{ timestamp: 'soon' }] : []), BASE, BASE + 10);
  expect(slices.map(({ rows }) => rows)).toEqual([[{ timestamp: 'soon' }]]);
});

test('a single row of another time is left out and counted; the rows beside it are told', async () => {
  const rows = rowsOf([1, 2, 3], BASE);
  const ask: Ask = ({ offset }) => Promise.resolve(offset === 0 ? [...rows, { timestamp: BASE - 9_000, id: 9 }] : []);
  expect(await collect(ask, BASE, BASE + 10)).toEqual([{ from: BASE, to: BASE + 10, rows, skipped: { outside_window: 1 } }]);
});
