import { lruOf } from '../../lib/lru';
import type { PaymentLog } from '../protocol';

const MOST_REMEMBERED = 1_000;

/** Errors about payments that are looked at again and again: each is logged once a process. */
export class Complaints {
  private readonly made = lruOf<true>(MOST_REMEMBERED);

  constructor(private readonly log: PaymentLog) {}

  about(transaction: string, message: string, fields: Record<string, unknown>): void {
    const key = `${transaction} ${message}`;
    if (this.made.has(key)) return;
    this.made.set(key, true);
    this.log.error({ transaction, ...fields }, message);
  }
}
