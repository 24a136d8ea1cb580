import { AppError } from '../errors';
import { lruOf } from '../lib/lru';
import type { Outcome } from './protocol';

/** Payers remembered; the least recent is forgotten first, and begins anew. */
const MOST_PAYERS = 10_000;

interface Account {
  active: number;
  settled: number;
  line: (() => void)[];
}

/**
 * How many payments whose fee is ours one payer may have under way at once: `atFirst`, and one more with each that it has settled, until one fails. One
 * that fails on the chain costs us its fee, which is known only afterwards: those sent meanwhile may all cost theirs.
 */
export class FeeCredit {
  private readonly accounts = lruOf<Account>(MOST_PAYERS);

  constructor(private readonly atFirst: number) {}

  /** Runs `work`, which settles a payment of this payer, as soon as it may have one more under way. */
  async run(payer: string, work: () => Promise<Outcome>): Promise<Outcome> {
    const account = this.accountOf(payer);
    while (account.active >= this.atFirst + account.settled) await new Promise<void>((resolve) => account.line.push(resolve));
    account.active += 1;
    try {
      const outcome = await work();
      if (outcome.kind === 'paid') account.settled += 1;
      return outcome;
    } catch (error) {
      if (error instanceof AppError && error.code === 'settlement_failed') account.settled = 0;
      throw error;
    } finally {
      account.active -= 1;
      for (const ask of account.line.splice(0)) ask();
    }
  }

  private accountOf(payer: string): Account {
    const account = this.accounts.get(payer) ?? { active: 0, settled: 0, line: [] };
    this.accounts.set(payer, account);
    return account;
  }
}
