import { decodeBase58 } from './base58';
import { BorshReader, type Fields } from './borsh';
import { EVENT_LAYOUTS } from './event-layouts';
import { BIG_INTEGER, SMALL_INTEGER, address, decimalsOf, instant, integer, isObject, type Json, listOf, text } from './record';

/** One event that a program told by calling itself (Anchor event-CPI). */
export interface ChainEvent {
  program: string;
  name: string;
  fields: Fields;
  /** Bytes of the payload that the layout does not know: fields appended by a later version. */
  bytesLeft: number;
  outerIx: number;
  innerIx: number;
}

export interface DecodedTransaction {
  signature: string;
  slot: number | null;
  timestamp: Date;
  feePayer: string;
  /** Programs of the outer instructions, each once, in order. */
  programs: string[];
  events: ChainEvent[];
  /** Events of our programs that we keep no facts of. */
  others: number;
  /** Events whose payload does not fit their layout. */
  undecodable: number;
  /** Decimals of every mint whose balance the transaction touched. */
  decimals: Map<string, number>;
}

export type Refusal = 'not_a_transaction' | 'failed_transaction' | 'no_block_time' | 'no_inner_instructions' | 'unsupported_encoding';

/** sha256("anchor:event")[..8], the first bytes of every event-CPI instruction. */
const EVENT_TAG = 'e445a52e51cb9a1d';

const objectsOf = (value: unknown): Json[] => listOf(value).filter(isObject);

/** The getTransaction result inside a JSON-RPC answer, or the value itself when it is a bare result. */
export function transactionOf(value: unknown): Json | undefined {
  if (!isObject(value)) return undefined;
  const result = isObject(value.result) ? value.result : value;
  return isObject(result.transaction) || Array.isArray(result.transaction) ? result : undefined;
}

/**
 * Reads a getTransaction result (encodings `json` and `jsonParsed`, bare or as JSON-RPC answer): walks the inner
 * instructions, resolves program ids through static and looked-up keys, decodes the events of our programs. Refuses
 * failed transactions (their events did not happen), those without block time, and those of a node that does not record inner instructions.
 */
export function decodeTransaction(value: unknown): DecodedTransaction | Refusal {
  const result = transactionOf(value);
  if (result === undefined || !isObject(result.meta)) return 'not_a_transaction';
  const { meta, transaction } = result;
  if (!isObject(transaction) || !isObject(transaction.message)) return 'unsupported_encoding';
  if (meta.err !== null && meta.err !== undefined) return 'failed_transaction';
  // A node that records them tells of none by an empty list.
  if (!Array.isArray(meta.innerInstructions)) return 'no_inner_instructions';
  const timestamp = instant(result.blockTime);
  if (timestamp === null) return 'no_block_time';
  const keys = accountKeys(transaction.message, meta);
  const signature = Array.isArray(transaction.signatures) ? text(transaction.signatures[0]) : null;
  const feePayer = address(keys[0]);
  if (signature === null || feePayer === null) return 'not_a_transaction';
  const outer = objectsOf(transaction.message.instructions).map((instruction) => programOf(instruction, keys));
  return {
    signature,
    slot: integer(result.slot, BIG_INTEGER),
    timestamp,
    feePayer,
    programs: [...new Set(outer)].flatMap((program) => address(program) ?? []),
    ...eventsOf(meta, keys),
    decimals: mintsOf(meta),
  };
}

/** Static keys, then looked-up writable ones, then looked-up readonly ones: the order instruction indexes refer to. */
function accountKeys(message: Json, meta: Json): unknown[] {
  const listed = listOf(message.accountKeys);
  const loaded = isObject(meta.loadedAddresses) && !isObject(listed[0]) ? meta.loadedAddresses : {};
  return [...listed.map((key) => (isObject(key) ? key.pubkey : key)), ...listOf(loaded.writable), ...listOf(loaded.readonly)];
}

function programOf(instruction: Json, keys: readonly unknown[]): string | undefined {
  const program = typeof instruction.programIdIndex === 'number' ? keys[instruction.programIdIndex] : instruction.programId;
  return typeof program === 'string' ? program : undefined;
}

function eventsOf(meta: Json, keys: readonly unknown[]): Pick<DecodedTransaction, 'events' | 'others' | 'undecodable'> {
  const found = { events: [] as ChainEvent[], others: 0, undecodable: 0 };
  for (const group of objectsOf(meta.innerInstructions)) {
    const outerIx = integer(group.index, SMALL_INTEGER);
    objectsOf(group.instructions).forEach((instruction, innerIx) => {
      const program = programOf(instruction, keys);
      const layouts = program === undefined ? undefined : EVENT_LAYOUTS[program];
      if (program === undefined || layouts === undefined || typeof instruction.data !== 'string') return;
      const data = decodeBase58(instruction.data);
      const mark = data?.toString('hex', 0, 16);
      if (data === undefined || mark?.startsWith(EVENT_TAG) !== true) return;
      const layout = layouts[mark.slice(EVENT_TAG.length)];
      if (layout === undefined) found.others += 1;
      else {
        const read = readEvent(data.subarray(16), layout.fields);
        if (read === undefined || outerIx === null || innerIx > SMALL_INTEGER) found.undecodable += 1;
        else found.events.push({ program, name: layout.name, ...read, outerIx, innerIx });
      }
    });
  }
  return found;
}

function readEvent(payload: Buffer, layout: Parameters<BorshReader['struct']>[0]): { fields: Fields; bytesLeft: number } | undefined {
  const reader = new BorshReader(payload);
  try {
    const fields = reader.struct(layout);
    return { fields, bytesLeft: reader.bytesLeft };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function mintsOf(meta: Json): Map<string, number> {
  const found = new Map<string, number>();
  for (const balance of [...objectsOf(meta.preTokenBalances), ...objectsOf(meta.postTokenBalances)]) {
    const [mint, amount] = [balance.mint, balance.uiTokenAmount];
    const decimals = isObject(amount) ? decimalsOf(amount.decimals) : null;
    if (decimals === null || typeof mint !== 'string' || found.has(mint) || address(mint) === null) continue;
    found.set(mint, decimals);
  }
  return found;
}
