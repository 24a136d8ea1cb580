import { HOUR_MS, MINUTE_MS, isoDay } from '../../../lib/time';
import { pageOf } from '../../../workers/pages';
import type { LiveSource, LiveStep } from '../../../workers/source';
import { UpstreamError } from '../../../workers/upstream';
import { decodeTime } from './fill';
import { fillsByBlock, isBlock } from './fills-by-block';
import type { HourFiles } from './hour-files';

/** Bytes asked for at a time, and fills of one step. */
const MOST_BYTES = 4 * 1024 * 1024;
/** A block that fills a whole piece is asked for in larger ones, up to this. */
const LONGEST_LINE = 16 * MOST_BYTES;
const STEP_FILLS = 5_000;
const NEW_LINE = 0x0a;
/** Missing hours that one poll looks beyond. */
const MOST_MISSING = 48;
/** Whoever lags has told all of an hour that has been over for so long. */
const LATE_MS = 5 * MINUTE_MS;

/** An hour's file and the byte up to which its whole lines are in. */
interface Place {
  /** Start of the hour in milliseconds. */
  hour: number;
  offset: number;
  /** Time of the newest block before that byte, in milliseconds. Left out: none was read. */
  newest?: number;
}

/** Where reading stands. */
interface BlocksCursor extends Place {
  /** Where the hour before was left, until it is looked at once more: behind a balancer a node that lags may have told less than all of it. */
  before?: Place;
}

/** The file of an hour, as the node names it: days of eight digits, hours without zeros in front. */
export function pathOf(hour: number): string {
  const at = new Date(hour);
  return `/node_fills_by_block/hourly/${isoDay(at).replace(/-/g, '')}/${at.getUTCHours()}`;
}

/**
 * Fills of all accounts, block by block, from the hourly files that a node of the venue writes and appends to. Blocks are final: nothing
 * is ever taken back. The watermark is the newest block's time: blocks come many times a second, some without fills.
 */
export function liveBlocks(files: HourFiles, poll_ms: number): LiveSource {
  return {
    name: 'perps.fills',
    continues: 'perps.fills_by_block',
    gates: true,
    late_ms: 0,
    poll_ms,
    begin: (from) => ({ hour: Math.floor(from.getTime() / HOUR_MS) * HOUR_MS, offset: 0 }) satisfies BlocksCursor,
    head: ({ now }) => Promise.resolve(now()),
    async *update(cursor, to, { signal }) {
      const { before: left, ...stand } = cursor as unknown as BlocksCursor;
      let [place, before]: [Place, Place | undefined] = [stand, left];
      if (before !== undefined && to.getTime() >= place.hour + LATE_MS) {
        yield* restOf(files, before, place, signal);
        before = undefined;
      }
      // An hour is over when a later one is there; what was written until then is still to be read.
      for (let next: number | null = null; ;) {
        const piece = await pieceOf(files, place, signal);
        if (piece === 'anew' || (piece === 'less' && !mayLag(place, to))) {
          place = { hour: place.hour, offset: 0 };
          continue;
        }
        const { written, is_full } = piece === null || piece === 'less' ? NOTHING : piece;
        for (const step of stepsOf(place, linesOf(written, next !== null && !is_full))) {
          place = step.cursor;
          yield { ...step, cursor: { ...place, before } satisfies BlocksCursor };
        }
        // A piece that is not full was all there is: what is written meanwhile is the next poll's.
        if (is_full) continue;
        if (next === null) {
          next = await nextHour(files, place.hour, to.getTime(), signal);
          if (next !== null) continue;
          if (!(await areGone(files, place.hour, to.getTime(), signal))) return;
          next = place.hour + MOST_MISSING * HOUR_MS;
        }
        if (before !== undefined) yield* restOf(files, before, place, signal);
        [before, place, next] = [place, { hour: next, offset: 0 }, null];
        yield { pages: [], cursor: { ...place, before } satisfies BlocksCursor, watermark: null };
      }
    },
  };
}

const NOTHING: Piece = { written: Buffer.alloc(0), is_full: false };

/** Whether a file that holds less than was read of it may be a lagging node's, which comes as far: else it was written anew. */
const mayLag = ({ newest }: Place, now: Date): boolean => newest !== undefined && Math.abs(now.getTime() - newest) < LATE_MS;

/** What a file holds behind the place where it was left, in steps: the reading of a newer hour stays where it is. */
async function* restOf(files: HourFiles, left: Place, now: Place, signal: AbortSignal): AsyncGenerator<LiveStep> {
  for (let place = left, is_full = true; is_full;) {
    const piece = await pieceOf(files, place, signal);
    if (piece === null) break;
    if (piece === 'anew' || piece === 'less') {
      place = { hour: left.hour, offset: 0 };
      continue;
    }
    is_full = piece.is_full;
    for (const step of stepsOf(place, linesOf(piece.written, !is_full))) {
      place = step.cursor;
      yield { ...step, cursor: { ...now, before: place } satisfies BlocksCursor };
    }
  }
  yield { pages: [], cursor: { ...now } satisfies BlocksCursor, watermark: null };
}

/** The first hour after this one that has blocks, up to `to`; null: none yet. */
async function nextHour(files: HourFiles, hour: number, to: number, signal: AbortSignal): Promise<number | null> {
  for (let next = hour + HOUR_MS; next <= to && next <= hour + MOST_MISSING * HOUR_MS; next += HOUR_MS)
    if (await hasBlocks(files, next, signal)) return next;
  return null;
}

/** Whether a block stands in a file: nothing has been written where none does, or a proxy answers in words of its own. */
async function hasBlocks(files: HourFiles, hour: number, signal: AbortSignal): Promise<boolean> {
  const piece = await pieceOf(files, { hour, offset: 0 }, signal);
  if (piece === null || typeof piece === 'string') return false;
  return linesOf(piece.written, false).some(({ text }) => isBlock(parsed(text)));
}

/**
 * Whether so many hours without a file after this one are to be passed: where they were served they are gone, or the node was off for days. One
 * that is off still may write what it has missed, before the newest hours.
 */
async function areGone(files: HourFiles, hour: number, to: number, signal: AbortSignal): Promise<boolean> {
  const newest = Math.floor(to / HOUR_MS) * HOUR_MS;
  return hour + MOST_MISSING * HOUR_MS <= to && (await nextHour(files, newest - 2 * HOUR_MS, to, signal)) !== null;
}

interface Line {
  text: string;
  bytes: number;
}

/** What is in a file from a byte on. */
interface Piece {
  written: Buffer;
  /** It ends where it was asked to: there may be more. */
  is_full: boolean;
}

/**
 * The next piece of a file, with one whole line at least where it is full. A line ends before that byte: where none does any more, the
 * file was written anew, and where there is no such byte it holds less than was read of it.
 */
async function pieceOf(files: HourFiles, { hour, offset }: Place, signal: AbortSignal): Promise<Piece | 'anew' | 'less' | null> {
  const path = pathOf(hour);
  const before = offset > 0 ? 1 : 0;
  for (let most = MOST_BYTES; most <= LONGEST_LINE; most *= 2) {
    const read = await files.read(path, offset - before, before + most, signal);
    if (read === null) return null;
    if (before > 0 && read[0] !== NEW_LINE) return read.length === 0 ? 'less' : 'anew';
    const written = read.subarray(before);
    const is_full = written.length >= most;
    if (!is_full || written.includes(NEW_LINE)) return { written, is_full };
  }
  throw new UpstreamError(`${path} has a line longer than ${LONGEST_LINE} bytes`, null);
}

/**
 * Whole lines; what follows the last one is still being written, or once the file is `over` its last line, which nothing ends and the cursor stays
 * before. A line's bytes are counted, not its text's: not all bytes are text.
 */
function linesOf(written: Buffer, over: boolean): Line[] {
  const lines: Line[] = [];
  let at = 0;
  for (let end = 0; (end = written.indexOf(NEW_LINE, at)) >= 0; at = end + 1)
    lines.push({ text: written.toString('utf8', at, end), bytes: end + 1 - at });
  if (over && at < written.length) lines.push({ text: written.toString('utf8', at), bytes: 0 });
  return lines;
}

/** Lines behind a place in steps of so many fills, each with the place behind it. A line that is no JSON is skipped, and said so. */
function* stepsOf({ hour, offset, newest }: Place, lines: readonly Line[]): Generator<LiveStep & { cursor: Place }> {
  let blocks: unknown[] = [];
  let [fills, unreadable, at, latest] = [0, 0, offset, newest ?? 0];
  const step = (): LiveStep & { cursor: Place } => {
    const times = blocks.flatMap((block) => decodeTime((block as { block_time?: unknown } | null)?.block_time) ?? []);
    latest = Math.max(latest, ...times);
    const page = pageOf(`${pathOf(hour)}@${at}`, 'ndjson', blocks);
    return {
      pages: blocks.length === 0 ? [] : [{ source: fillsByBlock, page }],
      cursor: { hour, offset: at, ...(latest > 0 && { newest: latest }) },
      watermark: times.length === 0 ? null : new Date(Math.max(...times)),
      unread: unreadable === 0 ? {} : { unreadable },
    };
  };
  for (const { text, bytes } of lines) {
    const block = parsed(text);
    at += bytes;
    if (block === undefined) unreadable += 1;
    else blocks.push(block);
    fills += Array.isArray((block as { events?: unknown } | undefined)?.events) ? (block as { events: unknown[] }).events.length : 0;
    if (fills < STEP_FILLS) continue;
    yield step();
    [blocks, fills, unreadable] = [[], 0, 0];
  }
  if (blocks.length > 0 || unreadable > 0) yield step();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
