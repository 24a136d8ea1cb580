import http from 'node:http';
import type { Database } from '../../../src/db/client';
import { crossCheck } from '../../../src/endpoints/checks';
import type { Endpoint } from '../../../src/endpoints/endpoint';
import { rawOfBody, rawOfQuery, readParameters } from '../../../src/endpoints/read';
import type { PaidEndpoint } from '../../../src/gateway/paid';
import { makeContext } from '../../../src/graph/context';
import { quote } from '../../../src/pricing/quote';

export type Input = Readonly<Record<string, unknown>>;

/** Query string or body text of a request. */
export function requestOf(endpoint: Endpoint, input: Input): { path: string; body: string | undefined } {
  if (endpoint.method === 'POST') return { path: endpoint.path, body: JSON.stringify(input) };
  const query = new URLSearchParams(Object.entries(input).map(([name, value]) => [name, String(value)])).toString();
  return { path: query === '' ? endpoint.path : `${endpoint.path}?${query}`, body: undefined };
}

/**
 * An answer without network, payment and cache: the parameters as they were sent in, the body's text out. Throws what the
 * question throws, and Error when the input is refused.
 */
export async function answerInProcess(
  { endpoint, operation }: PaidEndpoint,
  input: Input,
  db: Pick<Database, 'pool' | 'prisma'>,
  now: Date,
): Promise<string> {
  const { body, path } = requestOf(endpoint, input);
  const raw =
    body === undefined ? rawOfQuery(new URLSearchParams(path.split('?')[1] ?? '')) : rawOfBody(JSON.parse(body) as Record<string, unknown>);
  const reading = readParameters(endpoint, raw);
  crossCheck(endpoint, reading);
  if (reading.problems.length > 0 || operation === null) throw new Error(JSON.stringify(reading.problems));
  quote(endpoint, reading.variables);
  const context = makeContext(db, now, AbortSignal.timeout(60_000));
  const data = await operation(reading.variables, context);
  return JSON.stringify({ data, meta: context.meta });
}

export interface Told {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
}

/** One HTTP request over kept connections. */
export function ask(url: string, agent: http.Agent, method: string, path: string, body?: string | Buffer): Promise<Told> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    const request = http.request(`${url}${path}`, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() }),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}
