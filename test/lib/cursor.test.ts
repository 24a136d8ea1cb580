import fc from 'fast-check';
import { AppError } from '../../src/errors';
import { CURSOR_FORMS, decodeCursor, encodeCursor, isCursor, listScope, orNull } from '../../src/lib/cursor';

const scope = ['markets/trades', { condition_id: '0x1', limit: 10 }];
const ANY = /^/;
const forms = [CURSOR_FORMS.instant, CURSOR_FORMS.word];

test('a position comes back as it was', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { maxLength: 4 }), (position) => {
      expect(
        decodeCursor(
          encodeCursor(position, scope),
          scope,
          position.map(() => ANY),
        ),
      ).toEqual(position);
    }),
  );
});

test('a text that is no cursor of any list is told from one that is', () => {
  const positions = fc.array(fc.oneof(fc.string({ maxLength: 20 }), fc.integer(), fc.constant(null)), { minLength: 1, maxLength: 4 });
  fc.assert(fc.property(positions, (position) => expect(isCursor(encodeCursor(position, scope))).toBe(true)));
  fc.assert(fc.property(fc.string(), (text) => expect(isCursor(text)).toBe(false)));
  const [mark] = JSON.parse(Buffer.from(encodeCursor([1], scope), 'base64url').toString()) as [string];
  for (const value of [[mark], ['short', 1], [1, 1], [mark, { a: 1 }], [mark, [1]], { mark }, [mark, 'x'.repeat(400)]])
    expect(isCursor(Buffer.from(JSON.stringify(value)).toString('base64url'))).toBe(false);
  expect(isCursor(`${encodeCursor([1], scope)}=`)).toBe(false);
});

test('a cursor of another list, of another length, or made up is refused', () => {
  const cursor = encodeCursor([1, 'a'], scope);
  expect(() => decodeCursor(cursor, ['markets/trades', { condition_id: '0x2', limit: 10 }], forms)).toThrow(AppError);
  expect(() => decodeCursor(cursor, scope, [...forms, ANY])).toThrow(AppError);
  expect(() => decodeCursor(encodeCursor([1, 'a', 'b'], scope), scope, forms)).toThrow(AppError);
  fc.assert(
    fc.property(fc.string(), (text) =>
      expect(() => decodeCursor(text, scope, forms)).toThrow(expect.objectContaining({ code: 'invalid_parameter' })),
    ),
  );
});

test('a refusal shows the first 80 characters of what came', () => {
  const cursor = `${'a'.repeat(79)}bc`;
  const details = [expect.objectContaining({ param: 'cursor', got: `${'a'.repeat(79)}b` })];
  expect(() => decodeCursor(cursor, scope, forms)).toThrow(expect.objectContaining({ context: { details } }));
});

test('a cursor that was changed on its way is refused', () => {
  const [mark, ...position] = JSON.parse(Buffer.from(encodeCursor([1, 'a'], scope), 'base64url').toString()) as unknown[];
  fc.assert(
    fc.property(fc.nat({ max: 1 }), fc.oneof(fc.string(), fc.integer(), fc.constant(null)), (index, value) => {
      fc.pre(value !== position[index]);
      const changed = Buffer.from(JSON.stringify([mark, ...position.with(index, value)])).toString('base64url');
      expect(() => decodeCursor(changed, scope, [ANY, ANY])).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
    }),
  );
});

test.each(['.', '=', ' ', '!', 'A'])('a cursor with a stray %p is refused, though a lenient decoder reads the same in it', (stray) => {
  const cursor = encodeCursor([1, 'a'], scope);
  expect(() => decodeCursor(`${cursor}${stray}`, scope, [ANY, ANY])).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
});

// Whoever reads the source can compute the mark of any position.
test.each([
  [['2026-01-01', 'a']],
  [[1e300, 'a']],
  [[-1, 'a']],
  [[1.5, 'a']],
  [[null, 'a']],
  [[1, "'; DROP TABLE payment; --"]],
  [[1, 'a\n']],
  [[1, '']],
  [[1, ['a'] as unknown as string]],
  [[1, { toString: 'a' } as unknown as string]],
])('a well-marked cursor whose values have not the list’s forms is refused: %j', (position) => {
  expect(() => decodeCursor(encodeCursor(position, scope), scope, forms)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
});

test('a list is the same whatever order its parameters are named in, and on all its pages', () => {
  const named = [
    { limit: 5, side: 'BUY' },
    { side: 'BUY', cursor: 'x', limit: 5, coin: null },
    { limit: 5, side: 'SELL' },
  ];
  const [one, same, other] = named.map((parameters) => listScope('trades', parameters));
  expect(same).toEqual(one);
  expect(other).not.toEqual(one);
});

test.each([
  [CURSOR_FORMS.bigint, ['-999999999999999999', 0], ['9223372036854775808', '1.5', '']],
  [CURSOR_FORMS.index, ['0', '9999'], ['10000', '-1', '']],
  [CURSOR_FORMS.number, ['0', '-12.5', '1e-7', 1e21, 0.1], ['', '1e999', 'NaN', '--1', '1.', '0x1', 'Infinity']],
  [CURSOR_FORMS.day, ['2026-01-31', '2028-02-29'], ['2026-13-01', '2026-01-32', '26-01-01', '2026-02-29', '2026-04-31', '0000-01-01', 'x']],
  [orNull(CURSOR_FORMS.instant), ['0', '1767225600000', null], ['nullx', '', 'x1', '999999999999999']],
])('%s', (form, sound, unsound) => {
  expect(sound.filter((value) => !form.test(String(value)))).toEqual([]);
  expect(unsound.filter((value) => form.test(value))).toEqual([]);
});
