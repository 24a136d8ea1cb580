import http from 'node:http';
import type { Endpoint } from '../../src/endpoints/endpoint';

/** Parameters by name, as a caller means them. */
export type Input = Readonly<Record<string, unknown>>;

/** Query string or body text of a request. */
export function requestOf(endpoint: Endpoint, input: Input): { path: string; body: string | undefined } {
  if (endpoint.method === 'POST') return { path: endpoint.path, body: JSON.stringify(input) };
  const query = new URLSearchParams(Object.entries(input).map(([name, value]) => [name, String(value)])).toString();
  return { path: query === '' ? endpoint.path : `${endpoint.path}?${query}`, body: undefined };
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
