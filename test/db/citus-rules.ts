import type { Place } from './distribution';

/** A LATERAL subquery with LIMIT (or OFFSET) in a statement: what stands before it in its FROM, and what it reads. */
export interface CutLateral {
  outer: string;
  inner: string;
}

/** Every LATERAL subquery of the text that cuts its rows. */
export function cutLaterals(text: string): CutLateral[] {
  const found: CutLateral[] = [];
  for (const { index, 0: opening } of text.matchAll(/\bLATERAL\s*\(/gi)) {
    const start = index + opening.length;
    const inner = text.slice(start, closing(text, start));
    if (/\b(LIMIT|OFFSET)\b/i.test(inner)) found.push({ outer: beforeIn(text, index), inner });
  }
  return found;
}

/** Place of the parenthesis that closes the one before `start`. */
function closing(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    else if (text[at] === ')') depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}

/** What the FROM list that `index` stands in names before it. */
function beforeIn(text: string, index: number): string {
  let depth = 0;
  for (let at = index; at > 0; at -= 1) {
    if (text[at] === ')') depth += 1;
    else if (text[at] === '(' && depth > 0) depth -= 1;
    else if (text[at] === '(') return text.slice(at + 1, index);
    if (depth === 0 && /^FROM\s/i.test(text.slice(at, at + 5))) return text.slice(at + 5, index);
  }
  return text.slice(0, index);
}

const tablesIn = (sql: string, places: ReadonlyMap<string, Place>): string[] =>
  [...new Set(sql.match(/\b[a-z]+(?:_[a-z]+)*\b/g) ?? [])].filter((word) => places.has(word));

/** Citus runs a LATERAL subquery with LIMIT where a distributed table stands before it, and what it reads stands beside that table. */
export function runsOnCitus({ outer, inner }: CutLateral, places: ReadonlyMap<string, Place>): boolean {
  const besides = (sql: string): string[] =>
    tablesIn(sql, places).flatMap((table) => {
      const place = places.get(table);
      return typeof place === 'object' ? [place.beside] : [];
    });
  const read = besides(inner);
  return read.length === 0 || read.every((beside) => besides(outer).includes(beside));
}
