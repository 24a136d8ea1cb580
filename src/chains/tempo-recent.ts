import { lruOf } from '../lib/lru';
import type { TempoChain, TempoHead } from './tempo';

/** How old the block may be whose time and base fee a payment is judged by: both move slowly. */
const HEAD_MS = 1_000;
/** Who changes its fee token is seen to have done so a little later. */
const FEE_TOKEN_MS = 60_000;
/** A key that was listed is taken to be so for as long; whether it may still spend is asked before every payment. */
const ACCESS_KEY_MS = 10_000;
const MOST_OWNERS = 20_000;
/** A chain's clock is compared with ours over at least so long a time. */
const WATCHED_MS = 5_000;
/** By so much a block's time may differ from that of its reading: whole seconds, and a way to go. */
const LATE_MS = 3_000;

/** What changes so slowly that it need not be asked for every payment; the chain itself has the last word on each. Throws as TempoChain. */
export class RecentTempo {
  private newest: { head: TempoHead; at: number } | undefined;
  private watched: { time_ms: number; at: number } | undefined;
  /** What the chain's clock shows when our monotonic one shows 0; null while it is not known to run. */
  private offset_ms: number | null = null;
  private readonly feeTokens = lruOf<{ token: string | null }>(MOST_OWNERS, FEE_TOKEN_MS);
  private readonly accessKeys = lruOf<true>(MOST_OWNERS, ACCESS_KEY_MS);

  constructor(private readonly chain: TempoChain) {}

  /** The newest block, or one that was a second ago. */
  async head(signal: AbortSignal): Promise<TempoHead> {
    if (this.newest !== undefined && performance.now() - this.newest.at <= HEAD_MS) return this.newest.head;
    const at = performance.now();
    const head = await this.chain.head(signal);
    this.newest = { head, at };
    this.watch(head.time * 1_000, at);
    return head;
  }

  /**
   * Milliseconds by which our clock is ahead of the chain's, by the blocks read so far (negative: behind); 0 where they agree as nearly as can be told,
   * and where the chain makes no blocks for want of traffic.
   */
  clockError(): number {
    const ahead = this.offset_ms === null ? 0 : Date.now() - (performance.now() + this.offset_ms);
    return Math.abs(ahead) > LATE_MS ? ahead : 0;
  }

  /** A chain whose blocks went on as long as we did has a clock that runs. */
  private watch(time_ms: number, at: number): void {
    const before = this.watched;
    if (before !== undefined && at - before.at < WATCHED_MS) return;
    this.watched = { time_ms, at };
    const runs = before !== undefined && Math.abs(time_ms - before.time_ms - (at - before.at)) <= LATE_MS;
    this.offset_ms = runs ? time_ms - at : null;
  }

  /** The token the account chose, within the last minute, to pay fees in; null when it chose none. */
  async feeToken(owner: string, signal: AbortSignal): Promise<string | null> {
    const known = this.feeTokens.get(owner);
    if (known !== undefined) return known.token;
    const token = await this.chain.feeToken(owner, signal);
    this.feeTokens.set(owner, { token });
    return token;
  }

  /** Whether the account lists the access key at Unix second `now`, or did a few seconds ago: copies of a proof do not ask each. */
  async listsAccessKey(owner: string, key: string, token: string, now: number, signal: AbortSignal): Promise<boolean> {
    const name = `${owner} ${key}`;
    if (this.accessKeys.has(name)) return true;
    const { authorized } = await this.chain.accessKey(owner, key, token, now, signal);
    if (authorized) this.accessKeys.set(name, true);
    return authorized;
  }
}
