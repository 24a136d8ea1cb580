import crypto from 'node:crypto';
import { AppError } from '../errors';

/** The position after the last row sent: the sort key's values, as JSON scalars. */
export type CursorPosition = readonly (string | number | null)[];

/**
 * Opaque text of a position in a list, bound to the list: `scope` names the question and all its parameters but the
 * cursor itself, so that a cursor used with other parameters, or changed on its way, is refused instead of skipping rows.
 */
export function encodeCursor(position: CursorPosition, scope: unknown): string {
  return Buffer.from(JSON.stringify([fingerprint(scope, position), ...position])).toString('base64url');
}

/** The position inside a cursor of the same scope and length. Throws AppError invalid_parameter for any other text. */
export function decodeCursor(cursor: string, scope: unknown, length: number): CursorPosition {
  const [mark, ...position] = parse(cursor);
  if (mark !== fingerprint(scope, position) || position.length !== length || !position.every(isScalar)) {
    throw new AppError('invalid_parameter', {
      details: [
        {
          param: 'cursor',
          issue: 'is not a cursor of this list; send the other parameters unchanged',
          allowed: 'meta.next_cursor of the previous page',
          got: cursor.slice(0, 80),
        },
      ],
    });
  }
  return position as CursorPosition;
}

function parse(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

const isScalar = (value: unknown): boolean =>
  value === null || typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));

function fingerprint(scope: unknown, position: readonly unknown[]): string {
  return crypto
    .createHash('sha256')
    .update(JSON.stringify([scope, position]))
    .digest('base64url')
    .slice(0, 10);
}
