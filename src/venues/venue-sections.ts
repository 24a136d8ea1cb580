import type { GraphContext } from './venue';

/** A section of an answer: null where its work fails. */
export type Section = <T>(name: string, work: Promise<T>) => Promise<T | null>;

/** Sections of an answer stand by themselves: one that fails is null and named in the warnings, and the operator is told why. Who asks next is not given the gap again. */
export const sectionsOf =
  (context: GraphContext): Section =>
  async (name, work) => {
    try {
      return await work;
    } catch (error) {
      // Of an answer that nobody waits for any more nothing is missing.
      if (context.signal?.aborted !== true) context.failed(name, error);
      context.meta.warnings.push(`${name} could not be told this time`);
      context.meta.good_for_s = 0;
      return null;
    }
  };
