import { pageOf } from '../../../workers/pages';
import type { FeedCursor, LiveContext, LiveSource, LiveStep } from '../../../workers/source';
import { UpstreamError } from '../../../workers/upstream';
import { DAMM_V2_PROGRAM, DCA_PROGRAM, DLMM_PROGRAM } from '../chain-addresses';
import { type ChainReader, type Listed } from './live-rpc';
import { transactions } from './transactions';

const PROGRAMS = { dlmm: DLMM_PROGRAM, damm_v2: DAMM_V2_PROGRAM, dca: DCA_PROGRAM } as const;
type Program = keyof typeof PROGRAMS;

/** Transactions of one step. */
const STEP = 400;
/** More signatures than this are not held: what is older is read by a poll after. */
const HELD_AT_MOST = 200_000;
/** A listed transaction that the node does not have is asked for by this many polls, then left out. */
const PATIENCE = 5;

/** Where the reading of one program stands. */
interface Place {
  /** Newest transaction that is in; null before the first. */
  signature: string | null;
  /** Its block time, unix seconds; before the first, where reading begins. */
  at: number;
  /** The transaction that holds reading up, and how many polls have asked for it. */
  missing: { signature: string; polls: number } | null;
}
type ChainCursor = Record<Program, Place>;

/**
 * The transactions of both pool programs and of recurring orders, at finality: signatures newest first down to what is known, then
 * their transactions oldest first. One feed, for its parts begin where one recording ended.
 */
export function liveChain(node: ChainReader, poll_ms: number): LiveSource {
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
      let whole = true;
      for (const program of Object.keys(PROGRAMS) as Program[]) {
        for await (const { place, done, ...step } of stepsOf(node, program, places[program], to, context)) {
          places = { ...places, [program]: place };
          whole &&= done;
          yield { ...step, cursor: places as unknown as FeedCursor, watermark: null };
        }
      }
      yield { pages: [], cursor: places as unknown as FeedCursor, watermark: whole ? to : null };
    },
  };
}

type ProgramStep = Pick<LiveStep, 'pages' | 'skipped'> & { place: Place; done: boolean };

async function* stepsOf(
  node: ChainReader,
  program: Program,
  from: Place,
  to: Date,
  { signal, now }: LiveContext,
): AsyncGenerator<ProgramStep> {
  // A time beyond the newest block's would hide all that comes after.
  const latest = Math.floor(Math.min(to.getTime(), now().getTime()) / 1_000);
  const { listed, whole } = await newer(node, PROGRAMS[program], from, signal);
  let place = from;
  for (let at = 0; at < listed.length; at += STEP) {
    const slice = listed.slice(at, at + STEP);
    const wanted = slice.filter(({ failed }) => !failed).map(({ signature }) => signature);
    const answers = await node.transactions(wanted, signal);
    const read = readable(wanted, answers, place);
    const last = read.until === null ? slice.at(-1) : slice[slice.findIndex(({ signature }) => signature === read.until) - 1];
    const polls = place.missing !== null && place.missing.signature === read.until ? place.missing.polls + 1 : 1;
    place = {
      signature: last?.signature ?? place.signature,
      at: Math.min(last?.at ?? place.at, latest),
      missing: read.until === null ? null : { signature: read.until, polls },
    };
    const failed = slice.slice(0, last === undefined ? 0 : slice.indexOf(last) + 1).filter((one) => one.failed).length;
    const name = `transactions_${program}_${place.at}_${at}.ndjson`;
    yield {
      pages: read.records.length === 0 ? [] : [{ source: transactions, page: pageOf(name, 'ndjson', read.records) }],
      skipped: counted({ failed_transaction: failed, transaction_gone: read.gone }),
      place,
      done: whole && read.until === null,
    };
    if (read.until !== null) return;
  }
}

const counted = (reasons: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(reasons).filter(([, count]) => count > 0));

/** The answers up to the first that is missing; one that was asked for often enough is left out. */
function readable(
  wanted: readonly string[],
  answers: readonly (Record<string, unknown> | null)[],
  { missing }: Place,
): { records: Record<string, unknown>[]; until: string | null; gone: number } {
  const records: Record<string, unknown>[] = [];
  let gone = 0;
  for (const [i, answer] of answers.entries()) {
    if (answer !== null) records.push(answer);
    else if (missing !== null && missing.signature === wanted[i] && missing.polls >= PATIENCE) gone += 1;
    else return { records, until: wanted[i] as string, gone };
  }
  return { records, until: null, gone };
}

/**
 * Transactions after `place`, oldest first; not whole where there are more than are held: then these are the oldest ones. A node that
 * no longer knows the newest one that is in lists on into the past, so times end the listing too.
 */
async function newer(node: ChainReader, program: string, place: Place, signal: AbortSignal): Promise<{ listed: Listed[]; whole: boolean }> {
  const listed: Listed[] = [];
  let whole = true;
  for (let before: string | null = null; ;) {
    const page: Listed[] = await node.list(program, before, place.signature, signal);
    const fresh = page.filter(({ at }) => at === null || at >= place.at);
    listed.push(...fresh);
    // A short page is no end: nodes list fewer than they are asked for, and rows that name nothing are left out.
    if (page.length === 0 || fresh.length < page.length) break;
    const last = page.at(-1)?.signature ?? null;
    if (last === before) throw new UpstreamError('getSignaturesForAddress answered the same page again', null);
    before = last;
    if (listed.length > HELD_AT_MOST) {
      listed.splice(0, listed.length - HELD_AT_MOST / 2);
      whole = false;
    }
  }
  return { listed: listed.reverse(), whole };
}
