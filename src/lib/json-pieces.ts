/**
 * Characters of a piece, more or less. A string of 128 KB or more has pages of its own, which V8 asks the system for each time, and again as JSON.stringify lets it grow: 700 KB
 * in one take five times as long as in pieces.
 */
const PIECE = 32_768;

/** The JSON text of a value, as JSON.stringify writes it, in pieces that follow each other. */
export function jsonPieces(value: unknown): string[] {
  const pieces: string[] = [];
  let piece = '';
  writeAny(value, (text) => {
    piece += text;
    if (piece.length < PIECE) return;
    pieces.push(piece);
    piece = '';
  });
  return [...pieces, piece];
}

type Add = (text: string) => void;

function writeAny(value: unknown, add: Add): void {
  if (Array.isArray(value)) writeList(value, add);
  else if (isRecord(value)) writeRecord(value, add);
  else add(JSON.stringify(value));
}

/** Whether JSON writes it by its fields: an instant writes itself. */
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { toJSON?: unknown }).toJSON !== 'function';

function writeRecord(record: Record<string, unknown>, add: Add): void {
  let before = '{';
  for (const [name, value] of Object.entries(record)) {
    if (value === undefined) continue;
    add(`${before}${JSON.stringify(name)}:`);
    writeAny(value, add);
    before = ',';
  }
  add(before === '{' ? '{}' : '}');
}

/** As many items at once as half a piece holds, if those that follow are as long as those before. */
function writeList(items: readonly unknown[], add: Add): void {
  let before = '[';
  for (let at = 0, some = 1; at < items.length;) {
    const text = JSON.stringify(items.slice(at, at + some));
    add(before + text.slice(1, -1));
    before = ',';
    at += some;
    some = Math.max(1, Math.floor((some * PIECE) / 2 / text.length));
  }
  add(items.length === 0 ? '[]' : ']');
}
