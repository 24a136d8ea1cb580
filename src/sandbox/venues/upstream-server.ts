import http from 'node:http';
import { listenOn } from '../../lib/net';
import type { UpstreamUrls } from '../../workers/source';
import { close, readBody } from '../loopback';
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

/** A venue's pretended upstream: a server that speaks the real one's language. */
export interface PretendUpstream {
  /** As the feeds are configured. */
  urls: UpstreamUrls;
  faults: Faults;
  stop(): Promise<void>;
}

export interface UpstreamServer {
  url: string;
  faults: Faults;
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

/** A pretended upstream on a free loopback port. */
export async function startUpstreamServer(answer: Answering, seed = 1): Promise<UpstreamServer> {
  const faults: Faults = { busy: 0, down: false };
  const random = randomOf(seed, 'faults');
  const server = http.createServer((request, response) => {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
    const send = ({ status, body, text }: Reply, headers: Record<string, string> = {}): void => {
      const type = text === undefined ? 'application/json' : 'application/octet-stream';
      response.writeHead(status, { 'content-type': type, ...headers }).end(text ?? JSON.stringify(body));
    };
    if (faults.down) return send({ status: 503, body: { error: 'unavailable' } });
    if (random() < faults.busy) return send({ status: 429, body: { error: 'rate limited' } }, { 'retry-after': String(RETRY_AFTER_S) });
    readBody(request)
      .then((text) => (text === '' ? undefined : (JSON.parse(text) as unknown)))
      .then((body) => answer({ method: request.method ?? 'GET', path, query, headers: request.headers, body }))
      .then((reply) => send(reply ?? { status: 404, body: { error: 'not found' } }))
      .catch(() => send({ status: 500, body: { error: 'internal' } }));
  });
  const port = await listenOn(server, 0, '127.0.0.1');
  return { url: `http://127.0.0.1:${port}`, faults, stop: () => close(server) };
}
