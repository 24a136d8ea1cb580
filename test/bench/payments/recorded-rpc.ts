interface RpcCall {
  method: string;
  params?: unknown[];
}

/** What a JSON-RPC call asks, without what differs between two payments of one buyer. */
function questionOf(url: string, { method, params = [] }: RpcCall): string {
  const [first] = params;
  if (method === 'getAccountInfo' || method === 'getBalance') return `${url} ${method} ${String(first)}`;
  if (method !== 'eth_call') return `${url} ${method}`;
  const { to, data } = first as { to: string; data: string };
  // The selector: the memo of a transfer is never the same twice.
  return `${url} ${method} ${to.toLowerCase()} ${data.slice(0, 10)}`;
}

/**
 * Stands where `fetch` stands, between the real chain clients and the network. It passes calls on and remembers the answers, until
 * `replay` is on: then the last answer to the same question comes back at once. Payments of the same price by the same buyer get the
 * same answers, but for ids nobody compares; so what is left of a payment is our own work, the chain clients' included.
 */
export class RecordedRpc {
  replay = false;
  calls = 0;
  private readonly answers = new Map<string, string>();

  constructor(private readonly real: typeof fetch) {}

  readonly fetch: typeof fetch = async (input, init) => {
    const url = String(input instanceof Request ? input.url : input);
    const body = typeof init?.body === 'string' ? init.body : undefined;
    if (body === undefined) return this.real(input, init);
    const question = questionOf(url, JSON.parse(body) as RpcCall);
    if (!this.replay) return this.remember(question, await this.real(input, init));
    this.calls += 1;
    const answer = this.answers.get(question);
    if (answer === undefined) throw new Error(`Nothing was recorded for ${question}`);
    return new Response(answer, { status: 200, headers: { 'content-type': 'application/json' } });
  };

  private async remember(question: string, response: Response): Promise<Response> {
    const text = await response.text();
    this.answers.set(question, text);
    return new Response(text, { status: response.status, headers: { 'content-type': 'application/json' } });
  }
}
