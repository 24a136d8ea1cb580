import { LRUCache } from 'lru-cache';
import type { TempoChain, TempoHead } from './tempo';

/** How old the block may be whose time and base fee a payment is judged by: both move slowly. */
const HEAD_MS = 1_000;
/** Who changes its fee token is seen to have done so a little later. */
const FEE_TOKEN_MS = 60_000;
const MOST_OWNERS = 20_000;

/** What changes so slowly that it need not be asked for every payment; the chain itself has the last word on each. Throws as TempoChain. */
export class RecentTempo {
  private newest: { head: TempoHead; at: number } | undefined;
  private readonly feeTokens = new LRUCache<string, { token: string | null }>({ max: MOST_OWNERS, ttl: FEE_TOKEN_MS });

  constructor(private readonly chain: TempoChain) {}

  /** The newest block, or one that was a second ago. */
  async head(signal: AbortSignal): Promise<TempoHead> {
    if (this.newest !== undefined && Date.now() - this.newest.at <= HEAD_MS) return this.newest.head;
    const at = Date.now();
    const head = await this.chain.head(signal);
    this.newest = { head, at };
    return head;
  }

  /** The token the account chose, within the last minute, to pay fees in; null when it chose none. */
  async feeToken(owner: string, signal: AbortSignal): Promise<string | null> {
    const known = this.feeTokens.get(owner);
    if (known !== undefined) return known.token;
    const token = await this.chain.feeToken(owner, signal);
    this.feeTokens.set(owner, { token });
    return token;
  }
}
