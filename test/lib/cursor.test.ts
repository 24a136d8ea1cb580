import fc from 'fast-check';
import { AppError } from '../../src/errors';
import { decodeCursor, encodeCursor } from '../../src/lib/cursor';

const scope = ['markets/trades', { condition_id: '0x1', limit: 10 }];

test('a position comes back as it was', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { maxLength: 4 }), (position) => {
      expect(decodeCursor(encodeCursor(position, scope), scope, position.length)).toEqual(position);
    }),
  );
});

test('a cursor of another list, of another length, or made up is refused', () => {
  const cursor = encodeCursor([1, 'a'], scope);
  expect(() => decodeCursor(cursor, ['markets/trades', { condition_id: '0x2', limit: 10 }], 2)).toThrow(AppError);
  expect(() => decodeCursor(cursor, scope, 3)).toThrow(AppError);
  fc.assert(
    fc.property(fc.string(), (text) =>
      expect(() => decodeCursor(text, scope, 2)).toThrow(expect.objectContaining({ code: 'invalid_parameter' })),
    ),
  );
});

test('a cursor that was changed on its way is refused', () => {
  const [mark, ...position] = JSON.parse(Buffer.from(encodeCursor([1, 'a'], scope), 'base64url').toString()) as unknown[];
  fc.assert(
    fc.property(fc.nat({ max: 1 }), fc.oneof(fc.string(), fc.integer(), fc.constant(null)), (index, value) => {
      fc.pre(value !== position[index]);
      const changed = Buffer.from(JSON.stringify([mark, ...position.with(index, value)])).toString('base64url');
      expect(() => decodeCursor(changed, scope, 2)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
    }),
  );
});
