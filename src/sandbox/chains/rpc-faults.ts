import { pause } from '../../lib/deadline';

/** What a chain's RPC is made to do wrong. The first four happen after the call was really executed. */
export type Fault =
  /** Executes, then closes the connection: the caller never hears the reply. */
  | { kind: 'drop' }
  /** Executes at once and replies `ms` late; with `before`, waits first and executes then. */
  | { kind: 'delay'; ms: number; before?: boolean }
  /** Executes, then answers as the chain does when it has seen the transaction before. */
  | { kind: 'already_processed' }
  /** Answers what the same method and parameters were last answered; the first time, the truth, which then stays. Not executed. */
  | { kind: 'stale' }
  /** Answers this result. Not executed. */
  | { kind: 'answer'; result: unknown }
  /** Answers this JSON-RPC error. Not executed. */
  | { kind: 'error'; code: number; message: string; data?: unknown }
  /** Closes the connection. Not executed. */
  | { kind: 'refuse' };

export interface RpcRequest {
  id: unknown;
  method: string;
  params: unknown;
}

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

export type RpcReply = { result: unknown } | { error: RpcError };

/** Runs one call against the chain itself. */
export type RpcHandler = (request: RpcRequest) => Promise<RpcReply>;

const REMEMBERED_REPLIES = 5_000;

/** Counts the calls of one chain's RPC, by method, and spoils those it was told to spoil. */
export class RpcFaults {
  private readonly counts = new Map<string, number>();
  private readonly queues = new Map<string, { fault: Fault; left: number }[]>();
  private readonly replies = new Map<string, RpcReply>();
  private listening: ((on: boolean) => Promise<void>) | null = null;

  /** `alreadyProcessed`: how this chain says that it has seen the transaction of this call before. */
  constructor(private readonly alreadyProcessed: (request: RpcRequest) => RpcReply) {}

  /** Spoils the next `times` calls of `method` (Infinity: until cleared). Faults of one method queue up in order. */
  inject(method: string, fault: Fault, times = 1): void {
    const queue = this.queues.get(method) ?? [];
    queue.push({ fault, left: times });
    this.queues.set(method, queue);
  }

  /** Ends the faults of `method`, or all of them. */
  clear(method?: string): void {
    if (method === undefined) this.queues.clear();
    else this.queues.delete(method);
  }

  /** How often `method` (or any method) was called since the start or the last `forgetCalls`, spoiled calls included. */
  calls(method?: string): number {
    if (method !== undefined) return this.counts.get(method) ?? 0;
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Calls by method. */
  callsByMethod(): Record<string, number> {
    return Object.fromEntries(this.counts);
  }

  forgetCalls(): void {
    this.counts.clear();
  }

  /** From now on connections are refused, open ones are cut; the chain lives on and `up` brings its RPC back at the same URL. */
  async down(): Promise<void> {
    await this.listening?.(false);
  }

  async up(): Promise<void> {
    await this.listening?.(true);
  }

  /** For the server in front of the chain: how to stop and start listening. */
  attach(listening: (on: boolean) => Promise<void>): void {
    this.listening = listening;
  }

  /** Runs a call through the faults. Null: the connection is to be closed without a reply. */
  async run(request: RpcRequest, execute: RpcHandler): Promise<RpcReply | null> {
    this.counts.set(request.method, this.calls(request.method) + 1);
    const fault = this.take(request.method);
    if (fault?.kind === 'refuse') return null;
    if (fault?.kind === 'answer') return { result: fault.result };
    if (fault?.kind === 'error')
      return { error: { code: fault.code, message: fault.message, ...(fault.data === undefined ? {} : { data: fault.data }) } };
    const key = `${request.method} ${JSON.stringify(request.params)}`;
    const remembered = this.replies.get(key);
    if (fault?.kind === 'stale' && remembered !== undefined) return remembered;
    if (fault?.kind === 'delay' && fault.before === true) await pause(fault.ms);
    const reply = await execute(request);
    this.remember(key, reply);
    if (fault?.kind === 'drop') return null;
    if (fault?.kind === 'already_processed') return this.alreadyProcessed(request);
    if (fault?.kind === 'delay' && fault.before !== true) await pause(fault.ms);
    return reply;
  }

  private take(method: string): Fault | undefined {
    const queue = this.queues.get(method);
    const first = queue?.[0];
    if (queue === undefined || first === undefined) return undefined;
    first.left -= 1;
    if (first.left <= 0) queue.shift();
    return first.fault;
  }

  private remember(key: string, reply: RpcReply): void {
    this.replies.delete(key);
    this.replies.set(key, reply);
    if (this.replies.size <= REMEMBERED_REPLIES) return;
    const [oldest] = this.replies.keys();
    if (oldest !== undefined) this.replies.delete(oldest);
  }
}
