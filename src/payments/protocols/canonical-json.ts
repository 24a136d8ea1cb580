import type { Json, JsonObject } from '../protocol';

const MAX_DEPTH = 8;

/** JSON Canonicalization Scheme (RFC 8785): keys by UTF-16 code unit, no blanks. Throws on numbers JSON does not have. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const keys = Object.keys(value).filter((key) => value[key] !== undefined);
    // Array.prototype.sort without a comparator orders by UTF-16 code units, as RFC 8785 3.2.3 asks.
    return `{${keys
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`)
      .join(',')}}`;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error('Not a JSON number');
  return JSON.stringify(value);
}

/** Base64url without padding of the canonical JSON. */
export function encodeJson(value: Json): string {
  return Buffer.from(canonicalJson(value)).toString('base64url');
}

/**
 * Reads base64url (no padding, canonical) of a UTF-8 JSON object nested at most 8 levels deep. Throws an Error whose
 * message is one word for the buyer: `encoding`, `json` or `too_deep`.
 */
export function decodeJson(encoded: string): JsonObject {
  const bytes = Buffer.from(encoded, 'base64url');
  if (encoded === '' || bytes.toString('base64url') !== encoded) throw new Error('encoding');
  const value = parse(bytes);
  if (!isObject(value)) throw new Error('json');
  return value;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parse(bytes: Buffer): Json {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('encoding');
  }
  if (depthOf(text) > MAX_DEPTH) throw new Error('too_deep');
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Error('json');
  }
}

/** Deepest nesting of a JSON text, counted before it is parsed. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (quoted) {
      if (char === '\\') i += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{' || char === '[') deepest = Math.max(deepest, (depth += 1));
    else if (char === '}' || char === ']') depth -= 1;
  }
  return deepest;
}
