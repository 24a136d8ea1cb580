import type { PoolClient } from 'pg';
import { fillAmounts } from '../rollups/amounts';
import { revalue } from '../rollups/valuation';
import type { Facts } from '../sources/chain-facts';
import { type Learned, savePools, saveTokens } from './catalogue';
import { saveDca, saveEvents, savePositionEvents, saveRewards, saveSwaps } from './facts';
import { TouchedHours } from './hours';
import { savePositions } from './positions';
import type { PoolRow, TokenRow } from './rows';

export interface Saved {
  inserted: number;
  duplicates: number;
}

/**
 * Writes what one page tells, inside the caller's transaction: catalogue first, facts next, and at the end (`settle`) the
 * USD values of everything that the page made countable.
 */
export class PageWriter {
  readonly saved: Saved = { inserted: 0, duplicates: 0 };
  private readonly touched = new TouchedHours();
  private readonly learned = new Set<string>();

  constructor(private readonly client: PoolClient) {}

  /** Returns how many tokens were new or changed. */
  async tokens(rows: readonly TokenRow[]): Promise<number> {
    return this.learn(await saveTokens(this.client, rows));
  }

  /** Returns how many pools were new or changed. */
  async pools(rows: readonly PoolRow[]): Promise<number> {
    const mints = rows.flatMap((row) => [row.mint_x, row.mint_y]).filter((mint) => mint !== null);
    await this.tokens(mints.map((mint) => ({ mint, symbol: null, name: null, decimals: null, quality: 0 })));
    return this.learn(await savePools(this.client, rows));
  }

  private learn(learned: Learned): number {
    for (const pool of learned.pools) this.learned.add(pool);
    return learned.changed;
  }

  async facts(facts: Facts): Promise<void> {
    await this.pools(facts.pools);
    await savePositions(this.client, facts.events, facts.positionEvents, facts.ownerships);
    if (facts.events.length > 0) this.count(await saveEvents(this.client, facts.events));
    if (facts.swaps.length > 0) this.count(await saveSwaps(this.client, facts.swaps));
    if (facts.rewards.length > 0) this.count(await saveRewards(this.client, facts.rewards));
    if (facts.positionEvents.length > 0) this.count(await savePositionEvents(this.client, facts.positionEvents));
    if (facts.dca.length > 0) this.count(await saveDca(this.client, facts.dca));
    for (const row of [...facts.events, ...facts.swaps]) this.touched.add(row.timestamp);
  }

  count({ inserted, duplicates }: Saved): void {
    this.saved.inserted += inserted;
    this.saved.duplicates += duplicates;
  }

  /** Prices that came from elsewhere: figures of the hours after them may change. */
  priced(time: Date): void {
    this.touched.add(time);
  }

  async settle(): Promise<void> {
    if (this.learned.size > 0) this.touched.addAll(await fillAmounts(this.client, [...this.learned]));
    if (!this.touched.empty) await revalue(this.client, this.touched);
  }
}
