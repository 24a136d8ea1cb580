import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { BLOCKHASH_BLOCKS, SLOT_MS } from '../../chains/solana';

export type Commitment = 'processed' | 'confirmed' | 'finalized';

const FIRST_SLOT = 1_000;
/** Heights differ from slots, as on the real chain (skipped slots), so that nothing confuses the two unnoticed. */
const SKIPPED_SLOTS = 100;
/** Slots until a block is finalized (MAX_LOCKOUT_HISTORY + 1). */
const FINALITY = 32;
const REMEMBERED_SLOTS = 5_000;

/** The local chain's time: a slot every 400 ms, whatever is done to the clock, plus what tests skip, and the blockhashes it handed out. */
export class SlotClock {
  private readonly startedAt = performance.now();
  private skipped = 0;
  private readonly slots = new Map<string, number>();

  constructor(readonly genesis: Buffer) {}

  slot(commitment: Commitment = 'confirmed'): number {
    const tip = FIRST_SLOT + Math.floor((performance.now() - this.startedAt) / SLOT_MS) + this.skipped;
    return commitment === 'finalized' ? tip - FINALITY : tip;
  }

  height(slot: number): number {
    return slot - SKIPPED_SLOTS;
  }

  /** Unix seconds of now, moved ahead with the skipped slots. */
  unixTime(): number {
    return Math.floor((Date.now() + this.skipped * SLOT_MS) / 1_000);
  }

  advance(slots: number): void {
    this.skipped += slots;
  }

  isFinalized(slot: number): boolean {
    return slot <= this.slot('finalized');
  }

  /** The blockhash of the newest slot at this commitment, and the last height at which it is good. */
  latest(commitment: Commitment): { blockhash: string; lastValidBlockHeight: number } {
    const slot = this.slot(commitment);
    const blockhash = bs58.encode(createHash('sha256').update(this.genesis).update(String(slot)).digest());
    if (!this.slots.has(blockhash)) this.remember(blockhash, slot);
    return { blockhash, lastValidBlockHeight: this.height(slot) + BLOCKHASH_BLOCKS };
  }

  isValid(blockhash: string): boolean {
    const slot = this.slots.get(blockhash);
    return slot !== undefined && this.slot() - slot <= BLOCKHASH_BLOCKS;
  }

  private remember(blockhash: string, slot: number): void {
    this.slots.set(blockhash, slot);
    if (this.slots.size <= REMEMBERED_SLOTS) return;
    const [oldest] = this.slots.keys();
    if (oldest !== undefined) this.slots.delete(oldest);
  }
}
