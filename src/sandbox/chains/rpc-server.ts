import http from 'node:http';
import { listenOn } from '../../lib/net';
import { close, readBody } from '../loopback';
import type { RpcFaults, RpcHandler, RpcReply, RpcRequest } from './rpc-faults';

/** A JSON-RPC 2.0 server on loopback. */
export interface RpcServer {
  url: string;
  stop(): Promise<void>;
}

const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-allow-methods': 'POST, OPTIONS' };

const envelope = (id: unknown, reply: RpcReply): Record<string, unknown> => ({ jsonrpc: '2.0', ...reply, id });

function isCall(value: unknown): value is { id?: unknown; method: string; params?: unknown } {
  return typeof value === 'object' && value !== null && typeof (value as { method?: unknown }).method === 'string';
}

/** One call to its envelope. Null: close the connection; undefined: a notification, which gets no reply. */
async function answer(value: unknown, handler: RpcHandler, faults: RpcFaults): Promise<Record<string, unknown> | null | undefined> {
  if (!isCall(value)) return envelope(null, { error: { code: -32600, message: 'Invalid Request' } });
  const request: RpcRequest = { id: value.id, method: value.method, params: value.params };
  const reply = await faults
    .run(request, handler)
    .catch((error: unknown): RpcReply => ({ error: { code: -32603, message: `Internal error: ${String(error)}` } }));
  if (reply === null) return null;
  return 'id' in value ? envelope(value.id, reply) : undefined;
}

async function answerBody(text: string, handler: RpcHandler, faults: RpcFaults): Promise<unknown> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return envelope(null, { error: { code: -32700, message: 'Parse error' } });
  }
  if (!Array.isArray(body)) return answer(body, handler, faults);
  if (body.length === 0) return envelope(null, { error: { code: -32600, message: 'Invalid Request' } });
  const replies = await Promise.all(body.map((call) => answer(call, handler, faults)));
  if (replies.includes(null)) return null;
  return replies.filter((reply) => reply !== undefined);
}

async function serve(request: http.IncomingMessage, response: http.ServerResponse, handler: RpcHandler, faults: RpcFaults): Promise<void> {
  if (request.method === 'OPTIONS') return void response.writeHead(204, CORS).end();
  if (request.method !== 'POST') return void response.writeHead(405, { ...CORS, allow: 'POST' }).end();
  const reply = await answerBody(await readBody(request), handler, faults);
  if (reply === null) return void request.socket.destroy();
  const text = reply === undefined || (Array.isArray(reply) && reply.length === 0) ? '' : JSON.stringify(reply);
  const headers = { ...CORS, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  response.writeHead(200, headers).end(text);
}

/**
 * Serves `handler` as JSON-RPC over HTTP on 127.0.0.1, single calls and batches and a free port, every call passing through
 * `faults`.
 */
export async function startRpcServer(handler: RpcHandler, faults: RpcFaults): Promise<RpcServer> {
  const server = http.createServer((request, response) => {
    serve(request, response, handler, faults).catch(() => request.socket.destroy());
  });
  server.keepAliveTimeout = 60_000;
  const taken = await listenOn(server, 0, '127.0.0.1');
  faults.attach(async (on) => {
    if (!on) await close(server);
    else if (!server.listening) await listenOn(server, taken, '127.0.0.1');
  });
  return { url: `http://127.0.0.1:${taken}`, stop: () => close(server) };
}
