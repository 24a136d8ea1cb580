import { type ASTNode, visit } from 'graphql';
import type { Endpoint } from '../endpoints/endpoint';
import { AppError } from '../errors';

/** Older answers are not sold: of a feed that is polled, and of the daily scores. */
export const FEED_LAG_LIMIT_S = 600;
export const SCORE_AGE_LIMIT_S = 48 * 3_600;
/** A feed is polled every few seconds, scores run within minutes once they can. */
const FEED_RETRY_S = 30;
const SCORE_RETRY_S = 300;

/** A live feed as it stands. */
interface FeedFreshness {
  feed: string;
  gates: boolean;
  watermark: Date | null;
  last_event_at: Date | null;
  /** Records since the feed began. */
  totals: { read: number; inserted: number; duplicates: number; skipped: Readonly<Record<string, number>> };
  /** Seconds from an event to its being visible, over the last events. */
  lag: { events: number; p50_s: number | null; p99_s: number | null };
  /** Why the last poll failed, in our own words, and since when none succeeded. */
  failure: { at: string; since?: string; words: string } | null;
}

/** Where a venue's data stands. */
export interface VenueFreshness {
  last_event_at: Date | null;
  watermark: Date | null;
  /** recorded: its upstreams are not polled, and nothing grows stale. */
  mode: 'live' | 'recorded';
  feeds: readonly FeedFreshness[];
}

/** What decides whether an endpoint's answer is too old to be sold. */
export interface Staleness {
  freshness: VenueFreshness;
  /** Up to which instant the venue was last scored; null: never, so that no answer has a score. */
  scored_at: Date | null;
  now: Date;
}

/** Whether a live feed of the venue lags so far that its answers are not sold. */
export const lagsBehind = ({ mode, watermark }: Pick<VenueFreshness, 'mode' | 'watermark'>, now: Date): boolean =>
  mode === 'live' && (watermark === null || ageOf(watermark, now) > FEED_LAG_LIMIT_S);

/** Whether scores as of then are too old to be sold. */
export const scoresTooOld = (scored_at: Date | null, now: Date): boolean => scored_at !== null && ageOf(scored_at, now) > SCORE_AGE_LIMIT_S;

/** Whether polls of a live feed have failed for so long that whatever is only read from it would be too old. */
export const failsForLong = ({ failure }: Pick<FeedFreshness, 'failure'>, now: Date): boolean =>
  failure !== null && ageOf(new Date(failure.since ?? failure.at), now) > FEED_LAG_LIMIT_S;

const ageOf = (at: Date, now: Date): number => (now.getTime() - at.getTime()) / 1_000;

/** stale_data, when a live feed of the venue lags by more than 10 minutes, or the answer has scores that are older than 48 hours; else null. */
export function staleError(endpoint: Endpoint, { freshness, scored_at, now }: Staleness): AppError | null {
  if (lagsBehind(freshness, now)) return new AppError('stale_data', { reason: 'feed_lag', retry_after_s: FEED_RETRY_S });
  if (scoresTooOld(scored_at, now) && usesScores(endpoint))
    return new AppError('stale_data', { reason: 'score_age', retry_after_s: SCORE_RETRY_S });
  return null;
}

const known = new WeakMap<Endpoint, boolean>();

/** Whether a document names scores of the daily run, or what is counted by them: smart and dumb money. */
export function usesScores(endpoint: Endpoint): boolean {
  const found = known.get(endpoint) ?? namesOf(endpoint.document).some((name) => isOfScores(name, endpoint.venue));
  known.set(endpoint, found);
  return found;
}

/** Of pools a bare `score` is an order's own; providers' are `lp_score`. */
const isOfScores = (name: string, venue: Endpoint['venue']): boolean =>
  /smart|dumb/i.test(name) || (venue === 'lp' ? /lp_?score/i.test(name) : /(^|_)score($|_)/.test(name));

/** Fields of the answer and parameters that a document names; the root field's own name tells the question, not what is in it. */
function namesOf(document: ASTNode): string[] {
  const names: string[] = [];
  let depth = 0;
  visit(document, {
    Field: {
      enter: (node) => {
        if (depth > 0) names.push(node.name.value);
        depth += 1;
      },
      leave: () => void (depth -= 1),
    },
    VariableDefinition: (node) => void names.push(node.variable.name.value),
  });
  return names;
}
