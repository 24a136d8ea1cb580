import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomOf } from '../simulator/world';

/** What can go wrong with a pretended upstream; changed while it runs. */
export interface Faults {
  /** Share of requests that are answered 429 with Retry-After. */
  busy: number;
  /** Answers 503 to everything. */
  down: boolean;
}

/** What an upstream answers: a status and JSON. */
export interface Reply {
  status: number;
  body: unknown;
  /** Sent as it is, in place of the body: a file. */
  text?: Buffer;
}

export interface UpstreamServer {
  url: string;
  faults: Faults;
  /** Requests answered so far, by path. */
  asked: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Answers one request; `body` is the parsed JSON of a POST. Undefined: no such path. */
export type Answering = (request: {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: http.IncomingHttpHeaders;
  body: unknown;
}) => Promise<Reply | undefined>;

const RETRY_AFTER_S = 1;
const MAX_BODY = 1024 * 1024;

/** A pretended upstream on a free loopback port. */
export async function startUpstreamServer(answer: Answering, seed = 1): Promise<UpstreamServer> {
  const faults: Faults = { busy: 0, down: false };
  const asked = new Map<string, number>();
  const random = randomOf(seed, 'faults');
  const server = http.createServer((request, response) => {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const send = ({ status, body, text }: Reply, headers: Record<string, string> = {}): void => {
      const type = text === undefined ? 'application/json' : 'application/octet-stream';
      response.writeHead(status, { 'content-type': type, ...headers }).end(text ?? JSON.stringify(body));
    };
    if (faults.down) return send({ status: 503, body: { error: 'unavailable' } });
    if (random() < faults.busy) return send({ status: 429, body: { error: 'rate limited' } }, { 'retry-after': String(RETRY_AFTER_S) });
    readBody(request)
      .then((body) => answer({ method: request.method ?? 'GET', path, query, headers: request.headers, body }))
      .then((reply) => send(reply ?? { status: 404, body: { error: 'not found' } }))
      .catch(() => send({ status: 500, body: { error: 'internal' } }));
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: http.IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY) throw new Error('The body is too large.');
    chunks.push(chunk as Buffer);
  }
  return size === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown);
}
