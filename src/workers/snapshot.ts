import type { LRUCache } from 'lru-cache';
import type { Statement } from '../db/sql';
import { AppError } from '../errors';
import { lruOf } from '../lib/lru';
import { MINUTE_MS } from '../lib/time';
import type { GraphContext, Snapshot } from '../venues/venue';

/** A copy is served at most so long; from half of that on the answer says how old it is. */
export const MOST_AGE_MS = 30 * MINUTE_MS;
const NOTABLE_AGE_MS = 15 * MINUTE_MS;
const RETRY_S = 60;

/** What JSON makes of plain data: instants become texts. */
export type Json<T> = T extends Date ? string : T extends object ? { [K in keyof T]: Json<T[K]> } : T;

/** Parts whose newest copy a process remembers. */
const MOST_REMEMBERED = 100;

// A copy is read once: bodies are long, and to parse them anew is dearer than most answers.
const READ: Statement = {
  name: 'snapshot_read',
  keyed: true,
  text: 'SELECT as_of, built_at, CASE WHEN built_at IS DISTINCT FROM $4 THEN body END AS body FROM snapshot WHERE name = $1 AND part = $2 AND as_of <= $3',
};

/** One part of a snapshot. */
export interface Kept<T> {
  as_of: Date;
  body: Json<T>;
}

/** The last copy of a part, if any was ever kept; warns when it is late. Throws stale_data when it is older than 30 minutes. */
export async function findKept<T>(context: GraphContext, snapshot: Snapshot<T>, part: string): Promise<Kept<T> | undefined> {
  const kept = await readCopy<T>(context, snapshot.name, part);
  if (kept === undefined) return undefined;
  const age = context.now.getTime() - kept.as_of.getTime();
  if (age > MOST_AGE_MS) throw new AppError('stale_data', { reason: 'snapshot_age', retry_after_s: RETRY_S });
  context.meta.good_for_s = goodForMs(age) / 1_000;
  if (age > NOTABLE_AGE_MS) context.meta.warnings.push(`This answer is ${Math.floor(age / MINUTE_MS)} minutes old: its next copy is late.`);
  return kept;
}

/** How long an answer from a copy of this age says the truth: until the warning is due, then until that counts another minute, or the copy is not sold. */
const goodForMs = (age: number): number =>
  age <= NOTABLE_AGE_MS ? NOTABLE_AGE_MS - age : Math.min(MINUTE_MS - (age % MINUTE_MS), MOST_AGE_MS - age);

interface Copy<T> extends Kept<T> {
  built_at: Date;
}

const remembered = new WeakMap<object, LRUCache<string, Copy<unknown>>>();

/** The last copy as of the context's now, its body frozen; the same one as long as none was built since. */
async function readCopy<T>({ sql, prisma, now }: GraphContext, name: string, part: string): Promise<Copy<T> | undefined> {
  const copies = remembered.get(prisma) ?? lruOf<Copy<unknown>>(MOST_REMEMBERED);
  remembered.set(prisma, copies);
  const key = `${name}|${part}`;
  const known = copies.get(key);
  const [row] = await sql.query<{ as_of: Date; built_at: Date; body: Json<T> | null }>(READ, [name, part, now, known?.built_at ?? null]);
  if (row === undefined) return undefined;
  if (row.body === null) return known as Copy<T>;
  const copy = { ...row, body: frozen(row.body) };
  copies.set(key, copy);
  return copy;
}

/** Plain data that nobody can change any more. */
function frozen<T>(data: T): T {
  if (typeof data === 'object' && data !== null) Object.values(Object.freeze(data)).forEach(frozen);
  return data;
}

/**
 * One part of a snapshot, not to be changed, and the instant it is as of; names that instant in meta. Where none was ever kept it is made now. Throws stale_data when
 * the last copy is older than 30 minutes.
 */
export async function readSnapshot<T>(context: GraphContext, snapshot: Snapshot<T>, part: string): Promise<Kept<T>> {
  const kept = await findKept(context, snapshot, part);
  if (kept === undefined) return { as_of: context.now, body: await bodyOf(context, snapshot, part, false) };
  context.meta.as_of = kept.as_of;
  return kept;
}

/** What would be kept, once refreshed or not: the same data as that which is read back. */
export async function bodyOf<T>(context: GraphContext, snapshot: Snapshot<T>, part: string, refreshed: boolean): Promise<Json<T>> {
  return JSON.parse(JSON.stringify(await snapshot.build(context, part, refreshed))) as Json<T>;
}
