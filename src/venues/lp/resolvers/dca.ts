import { HOUR_MS } from '../../../lib/time';
import { lengthOf, type Timeframe } from '../../../lib/timeframe';
import type { GraphContext, Resolvers } from '../../venue';
import { findNewestOrderEvent, listPressure } from '../queries/dca-pressure';
import { nothingIn } from './asked';

interface PressureInput {
  token: string | null;
  timeframe: Timeframe;
  limit: number;
  min_volume_usd: number;
}

/** Without an event for so long, the feed is named as old. */
const QUIET_MS = HOUR_MS;

/** What open recurring orders will buy and sell in the window ahead. */
async function lpDcaPressure(_root: unknown, input: PressureInput, context: GraphContext): Promise<unknown> {
  const { sql, now, meta } = context;
  const { timeframe, limit, min_volume_usd } = input;
  const token = input.token ?? null;
  const length = lengthOf(timeframe) * 1_000;
  const until = Number.isFinite(length) ? new Date(now.getTime() + length) : null;
  const before = { from: until === null ? now : new Date(now.getTime() - length), to: now };
  const [rows, newest] = await Promise.all([
    listPressure(sql, { token, now, until, before, min_volume_usd, limit }),
    findNewestOrderEvent(sql, now),
  ]);
  const [first] = rows;
  if (first === undefined) throw nothingIn(null, token === null && min_volume_usd > 0 ? { min_volume_usd: 0 } : {});
  Object.assign(meta, { timeframe, window: until === null ? null : { from: now, to: until }, count: token === null ? rows.length : null });
  if (first.unpriced > 0)
    meta.warnings.push(
      `${first.unpriced} ${first.unpriced === 1 ? 'order pays' : 'orders pay'} in a token without a known price: counted, left out of sums`,
    );
  if (newest !== null && now.getTime() - newest.getTime() > QUIET_MS)
    meta.warnings.push(`newest event of recurring orders: ${newest.toISOString()}`);
  if (token !== null) {
    meta.ineffective = { limit: 'token', min_volume_usd: 'token' };
    return { __typename: 'DcaTokenPressure', ...first, timeframe };
  }
  return { __typename: 'DcaPressureList', timeframe, tokens: rows.map((row) => ({ ...row, timeframe })), last_updated: newest };
}

export const dcaResolvers = {
  Query: { lpDcaPressure },
  DcaPressure: { __resolveType: (answer: { __typename: string }) => answer.__typename },
} satisfies Resolvers;
