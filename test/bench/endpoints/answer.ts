import type { Statements } from '../../../src/db/client';
import { rawOfBody, rawOfQuery, readParameters, refusalOf } from '../../../src/endpoints/read';
import type { PaidEndpoint } from '../../../src/gateway/paid';
import { makeContext } from '../../../src/graph/context';
import { jsonPieces } from '../../../src/lib/json-pieces';
import { quote } from '../../../src/pricing/quote';
import type { AnswerMeta } from '../../../src/venues/venue';
import { type Input, requestOf } from '../../support/ask';

/**
 * An answer without network, payment and cache: the parameters as they were sent in, the body's text out. Throws what the
 * question throws, and the refusal of an input that is refused.
 */
export async function answerInProcess({ endpoint, operation }: PaidEndpoint, input: Input, db: Statements, now: Date): Promise<string> {
  const { body, path } = requestOf(endpoint, input);
  const raw =
    body === undefined ? rawOfQuery(new URLSearchParams(path.split('?')[1] ?? '')) : rawOfBody(JSON.parse(body) as Record<string, unknown>);
  const reading = readParameters(endpoint, raw);
  const refused = refusalOf(reading);
  if (refused !== null) throw refused;
  quote(endpoint, reading.variables);
  const context = makeContext(db, now, AbortSignal.timeout(60_000));
  const data = await operation(reading.variables, context);
  return jsonPieces({ data, meta: written(context.meta) }).reduce((text, piece) => text + piece);
}

/** With instants as text, as the product writes them: one Date beside it, and V8 writes a long list in nearly twice the time. */
const written = (meta: AnswerMeta): Record<string, unknown> => ({
  ...meta,
  window: meta.window && { from: meta.window.from.toISOString(), to: meta.window.to.toISOString() },
  as_of: meta.as_of && meta.as_of.toISOString(),
});
