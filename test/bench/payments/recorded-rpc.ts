import { type PostJson, postJson } from '../../../src/chains/json-rpc';

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

/** Asked in the background every two seconds, never by a payment; offers need it fresh. */
const SAMPLED = 'getLatestBlockhash';

/**
 * Stands between the real chain clients and the network. It passes calls on, or records one payment's
 * answers, or replays them at once: the first asking of a question gets its first answer, the second the second, and so on. Two
 * payments of one buyer at one price get the same answers but for ids nobody compares, so what is left of a replayed payment is
 * our own work, the chain clients' included.
 */
export class RecordedRpc {
  /** Calls since the last payment began. */
  calls = 0;
  /** Those of them the recording knows nothing of: background probes, passed on. */
  strangers = 0;
  private mode: 'pass' | 'record' | 'replay' = 'pass';
  private readonly answers = new Map<string, string[]>();
  private readonly asked = new Map<string, number>();

  readonly post: PostJson = async (...call) => {
    const [url, body] = call;
    if (this.mode === 'pass') return postJson(...call);
    const question = questionOf(url, JSON.parse(body) as RpcCall);
    if (question.endsWith(SAMPLED)) return postJson(...call);
    this.calls += 1;
    if (this.mode === 'replay') return this.replayed(question) ?? postJson(...call);
    const text = await postJson(...call);
    this.answers.set(question, [...(this.answers.get(question) ?? []), text]);
    return text;
  };

  pass(): void {
    this.mode = 'pass';
  }

  /** The next payment's answers are the recording. */
  record(): void {
    this.mode = 'record';
    this.answers.clear();
  }

  /** The next payment gets the recorded answers, from the start. */
  replay(): void {
    this.mode = 'replay';
    this.calls = 0;
    this.strangers = 0;
    this.asked.clear();
  }

  private replayed(question: string): string | undefined {
    const before = this.asked.get(question) ?? 0;
    this.asked.set(question, before + 1);
    const answers = this.answers.get(question) ?? [];
    const answer = answers[Math.min(before, answers.length - 1)];
    if (answer !== undefined) return answer;
    this.strangers += 1;
    return undefined;
  }
}
