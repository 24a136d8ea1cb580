import type { Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { tierOf } from '../tier';

interface TraderKey {
  trader: string;
}

/** What the newest score run says of whoever a record is about. */
export const scored = {
  smart_score: (async (key, _args, context) =>
    (await context.loaders(makeLoaders).score.load(key.trader))?.score ?? null) as Resolver<TraderKey>,
  tier: (async (key, _args, context) => {
    const score = (await context.loaders(makeLoaders).score.load(key.trader))?.score;
    return tierOf(score == null ? null : Number(score));
  }) as Resolver<TraderKey>,
  tags: (async (key, _args, context) => (await context.loaders(makeLoaders).score.load(key.trader))?.tags ?? []) as Resolver<TraderKey>,
};

/** An account, known by its address alone until a field is asked for. */
export const trader = {
  ...scored,
  positions: ((key, _args, context) => context.loaders(makeLoaders).positions.load(key.trader)) as Resolver<TraderKey>,
};
