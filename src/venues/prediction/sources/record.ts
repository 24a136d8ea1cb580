import { addCount } from '../../../lib/grouped';
import { storable } from '../../../lib/storable';

/** A JSON object with unknown fields. */
export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A non-empty text without surrounding blanks, or undefined. */
export function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = storable(value).trim();
  return text === '' ? undefined : text;
}

/** An id or a name that may be written as a number; empty for an object, which has no text of its own and may refuse to be one. */
export const wordOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** A boolean that may be written as text, or undefined. */
export function flagOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return undefined;
  const word = value.trim().toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : undefined;
}

/** A list that may be JSON text inside JSON (the catalogue writes lists so), or undefined. */
export function listOf(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value as unknown[];
  if (typeof value !== 'string') return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    return Array.isArray(parsed) ? (parsed as unknown[]) : undefined;
  } catch {
    return undefined;
  }
}

/** A record that could not be used, and why: a short word that is counted. */
export interface Unusable {
  skip: string;
}

export const isUnusable = (value: object): value is Unusable => 'skip' in value;

/** Counts reasons. */
export class Reasons {
  readonly counts: Record<string, number> = {};
  add(reason: string): void {
    addCount(this.counts, reason);
  }
}
