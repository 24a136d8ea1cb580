import type { Problem } from '../errors';
import type { Format, Value } from './endpoint';

/** A problem, and the code of a refusal for nothing else. */
type ReadProblem = Problem & { code: 'invalid_parameter' | 'missing_parameter' | 'range_too_large' };

/** What a request asks for, in canonical form, and what is wrong with it. */
export interface Reading {
  /** Every parameter with a value: as sent, or its default. Bad ones are as if absent. */
  variables: Record<string, Value>;
  /** Parameters that were sent, well or badly. */
  sent: Set<string>;
  problems: ReadProblem[];
  /** Values that would be right, by parameter. */
  suggestion: Record<string, string>;
  /** Unknown names: never silently dropped. */
  ignored: string[];
  warnings: string[];
  fields: readonly string[] | null;
  format: Format;
}
