import type { GraphContext } from '../../venue';
import { makeLoaders } from '../loaders';

const DAY = 86_400_000;

/** A provider's score as of now, decimal text: of the newest run up to today. */
export function scoreNow(owner: string, context: GraphContext): Promise<string | null> {
  const tomorrow = new Date(context.now.getTime() + DAY).toISOString().slice(0, 10);
  return context.loaders(makeLoaders).scoreBefore.load({ owner, day: tomorrow });
}

/** Names in the answer the formula that its scores rest on. */
export async function nameScores(context: GraphContext): Promise<void> {
  context.meta.score_version = await context.loaders(makeLoaders).scoreVersion();
}
