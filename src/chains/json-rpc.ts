import http from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';

/**
 * Sends a JSON text to a url and returns the text of the answer. Throws unless it is a 2xx answer within `ms` milliseconds of
 * silence. What is `repeatable` is sent once more when the other side had just closed the kept connection it went over.
 */
export type PostJson = (url: string, body: string, ms: number, repeatable: boolean) => Promise<string>;

/** What a node said against a call (JSON-RPC 2.0, section 5.1). */
export class JsonRpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
  ) {
    super(message);
    this.name = 'JsonRpcError';
  }
}

const MAX_ANSWER_BYTES = 16_000_000;
// With a time limit of its own the agent also heeds the one a server announces.
const KEPT = { keepAlive: true, maxFreeSockets: 64, timeout: 60_000 };
/** Transactions are sent again by those who follow them, who know what the chain says by then. */
const SENDS = /^(eth_)?send/;
const AGENTS = { 'http:': new http.Agent(KEPT), 'https:': new https.Agent(KEPT) };

/** One node of a chain behind a url. */
export class JsonRpcNode {
  private asked = 0;

  constructor(
    readonly url: string,
    private readonly options: { try_ms: number; post?: PostJson | undefined },
  ) {}

  /** The result of one call. Throws JsonRpcError for an error reply, an Error when the node cannot be understood or reached. */
  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    const { try_ms, post = postJson } = this.options;
    this.asked += 1;
    const body = JSON.stringify({ jsonrpc: '2.0', id: this.asked, method, params });
    const reply = JSON.parse(await post(this.url, body, try_ms, !SENDS.test(method))) as Reply | null;
    if (reply?.error !== undefined && reply.error !== null) {
      const { code, message, data } = reply.error;
      if (typeof code === 'number') throw new JsonRpcError(code, String(message), data);
      throw new Error('an error reply without a code');
    }
    if (reply?.result === undefined) throw new Error('a reply without a result');
    return reply.result;
  }
}

interface Reply {
  result?: unknown;
  error?: { code?: unknown; message?: unknown; data?: unknown } | null;
}

/** Over kept connections of Node's own client: `fetch` takes several times the processor time for a call this small. */
export const postJson: PostJson = async (url, body, ms, repeatable) => {
  const target = targetOf(url);
  try {
    return await exchange(target, body, ms, AGENTS[target.protocol as keyof typeof AGENTS]);
  } catch (error) {
    if (!repeatable || !(error instanceof StaleConnection)) throw error;
    return exchange(target, body, ms, false);
  }
};

// There are a handful of nodes, and a call to one costs little more than the reading of its url.
const targets = new Map<string, http.RequestOptions>();

function targetOf(url: string): http.RequestOptions {
  const known = targets.get(url);
  if (known !== undefined) return known;
  const target = urlToHttpOptions(new URL(url));
  targets.set(url, target);
  return target;
}

/** The other side closed a kept connection while a request was on its way over it. */
class StaleConnection extends Error {}

/** `agent` false: over a connection of its own. */
function exchange(target: http.RequestOptions, body: string, ms: number, agent: http.Agent | false): Promise<string> {
  const client = target.protocol === 'https:' ? https : http;
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = client.request({ ...target, method: 'POST', agent, timeout: ms, headers }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) request.destroy(new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`));
      });
      response.once('error', reject);
      response.once('end', () => {
        const { statusCode = 0 } = response;
        if (statusCode >= 200 && statusCode < 300) resolve(Buffer.concat(chunks).toString('utf8'));
        else reject(new Error(`HTTP status ${statusCode}`));
      });
    });
    request.once('timeout', () => request.destroy(new Error(`no answer within ${ms} ms`)));
    request.once('error', (error: NodeJS.ErrnoException) =>
      reject(request.reusedSocket && error.code === 'ECONNRESET' ? new StaleConnection(error.message, { cause: error }) : error),
    );
    request.end(body);
  });
}
