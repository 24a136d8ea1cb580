import { AppError } from '../../src/errors';
import { CURSOR_FORMS, encodeCursor } from '../../src/lib/cursor';
import { nextListCursor, openListPage } from '../../src/lib/list-page';
import { DAY_MS, MINUTE_MS } from '../../src/lib/time';

const NOW = new Date('2026-03-01T12:00:00Z');
const SCOPE = ['a list', { limit: 10 }];
const FORMS = [CURSOR_FORMS.number];
const open = (cursor: string | null, now = NOW) => openListPage(cursor, SCOPE, now, FORMS);

test('pages are as of the first one, whenever they are asked for within a day', () => {
  const first = open(null);
  expect(first).toEqual({ as_of: NOW, after: null });
  const cursor = nextListCursor(first, ['5.5'], SCOPE);
  // Another process's clock may be behind.
  for (const later of [-MINUTE_MS, -1, 0, 1, DAY_MS])
    expect(open(cursor, new Date(NOW.getTime() + later))).toEqual({ as_of: NOW, after: ['5.5'] }); // prettier-ignore
  expect(nextListCursor(open(cursor, new Date(NOW.getTime() + 1)), ['4'], SCOPE)).toBe(nextListCursor(first, ['4'], SCOPE));
});

test.each([
  ['a day and more later', new Date(NOW.getTime() + DAY_MS + 1)],
  ['more than a minute before its instant', new Date(NOW.getTime() - MINUTE_MS - 1)],
])('a cursor that is read %s is refused', (_when, now) => {
  expect(() => open(nextListCursor(open(null), ['5'], SCOPE), now)).toThrow(AppError);
});

test('an instant that somebody wrote as text is read as the number it is', () =>
  expect(open(encodeCursor([String(NOW.getTime()), 5], SCOPE))).toEqual({ as_of: NOW, after: [5] }));
