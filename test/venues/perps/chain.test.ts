import fc from 'fast-check';
import { chainOrder, type Link } from '../../../src/venues/perps/sources/chain';

/** A walk of a position through fills: what the upstream would state, in tenths so that float noise occurs. */
function walk(start: number, deltas: number[], noise = 0): Link[] {
  let position = start;
  return deltas.map((delta, index) => {
    const link = { start: position / 10 + (index % 2 ? noise : -noise), delta: delta / 10 };
    position += delta;
    return link;
  });
}

const follows = (links: Link[], order: number[]): boolean =>
  order.every((index, place) => {
    const before = links[order[place - 1] ?? -1];
    return before === undefined || Math.abs(before.start + before.delta - (links[index] as Link).start) < 1e-6;
  });

test('fills given in order stay in order', () => {
  expect(chainOrder(walk(0, [5, 5, -3]))).toEqual([0, 1, 2]);
  expect(chainOrder([])).toEqual([]);
  expect(chainOrder(walk(4, [1]))).toEqual([0]);
});

test('newest first is turned round', () => {
  expect(chainOrder(walk(12_500, [-10_000, -2_500]).reverse())).toEqual([1, 0]);
});

test('any shuffle of any walk is put back on one chain, noise and returns to the same position included', () => {
  const cases = fc.tuple(
    fc.integer({ min: -50, max: 50 }),
    fc.array(
      fc.integer({ min: -9, max: 9 }).filter((delta) => delta !== 0),
      { minLength: 2, maxLength: 12 },
    ),
    fc.infiniteStream(fc.nat()),
  );
  fc.assert(
    fc.property(cases, ([start, deltas, keys]) => {
      const links = walk(start, deltas, 1e-11);
      const shuffled = links.map((link) => ({ link, key: keys.next().value as number })).sort((a, b) => a.key - b.key).map(({ link }) => link); // prettier-ignore
      const order = chainOrder(shuffled);
      return new Set(order).size === links.length && follows(shuffled, order);
    }),
    { numRuns: 2_000 },
  );
});

test('where fills are missing, the order given stays', () => {
  expect(chainOrder([{ start: 5, delta: 1 }, { start: 9, delta: 1 }, { start: 1, delta: 1 }])).toEqual([0, 1, 2]); // prettier-ignore
});
