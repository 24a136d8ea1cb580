import type { Resolvers } from '../../venue';

/** Resolver map of the wing: root fields that answer, and the types they are made of. */
export const resolvers: Resolvers = {};
