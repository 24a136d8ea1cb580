import { randomOf } from '../world';
import { EventWriter, signatureOf } from './encode';
import { COMPUTE_BUDGET, type Key } from './keys';

/** An event as a program tells it. */
export interface ToldEvent {
  program: Key;
  name: string;
  /** Writes the fields of its layout. */
  write(to: EventWriter): void;
}

/** A transaction before it is written as the RPC writes it. */
export interface ChainTx {
  time: number;
  /** What makes its signature. */
  id: string;
  payer: Key;
  /** Program of the outer instruction that leads to the events. */
  program: Key;
  /** One outer instruction each. */
  steps: readonly (readonly ToldEvent[])[];
  failed?: boolean;
}

/** Slots of 0.4 s since the chain's first block. */
const FIRST_BLOCK = Date.parse('2020-03-16T14:29:00Z');
export const slotOf = (time: number): number => Math.floor((time - FIRST_BLOCK) / 400);

const writer = new EventWriter();

function eventData({ name, write }: ToldEvent): string {
  write(writer.begin(name));
  return writer.end();
}

export const txSignature = (seed: number, id: string): string => signatureOf(randomOf(seed, 'signature', id));

/**
 * A getTransaction answer (encoding `json`). Programs that are only called from inside are looked up from a table, like in
 * every routed transaction of the chain, so their index counts on behind the static keys.
 */
export function transactionAnswer(seed: number, { time, id, payer, program, steps, failed }: ChainTx): Record<string, unknown> {
  const inner = [...new Set(steps.flat().map((event) => event.program))].filter((key) => key !== program);
  const accountKeys = [payer.text, program.text, COMPUTE_BUDGET.text];
  const indexOf = (key: Key): number => (key === program ? 1 : accountKeys.length + inner.indexOf(key));
  return {
    jsonrpc: '2.0',
    id: 1,
    result: {
      blockTime: Math.floor(time / 1000),
      slot: slotOf(time),
      version: 0,
      meta: {
        err: failed === true ? { InstructionError: [1, { Custom: 6004 }] } : null,
        fee: 5000,
        innerInstructions: steps.map((events, i) => ({
          index: i + 1,
          instructions: events.map((event) => ({
            programIdIndex: indexOf(event.program),
            accounts: [0],
            data: eventData(event),
            stackHeight: 2,
          })),
        })),
        loadedAddresses: { writable: [], readonly: inner.map((key) => key.text) },
        preTokenBalances: [],
        postTokenBalances: [],
      },
      transaction: {
        message: {
          accountKeys,
          instructions: [
            { programIdIndex: 2, accounts: [], data: '3DdGGhkhJbjm', stackHeight: null },
            ...steps.map(() => ({ programIdIndex: 1, accounts: [0], data: '11111111', stackHeight: null })),
          ],
        },
        signatures: [txSignature(seed, id)],
      },
    },
  };
}
