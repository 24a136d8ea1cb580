import { pageOf } from '../../../workers/pages';
import type { FeedCursor, LiveContext, LiveSource, LiveStep } from '../../../workers/source';
import { UpstreamError } from '../../../workers/upstream';
import { DAMM_V2_PROGRAM, DCA_PROGRAM, DLMM_PROGRAM } from '../chain-addresses';
import { type ChainReader, LISTED_AT_ONCE, type Listed, UnknownTransaction } from './live-rpc';
import { transactions } from './transactions';

const PROGRAMS = { dlmm: DLMM_PROGRAM, damm_v2: DAMM_V2_PROGRAM, dca: DCA_PROGRAM } as const;
type Program = keyof typeof PROGRAMS;

/** Transactions of one step. */
const STEP = 400;
/** So many signatures are held: where more are listed, only their places in the listing are remembered, and the oldest are read first. */
const HELD = 100_000;
/** A listed transaction that the node does not have is asked for by this many polls at least, then left out. */
const PATIENCE = 5;
/** But not before so many seconds are final after it: behind a balancer, one node lists what another that lags does not have yet. */
const PATIENCE_S = 60;

/** Where the reading of one program stands. */
interface Place {
  /** Newest transaction that is in; null before the first. */
  signature: string | null;
  /** Its block time, unix seconds; before the first, where reading begins. */
  at: number;
  /** The transaction that holds reading up, and how many polls have asked for it. */
  missing: { signature: string; polls: number } | null;
  /** While far behind: transactions down to which the listing has been walked, each `held` signatures older than the one before. Left out: none. */
  marks?: readonly string[];
}
type ChainCursor = Record<Program, Place>;

/**
 * The transactions of both pool programs and of recurring orders, at finality: signatures newest first down to what is known, then
 * their transactions oldest first. One feed, for its parts begin where one recording ended: of them the one that is furthest behind is read first,
 * and the watermark is where that one stands.
 */
export function liveChain(node: ChainReader, poll_ms: number, held = HELD): LiveSource {
  return {
    name: 'lp.chain',
    continues: 'lp.transactions',
    gates: true,
    poll_ms,
    begin: (from) => {
      const place: Place = { signature: null, at: Math.floor(from.getTime() / 1_000), missing: null };
      return { dlmm: place, damm_v2: place, dca: place } satisfies ChainCursor;
    },
    head: ({ signal }) => node.head(signal),
    async *update(cursor, to, context) {
      let places = cursor as unknown as ChainCursor;
      const parts = (Object.keys(PROGRAMS) as Program[]).map((program) => ({
        program,
        steps: stepsOf(node, program, places[program], to, held, context),
        /** Up to where it is read, in milliseconds. */
        until: Math.min(places[program].at * 1_000, to.getTime()),
      }));
      const watermark = (): Date => new Date(Math.min(...parts.map(({ until }) => until)));
      for (const open = [...parts]; open.length > 0;) {
        open.sort((a, b) => a.until - b.until);
        const [part] = open as [(typeof parts)[number]];
        const { value, done } = await part.steps.next();
        if (done === true) {
          if (value) part.until = to.getTime();
          open.shift();
          continue;
        }
        const { place, ...step } = value;
        places = { ...places, [part.program]: place };
        part.until = Math.min(place.at * 1_000, to.getTime());
        yield { ...step, cursor: places as unknown as FeedCursor, watermark: watermark() };
      }
      yield { pages: [], cursor: places as unknown as FeedCursor, watermark: watermark() };
    },
  };
}

type ProgramStep = Pick<LiveStep, 'pages' | 'skipped'> & { place: Place };

/** Reads a program, window by window where it is far behind; tells whether it is read to the end. */
async function* stepsOf(
  node: ChainReader,
  program: Program,
  from: Place,
  to: Date,
  held: number,
  context: LiveContext,
): AsyncGenerator<ProgramStep, boolean> {
  for (let place = from; ;) {
    const listing = newer(node, PROGRAMS[program], place, held, context.signal);
    let window = await listing.next();
    for (; window.done !== true; window = await listing.next()) {
      place = { ...place, marks: window.value };
      yield { pages: [], place };
    }
    const reading = windowOf(node, program, place, window.value, to, context);
    let step = await reading.next();
    for (; step.done !== true; step = await reading.next()) yield { ...step.value, place: (place = step.value.place) };
    if (!step.value) return false;
    const marks = place.marks ?? [];
    if (marks.length === 0) return true;
    // What the mark stands at is the oldest of the next window.
    place = { ...place, marks: marks.slice(0, -1) };
    yield { pages: [], place };
  }
}

/** Reads the transactions of a window, oldest first; tells whether nothing held that up. */
async function* windowOf(
  node: ChainReader,
  program: Program,
  from: Place,
  listed: readonly Listed[],
  to: Date,
  { signal, now }: LiveContext,
): AsyncGenerator<ProgramStep, boolean> {
  // A time beyond the newest block's would hide all that comes after.
  const latest = Math.floor(Math.min(to.getTime(), now().getTime()) / 1_000);
  let place = from;
  for (let at = 0; at < listed.length; at += STEP) {
    const slice = listed.slice(at, at + STEP);
    const wanted = slice.filter(({ failed }) => !failed);
    const answers = await node.transactions(
      wanted.map(({ signature }) => signature),
      signal,
    );
    const read = readable(wanted, answers, place, to);
    const last = read.until === null ? slice.at(-1) : slice[slice.findIndex(({ signature }) => signature === read.until) - 1];
    const polls = place.missing !== null && place.missing.signature === read.until ? place.missing.polls + 1 : 1;
    place = {
      ...place,
      signature: last?.signature ?? place.signature,
      at: Math.max(place.at, Math.min(last?.at ?? place.at, latest)),
      missing: read.until === null ? null : { signature: read.until, polls },
    };
    const failed = slice.slice(0, last === undefined ? 0 : slice.indexOf(last) + 1).filter((one) => one.failed).length;
    const name = `transactions_${program}_${place.at}_${at}.ndjson`;
    yield {
      pages: read.records.length === 0 ? [] : [{ source: transactions, page: pageOf(name, 'ndjson', read.records) }],
      skipped: counted({ failed_transaction: failed, transaction_gone: read.gone }),
      place,
    };
    if (read.until !== null) return false;
  }
  return true;
}

const counted = (reasons: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(reasons).filter(([, count]) => count > 0));

/** The answers up to the first that is missing; one that was waited for long enough is left out. */
function readable(
  wanted: readonly Listed[],
  answers: readonly (Record<string, unknown> | null)[],
  place: Place,
  to: Date,
): { records: Record<string, unknown>[]; until: string | null; gone: number } {
  const records: Record<string, unknown>[] = [];
  let gone = 0;
  for (const [i, answer] of answers.entries()) {
    const asked = wanted[i] as Listed;
    if (answer !== null) records.push(answer);
    else if (isGone(asked, place, to.getTime() / 1_000)) gone += 1;
    else return { records, until: asked.signature, gone };
  }
  return { records, until: null, gone };
}

/** Whether a transaction that is missing will not come; `final` is the newest block's time, unix seconds. */
function isGone({ signature, at }: Listed, { missing, at: newest }: Place, final: number): boolean {
  if (missing?.signature !== signature || missing.polls < PATIENCE) return false;
  // A time that is not known, or is wrong, must not be waited from: that of the newest that is in lies before it.
  const since = at === null || at > final ? newest : Math.max(at, newest);
  return final - since >= PATIENCE_S;
}

/**
 * Transactions after `place`, oldest first: all of them, or where there are more than twice `held` the oldest; then the marks of those left above are told
 * on the way. A listing that was walked already down to a mark goes on from there, or from the mark above one that the node no longer knows. A node
 * that no longer knows the newest one that is in lists on into the past, or refuses to end there, so times end the listing too. Behind a balancer the next
 * page may be another node's, which does not know yet what it is to go on from: below a full page it must have come as far, and where it tells
 * none, which older nodes do then as well, it is asked again.
 */
async function* newer(
  node: ChainReader,
  program: string,
  place: Place,
  held: number,
  signal: AbortSignal,
): AsyncGenerator<readonly string[], Listed[]> {
  let listed: Listed[] = [];
  let older: Listed[] = [];
  const marks = [...(place.marks ?? [])];
  let until = place.signature;
  let before = marks.at(-1) ?? null;
  let reached: number | null = null;
  // Only a page that is not full lets the next be empty.
  for (let ending = before === null; ;) {
    let page: Listed[];
    try {
      page = await node.list(program, before, until, signal, reached);
    } catch (error) {
      if (!(error instanceof UnknownTransaction)) throw error;
      if (until !== null) until = null;
      else if (before !== null && before === marks.pop()) {
        before = marks.at(-1) ?? null;
        yield [...marks];
      } else throw error;
      continue;
    }
    if (page.length === 0 && !ending) {
      ending = true;
      continue;
    }
    const fresh = page.findLastIndex(({ at }) => at === null || at >= place.at) + 1;
    // A short page is no end: nodes list fewer than they are asked for, and rows that name nothing are left out.
    if (fresh === 0) return listed.reverse();
    // A single time may be wrong: rows that are too old are the past only where nothing newer follows.
    listed.push(...older, ...page.slice(0, fresh));
    older = page.slice(fresh);
    const last = page.at(-1) as Listed;
    if (last.signature === before) throw new UpstreamError('getSignaturesForAddress answered the same page again', null);
    before = last.signature;
    ending = page.length < LISTED_AT_ONCE;
    reached = ending ? null : last.slot;
    // No window between two marks is as large as that: it is not divided again.
    if (listed.length <= 2 * held) continue;
    marks.push((listed[held - 1] as Listed).signature);
    listed = listed.slice(held);
    yield [...marks];
  }
}
