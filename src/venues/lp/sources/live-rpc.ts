import { type Upstream, UpstreamError } from '../../../workers/upstream';
import { BIG_INTEGER, instant, integer, isObject, listOf, text } from './record';

/** A transaction of an address, as getSignaturesForAddress lists it. */
export interface Listed {
  signature: string;
  failed: boolean;
  /** Unix seconds; null where the node does not know. */
  at: number | null;
  /** Slot of its block; null where the node does not tell. */
  slot: number | null;
}

/** What a Solana node is asked for. Everything is read at `finalized`: what a finalised block tells is never taken back. */
export interface ChainReader {
  /** Time of the newest finalised block whose time the node knows. */
  head(signal: AbortSignal): Promise<Date>;
  /**
   * At most `LISTED_AT_ONCE` transactions of an address, newest first: those before `before` and after `until`. None: there are no more. Throws
   * UnknownTransaction where the node does not know one of these two; older nodes list none then, or to the end of what they have. A node that has not
   * finalised the slot `reached` refuses, where one is given.
   */
  list(address: string, before: string | null, until: string | null, signal: AbortSignal, reached?: number | null): Promise<Listed[]>;
  /** getTransaction answers in the order of the signatures; null for those that the node does not have, or refuses while it answers others. */
  transactions(signatures: readonly string[], signal: AbortSignal): Promise<(Record<string, unknown> | null)[]>;
}

/** The node's own limit of getSignaturesForAddress. */
export const LISTED_AT_ONCE = 1_000;
/** Transactions of one request, which counts as so many. */
const BATCH = 50;
/** Slots that have no block, at most, before the newest one that has. */
const SKIPPED_SLOTS = 20;

/** Reads finalised blocks by the JSON-RPC at `node`. Throws UpstreamError. */
export function chainReader(node: Upstream): ChainReader {
  const call = async (method: string, params: unknown[], signal: AbortSignal): Promise<unknown> =>
    resultOf(method, await node.post('', { jsonrpc: '2.0', id: 1, method, params }, signal));
  return {
    async head(signal) {
      const slot = integer(await call('getSlot', [{ commitment: 'finalized' }], signal), BIG_INTEGER);
      if (slot === null) throw new UpstreamError('getSlot did not answer with a number', null);
      for (let back = 0; back < SKIPPED_SLOTS; back += 1) {
        const at = instant(await call('getBlockTime', [slot - back], signal).catch(passOver));
        if (at !== null) return at;
      }
      throw new UpstreamError('getBlockTime knows no time of the newest blocks', null);
    },
    async list(address, before, until, signal, reached = null) {
      const options = {
        commitment: 'finalized',
        limit: LISTED_AT_ONCE,
        ...(before !== null && { before }),
        ...(until !== null && { until }),
        // https://solana.com/docs/rpc/http/getsignaturesforaddress
        ...(reached !== null && { minContextSlot: reached }),
      };
      const answer = await call('getSignaturesForAddress', [address, options], signal);
      if (!Array.isArray(answer)) throw new UpstreamError('getSignaturesForAddress did not answer with a list', null);
      return listOf(answer).flatMap((row) => {
        const signature = isObject(row) ? text(row.signature) : null;
        if (signature === null || !isObject(row)) return [];
        return [{ signature, failed: row.err != null, at: secondOf(row.blockTime), slot: integer(row.slot, BIG_INTEGER) }];
      });
    },
    async transactions(signatures, signal) {
      const batches: (readonly string[])[] = [];
      for (let at = 0; at < signatures.length; at += BATCH) batches.push(signatures.slice(at, at + BATCH));
      // All at once: how many a second is the pace's matter.
      return (await Promise.all(batches.map((batch) => batchOf(node, batch, signal)))).flat();
    },
  };
}

async function batchOf(node: Upstream, batch: readonly string[], signal: AbortSignal): Promise<(Record<string, unknown> | null)[]> {
  const params = { encoding: 'json', maxSupportedTransactionVersion: 0, commitment: 'finalized' };
  const body = batch.map((signature, id) => ({ jsonrpc: '2.0', id, method: 'getTransaction', params: [signature, params] }));
  const answers = new Map(
    listOf(await node.post('', body, signal, batch.length)).map((answer) => [isObject(answer) ? answer.id : null, answer]),
  );
  const results = batch.map((_, id) => answered(() => resultOf('getTransaction', answers.get(id))));
  const [refusal] = results;
  if (refusal instanceof Refused && results.every((result) => result instanceof Refused)) throw refusal;
  return results.map((result) => (isObject(result) && !(result instanceof Refused) ? result : null));
}

/** A node's refusal of a single question: it has no such block, or does not know such transactions. */
class Refused extends UpstreamError {}

/** The node does not know, or no longer, a transaction that a listing was to begin or to end at. */
export class UnknownTransaction extends Refused {}

/** RpcCustomError::FilterTransactionNotFound of https://github.com/anza-xyz/agave/pull/7937. */
const FILTER_TRANSACTION_NOT_FOUND = -32_020;

const secondOf = (time: unknown): number | null => {
  const at = instant(time);
  return at === null ? null : Math.floor(at.getTime() / 1_000);
};

function passOver(error: unknown): null {
  if (error instanceof Refused) return null;
  throw error;
}

/** What is answered, or the refusal. */
function answered(ask: () => unknown): unknown {
  try {
    return ask();
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

function resultOf(method: string, answer: unknown): unknown {
  if (!isObject(answer)) throw new UpstreamError(`${method} was not answered`, null);
  if (isObject(answer.error)) {
    const code = integer(answer.error.code);
    const Refusal = code === FILTER_TRANSACTION_NOT_FOUND ? UnknownTransaction : Refused;
    throw new Refusal(`${method} was refused (${code ?? 'without a code'})`, null);
  }
  return answer.result;
}
