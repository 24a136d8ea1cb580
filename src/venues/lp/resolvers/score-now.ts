import { DAY_MS, isoDay } from '../../../lib/time';
import type { GraphContext } from '../../venue';
import { makeLoaders } from '../loaders';

/** A provider's score as of now, decimal text: of the newest run up to today. */
export function scoreNow(owner: string, context: GraphContext): Promise<string | null> {
  const tomorrow = isoDay(new Date(context.now.getTime() + DAY_MS));
  return context.loaders(makeLoaders).scoreBefore.load({ owner, day: tomorrow });
}

/** Names in the answer the formula that its scores rest on. */
export async function nameScores(context: GraphContext): Promise<void> {
  context.meta.score_version = await context.loaders(makeLoaders).scoreVersion();
}
