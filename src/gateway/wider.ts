import type { Endpoint, Parameter, Value } from '../endpoints/endpoint';
import type { Reading } from '../endpoints/reading';
import { AppError } from '../errors';

/** What a parameter lets most through by; undefined of one that does not narrow, or says what is asked about. */
function widest({ name, required, filter, min, default: usual }: Parameter): Value | undefined {
  if (name.startsWith('min_')) return min ?? undefined;
  // The questions widen windows themselves: what one without a name stands for may be shorter.
  if (required || name === 'cursor' || name === 'timeframe') return undefined;
  if (filter !== null) return filter.unless ?? usual ?? null;
  // What stands for nothing where it is left out narrows.
  return usual === undefined ? null : undefined;
}

/** Where nothing was found and the question knew no better: the error with filters left out, and the least asked for, as its suggestion. Behind the last page of a list nothing is. */
export function widened(thrown: unknown, { parameters, oneOfRequired }: Endpoint, { variables }: Reading): unknown {
  const { code, context } = thrown instanceof AppError ? thrown : {};
  if (code !== 'empty_result' || context?.suggestion !== undefined || variables.cursor !== undefined) return thrown;
  const needed = new Set(oneOfRequired.flat());
  const wider = parameters
    .filter(({ name }) => !needed.has(name))
    .map((parameter) => [parameter.name, widest(parameter)] as const)
    .filter(([name, value]) => value !== undefined && value !== (variables[name] ?? null));
  return wider.length === 0 ? thrown : new AppError(code, { ...context, suggestion: Object.fromEntries(wider) });
}
