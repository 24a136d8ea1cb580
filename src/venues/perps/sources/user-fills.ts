import type { LoadOptions, RecordedPage, RecordedSource } from '../../../workers/source';
import { OUT_OF_SCOPE } from './fill';
import { loadFills, type RawFill } from './load-fills';
import { isFillLike } from './node-fills';

const SOURCE = 'perps.user_fills';
const CHANNELS: readonly unknown[] = ['userFills', 'user'];
const TYPES: readonly unknown[] = ['userFills', 'userFillsByTime', 'userTwapSliceFills', 'userTwapSliceFillsByTime'];

/**
 * Fills of one account, in any of the shapes they are handed on:
 * - the answer of info `userFills` and its sisters: an array of fills (TWAP slices: `{fill, twapId}`), or a CSV of the same columns;
 *   the account comes from `options.account`;
 * - the websocket's `{channel: 'userFills', data: {user, fills}}` (`user` events lack the user: `options.account`), also after its word on what was
 *   subscribed to;
 * - a recorded exchange `{request: {body: {type, user}}, response: [fill, …]}`.
 */
export const userFills: RecordedSource = {
  name: SOURCE,
  harmless: OUT_OF_SCOPE,
  recognises: (first) =>
    isFillLike(first) || isFillLike(field(first, 'fill')) || isEnvelope(first) || isExchange(first) || isSubscribed(first),
  async load(page, client, options) {
    return loadFills(SOURCE, fillsOf(page, options), client, options, () => ({ cursor: { page: page.name }, watermark: null }));
  },
};

async function* fillsOf(page: RecordedPage, options: LoadOptions): AsyncGenerator<RawFill> {
  const merged = new Set<string | undefined>();
  for await (const record of page.records) {
    if (isEnvelope(record)) {
      const user = text(field(field(record, 'data'), 'user'));
      yield* fillsFor(user ?? options.account, field(field(record, 'data'), 'fills'), merged.has(user?.toLowerCase()));
    } else if (isExchange(record)) {
      const body = field(field(record, 'request'), 'body');
      yield* fillsFor(text(field(body, 'user')) ?? options.account, field(record, 'response'), field(body, 'aggregateByTime') === true);
    } else if (isSubscribed(record)) {
      const told = field(field(record, 'data'), 'subscription');
      if (field(told, 'aggregateByTime') === true) merged.add(text(field(told, 'user'))?.toLowerCase());
    } else yield* fillsFor(options.account, [record]);
  }
}

/** Fills as an account's. Merged partial fills are not the fills: their ids and sizes would double the real ones. */
function* fillsFor(account: string | undefined, fills: unknown, merged = false): Generator<RawFill> {
  const skip = merged ? 'aggregated' : undefined;
  for (const raw of fills as unknown[]) yield { account, raw: isFillLike(field(raw, 'fill')) ? field(raw, 'fill') : raw, skip };
}

function isEnvelope(value: unknown): boolean {
  return CHANNELS.includes(field(value, 'channel')) && Array.isArray(field(field(value, 'data'), 'fills'));
}

/** The websocket's answer to a subscription to an account's fills: it tells none itself. */
function isSubscribed(value: unknown): boolean {
  const type = field(field(field(value, 'data'), 'subscription'), 'type');
  return field(value, 'channel') === 'subscriptionResponse' && (type === 'userFills' || type === 'userEvents');
}

function isExchange(value: unknown): boolean {
  const body = field(field(value, 'request'), 'body');
  return TYPES.includes(field(body, 'type')) && Array.isArray(field(value, 'response'));
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
