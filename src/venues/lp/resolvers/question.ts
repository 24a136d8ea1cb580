import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { openEnded } from '../queries/open-ends';
import { withoutEmpty } from '../queries/segments';

/** Root fields as questions: their statements are sent without what is empty, and read what is going on as a whole. */
export const questions = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, question(field as Resolver<unknown, unknown>)]));

const question =
  (field: Resolver<unknown, unknown>): Resolver<unknown, unknown> =>
  (root, args, context: GraphContext, info) => {
    const newest = (): Promise<number> => context.loaders(makeLoaders).newestChange();
    return field(root, args, { ...context, sql: openEnded(withoutEmpty(context.sql, newest), newest) }, info);
  };
