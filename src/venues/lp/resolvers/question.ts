import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { withoutEmpty } from '../queries/segments';

/** Root fields as questions: their statements are sent without what is empty. */
export const questions = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, question(field as Resolver<unknown, unknown>)]));

const question =
  (field: Resolver<unknown, unknown>): Resolver<unknown, unknown> =>
  (root, args, context: GraphContext, info) =>
    field(root, args, { ...context, sql: withoutEmpty(context.sql, () => context.loaders(makeLoaders).newestChange()) }, info);
