import { isCursor } from '../lib/cursor';
import { FORMS, type Form } from '../lib/forms';
import { nearest } from '../lib/nearest';
import type { Parameter } from './endpoint';

type Scalar = string | number | boolean;

/** One value read: canonical, or what is wrong with it and what would be right. */
export type ValueReading =
  | { ok: true; value: Scalar; warning?: string }
  | { ok: false; issue: string; allowed?: unknown; suggestion?: string };

/** What a value of a parameter is, whichever of its spellings was sent. */
export const sameOf = (value: Scalar, { type }: Parameter): Scalar => (FORMS[type]?.anyCase === true ? String(value).toUpperCase() : value);

type Reader = (raw: unknown, parameter: Parameter) => ValueReading;

const wrong = (issue: string, allowed?: unknown, suggestion?: string): ValueReading => ({ ok: false, issue, allowed, suggestion });

const textOf = (raw: unknown): string | undefined => (typeof raw === 'string' ? raw : undefined);

const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$/;

function readNumber(raw: unknown, parameter: Parameter, integer: boolean): ValueReading {
  const value = typeof raw === 'number' ? raw : typeof raw === 'string' && NUMBER.test(raw) ? Number(raw) : Number.NaN;
  const bounds = { min: parameter.min, max: parameter.max };
  if (!Number.isFinite(value)) return wrong(`is not ${integer ? 'a whole number' : 'a number'}`, bounds);
  if (integer && !Number.isInteger(value)) return wrong('is not a whole number', bounds);
  if (value < (parameter.min as number) || value > (parameter.max as number))
    return wrong(`is outside ${parameter.min} to ${parameter.max}`, bounds);
  return { ok: true, value: Object.is(value, -0) ? 0 : value };
}

const BOOLEANS: Record<string, boolean> = { true: true, '1': true, false: false, '0': false };

function readBoolean(raw: unknown): ValueReading {
  if (typeof raw === 'boolean') return { ok: true, value: raw };
  const word = textOf(raw)?.toLowerCase();
  if (word !== undefined && Object.hasOwn(BOOLEANS, word)) return { ok: true, value: BOOLEANS[word] as boolean };
  return wrong('is not true or false', [true, false]);
}

function readChoice(raw: unknown, choices: readonly string[]): ValueReading {
  const text = textOf(raw);
  const found = text === undefined ? undefined : choices.find((choice) => choice.toLowerCase() === text.toLowerCase());
  return found === undefined
    ? wrong('is not one of the allowed values', choices, text && nearest(text, choices))
    : { ok: true, value: found };
}

/** Something that is seen: neither space nor a mark of formatting. */
const VISIBLE = /[^\s\p{Cf}]/u;

function readText(raw: unknown, parameter: Parameter): ValueReading {
  const text = textOf(raw);
  const [min, max] = [parameter.min ?? 1, parameter.max ?? 256];
  const allowed = `a text of ${min} to ${max} characters without control characters`;
  if (text === undefined) return wrong('is not a text', allowed);
  if (!VISIBLE.test(text)) return wrong('is empty', allowed);
  // Characters as people and JSON Schema count them: one beyond the first 65,536 takes two places in a string.
  const { length } = [...text];
  if (length < min || length > max) return wrong(`must have ${min} to ${max} characters`, { min, max });
  // PostgreSQL cannot store NUL, and no identifier holds a control character.
  if (/\p{Cc}/u.test(text)) return wrong('holds control characters', allowed);
  return { ok: true, value: text };
}

function readForm(raw: unknown, { canonical, words, choices, meant, lowers }: Form): ValueReading {
  const text = textOf(raw);
  const value = text === undefined ? undefined : canonical(text);
  if (value === undefined) return wrong(`is not ${words}`, choices ?? words, text && meant?.(text));
  return lowers === true && value !== text ? { ok: true, value, warning: 'upper-case letters were lowered' } : { ok: true, value };
}

const CURSOR: Form = { canonical: (text) => (isCursor(text) ? text : undefined), words: 'a meta.next_cursor of this list' };

/** How a value of each GraphQL type is read. Enums and @choices come before this table. */
const READERS: Record<string, Reader> = {
  Int: (raw, parameter) => readNumber(raw, parameter, true),
  Float: (raw, parameter) => readNumber(raw, parameter, false),
  Boolean: readBoolean,
  String: readText,
  Cursor: (raw) => readForm(raw, CURSOR),
  ...Object.fromEntries(Object.entries(FORMS).map(([name, form]): [string, Reader] => [name, (raw) => readForm(raw, form)])),
};

/** Whether a parameter may have this GraphQL type, which is no enum. */
export const isReadable = (type: string): boolean => type in READERS;

/** Reads one value (one item, for lists) of a parameter. Never throws. */
export function readValue(raw: unknown, parameter: Parameter): ValueReading {
  if (parameter.choices) return readChoice(raw, parameter.choices);
  const reader = READERS[parameter.type];
  if (reader === undefined) throw new Error(`No reader for the type ${parameter.type}`);
  return reader(raw, parameter);
}

/** What one value (one item, for lists) may be, in the words of a refusal: as something that is never right is refused. */
export function allowedOf(parameter: Parameter): unknown {
  const read = readValue(undefined, parameter);
  return read.ok ? undefined : read.allowed;
}
