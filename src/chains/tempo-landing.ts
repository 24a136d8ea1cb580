import { pause } from '../lib/deadline';
import { JsonRpcError } from './json-rpc';
import {
  EXPIRING_NONCE_KEY,
  type TempoChain,
  type TempoNode,
  type TempoReceipt,
  decodeReceipt,
  headOf,
  nonceOf,
  receiptOf,
  request,
} from './tempo';

/** What is needed to follow a signed transaction. */
export interface TempoTransaction {
  hash: string;
  sender: string;
  nonce_key: bigint;
  nonce: bigint;
  /** Unix seconds. */
  valid_before: number | null;
  /**
   * A block before any that can hold it, where that is so long ago that nodes may have forgotten: that one does not know it counts only where it knows
   * others since. Null: not so long ago.
   */
  forgotten_from: bigint | null;
}

/** `dead`: it can never be mined any more, its time is over or its nonce used. `open`: it may still be. */
export type Trace = { status: 'mined'; receipt: TempoReceipt } | { status: 'dead'; reason: 'expired' | 'superseded' } | { status: 'open' };

/** `refused`: every RPC refused to take it and nobody else can have sent it for us. */
export type Landing = Trace | { status: 'refused'; reason: string };

type SendReport =
  | { status: 'mined'; receipt: TempoReceipt }
  | { status: 'sent' }
  | { status: 'unsure' }
  | { status: 'refused'; reason: string };

const POLL_MS = 400;
const RESEND_MS = 2_000;
/** Behind one url stand several servers; by so many seconds of blocks the slowest has seen what the fastest has. */
const EXPIRY_MARGIN_S = 5;
const LAG_MS = 1_000;
/** Blocks in a row that may be without a transaction. */
const MOST_EMPTY = 16n;

/**
 * Sends a signed transaction to every RPC and waits for its end: its receipt, or the proof that there can be none, or the abort
 * of `signal` (then `open`). Sending the same bytes again is harmless. `fresh`: these bytes were never sent before, so a refusal by
 * every RPC is the end. Never throws.
 */
export async function landTransaction(
  chain: TempoChain,
  transaction: TempoTransaction,
  raw: string | null,
  fresh: boolean,
  signal: AbortSignal,
): Promise<Landing> {
  const reports = raw === null ? [] : await askAll(chain, (node) => sendTo(node, raw, signal), signal);
  const mined = minedOf(reports);
  if (mined !== undefined) return mined;
  const refusals = reports.filter((report) => report.status === 'refused');
  const refused = fresh && refusals.length === chain.size ? refusals[0] : undefined;
  let sentAt = performance.now();
  while (!signal.aborted) {
    const trace = await traceTransaction(chain, transaction, signal);
    if (trace.status !== 'open') return trace;
    if (refused !== undefined) return refused;
    await pause(POLL_MS, signal);
    if (raw === null || signal.aborted || performance.now() - sentAt < RESEND_MS) continue;
    sentAt = performance.now();
    await chain.everywhere((node) => request(node, 'eth_sendRawTransaction', [raw], signal), signal);
  }
  return { status: 'open' };
}

/** What the chain knows of the transaction now, without sending it. An end without a receipt needs two witnesses where there are two RPCs. Never throws. */
export async function traceTransaction(chain: TempoChain, transaction: TempoTransaction, signal: AbortSignal): Promise<Trace> {
  const traces = await askAll(chain, (node) => traceOn(node, transaction, signal), signal);
  const mined = minedOf(traces);
  if (mined !== undefined) return mined;
  const [first] = traces;
  if (first === undefined || traces.length < Math.min(2, chain.size)) return { status: 'open' };
  return traces.every((trace) => trace.status === 'dead') ? first : { status: 'open' };
}

async function traceOn(
  node: TempoNode,
  { hash, sender, nonce_key, nonce, valid_before, forgotten_from }: TempoTransaction,
  signal: AbortSignal,
): Promise<Trace> {
  // Time and nonce before the receipt: "no receipt" only counts when it was asked after the end.
  const [head, used] = await Promise.all([
    headOf(node, signal),
    nonce_key === EXPIRING_NONCE_KEY ? 0n : nonceOf(node, sender, nonce_key, signal),
  ]);
  const receipt = await receiptOf(node, hash, signal);
  if (receipt !== null) return { status: 'mined', receipt };
  const expired = valid_before !== null && head.time > valid_before + EXPIRY_MARGIN_S;
  if (!expired && used <= nonce) return { status: 'open' };
  if (forgotten_from !== null && !(await recalls(node, forgotten_from, signal))) return { status: 'open' };
  if (expired) return { status: 'dead', reason: 'expired' };
  await pause(LAG_MS, signal);
  const late = await receiptOf(node, hash, signal);
  return late === null ? { status: 'dead', reason: 'superseded' } : { status: 'mined', receipt: late };
}

/** Whether a node still has the receipt of the first transaction in a block or those after it. */
async function recalls(node: TempoNode, from: bigint, signal: AbortSignal): Promise<boolean> {
  for (let number = from; number < from + MOST_EMPTY; number += 1n) {
    const block = (await request(node, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false], signal)) as {
      transactions?: string[];
    } | null;
    // Nothing at all was mined since.
    if (block === null) return number > from;
    const [hash] = block.transactions ?? [];
    if (hash !== undefined) return (await receiptOf(node, hash, signal)) !== null;
  }
  return false;
}

type Mined = Extract<Trace, { status: 'mined' }>;
type Answer = { status: 'mined'; receipt: TempoReceipt } | { status: Exclude<string, 'mined'>; receipt?: undefined };

const isPaid = (answer: Answer): answer is Mined => answer.receipt?.succeeded === true;

/** What was mined, if one says so. A transaction fails for all or for none: who says that it failed is not believed where another has it as good. */
const minedOf = (answers: readonly Answer[]): Mined | undefined =>
  answers.find(isPaid) ?? answers.find((answer): answer is Mined => answer.receipt !== undefined);

/** The answers of the RPCs that gave one; the first that has it mined as good ends the wait for the others. */
function askAll<T extends Answer>(chain: TempoChain, question: (node: TempoNode) => Promise<T>, signal: AbortSignal): Promise<T[]> {
  return new Promise((resolve) => {
    const ask = async (node: TempoNode): Promise<T> => {
      const answer = await question(node);
      if (isPaid(answer)) resolve([answer]);
      return answer;
    };
    void chain
      .everywhere(ask, signal)
      .then((results) => resolve(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))));
  });
}

/** The synchronous call answers with the receipt, in about a block; what is not answered in time is found by polling. */
async function sendTo(node: TempoNode, raw: string, signal: AbortSignal): Promise<SendReport> {
  try {
    const receipt = await request(node, 'eth_sendRawTransactionSync', [raw], signal);
    return receipt === null ? { status: 'sent' } : { status: 'mined', receipt: decodeReceipt(receipt) };
  } catch (error) {
    if (!isUnsupported(error)) return reportOf(error);
  }
  try {
    await request(node, 'eth_sendRawTransaction', [raw], signal);
    return { status: 'sent' };
  } catch (error) {
    return reportOf(error);
  }
}

/** JSON-RPC "method not found" and "method not supported". */
function isUnsupported(error: unknown): boolean {
  return error instanceof JsonRpcError && (error.code === -32601 || error.code === -32004);
}

/** A node that has the transaction already says so in an error, too; what we do not understand is not believed to be a refusal. */
const SEEN_BEFORE = /already (known|imported|exists|processed)|nonce too low|replay|replacement/i;
const REFUSED =
  /insufficient|expired|valid_?(before|after)|fee cap|max fee|base fee|underpriced|intrinsic|gas limit|signature|keychain|access key|fee token|chain ?id|nonce too high/i;

function reportOf(error: unknown): SendReport {
  if (!(error instanceof JsonRpcError)) return { status: 'unsure' };
  const { message } = error;
  if (SEEN_BEFORE.test(message)) return { status: 'sent' };
  return REFUSED.test(message) ? { status: 'refused', reason: message.slice(0, 120) } : { status: 'unsure' };
}
