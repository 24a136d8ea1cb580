import type { PoolClient } from 'pg';
import { type Remainder, leaveOrDo } from '../../../workers/remainder';
import { fillAmounts } from '../rollups/amounts';
import { noteHoursOf, openChanges } from '../rollups/changes';
import { recount } from '../rollups/recount';
import { derivePrices, revalue } from '../rollups/valuation';
import { knownBirths, type Learned, savePools, saveTokens } from './catalogue';
import { type Appended, appendEvents, appendSwaps, saveDca, savePositionEvents, saveRewards } from './facts';
import { ensureMonths } from './insert';
import { KnownCatalogue } from './known';
import { saveLiquidity } from './liquidity';
import { positionsOf, savePositions } from './positions';
import type { Facts, PoolRow, TokenRow } from './rows';
import { openStage, stageEvents, stageSwaps } from './stage';
import { areWaiting, openWaiting, settlePositions, waitEvents, waitPositions, waitReserves, waitSwaps } from './waiting';
import { type CataloguePrice, savePrices, saveVolumes, type VolumeHour } from './stated';
import { TouchedMinutes } from './touched';

/**
 * Writes what one page tells, inside the caller's transaction: catalogue first, facts next, and at the end (`settle`) the
 * USD values of everything that the page made countable.
 */
export class PageWriter {
  readonly saved: Appended = { inserted: 0, duplicates: 0 };
  /** Times of the events and swaps that were appended, of pages in which none was known. */
  readonly appended: Date[] = [];
  private readonly waiting: Date[] = [];
  private readonly touched = new TouchedMinutes();
  private readonly learned = new Set<string>();
  /** Tokens that have a row by now. */
  private readonly mints = new Set<string>();
  private readonly staged = { events: 0, swaps: 0 };
  /** Of a page whose rollups come later, the newest of each pool. */
  private readonly reserves = new Map<string, PoolRow>();
  private changing = false;

  /**
   * With `later`, events and swaps wait for the end of the transaction, and no rollup is counted: see `settleWaiting`. `known`: what the transaction
   * has said of tokens and pools. `remainder` takes the counting of rollups.
   */
  constructor(
    private readonly client: PoolClient,
    private readonly later: boolean,
    private readonly known: KnownCatalogue,
    private readonly remainder: Remainder | undefined,
  ) {}

  /** Returns how many tokens were new or changed. */
  async tokens(rows: readonly TokenRow[]): Promise<number> {
    for (const { mint } of rows) this.mints.add(mint);
    return this.learn(await saveTokens(this.client, this.known.newTokens(rows))).length;
  }

  /** Returns the pools that were new or changed. */
  private async savePools(all: readonly PoolRow[]): Promise<string[]> {
    const rows = this.known.newPools(all);
    const mints = rows.flatMap((row) => [row.mint_x, row.mint_y]).filter((mint) => mint !== null && !this.mints.has(mint)) as string[];
    if (rows.length === 0) return [];
    await this.tokens(mints.map((mint) => ({ mint, symbol: null, name: null, decimals: null, quality: 0 })));
    const learned = await savePools(this.client, rows);
    if (learned.made.length > 0 && !this.later) {
      await this.openChanges();
      await noteHoursOf(this.client, learned.made);
    }
    return this.learn(learned);
  }

  private learn({ pools, changed }: Learned): string[] {
    for (const pool of pools) this.learned.add(pool);
    return changed;
  }

  async facts(facts: Facts): Promise<void> {
    await this.openChanges();
    await this.ensureMonths(facts);
    const known = await knownBirths(this.client, facts.created);
    this.count({ inserted: facts.created.length - known, duplicates: known });
    await this.savePools(this.later ? this.withoutReserves(facts.pools) : facts.pools);
    await this.positions(facts);
    await this.stage(facts);
    if (facts.rewards.length > 0) this.count(await saveRewards(this.client, facts.rewards));
    if (facts.positionEvents.length > 0) this.count(await savePositionEvents(this.client, facts.positionEvents));
    if (facts.dca.length > 0) this.count(await saveDca(this.client, facts.dca, this.later));
  }

  private async positions(facts: Facts): Promise<void> {
    if (!this.later) return void (await savePositions(this.client, facts));
    await openWaiting(this.client);
    await waitPositions(this.client, positionsOf(facts));
  }

  private withoutReserves(rows: readonly PoolRow[]): PoolRow[] {
    return rows.map((row) => {
      if (row.reserve_at === null) return row;
      const newest = this.reserves.get(row.pool_address)?.reserve_at ?? row.reserve_at;
      if (row.reserve_at >= newest) this.reserves.set(row.pool_address, row);
      return { ...row, reserve_x: null, reserve_y: null, reserve_at: null };
    });
  }

  private async stage(facts: Facts): Promise<void> {
    const { events, swaps } = facts;
    if (events.length + swaps.length === 0) return;
    if (this.staged.events + this.staged.swaps === 0) await openStage(this.client);
    await stageEvents(this.client, events);
    await stageSwaps(this.client, swaps);
    this.staged.events += events.length;
    this.staged.swaps += swaps.length;
    for (const { timestamp } of [...events, ...swaps]) {
      this.touched.add(timestamp);
      this.waiting.push(timestamp);
    }
  }

  private ensureMonths({ events, swaps, rewards, positionEvents, dca }: Facts): Promise<void> {
    const timesOf = (rows: readonly { timestamp: Date }[]): Date[] => rows.map(({ timestamp }) => timestamp);
    const others = { lp_reward: timesOf(rewards), lp_position_event: timesOf(positionEvents), dca_event: timesOf(dca) };
    // What waits makes its months when it is written.
    const months = this.later ? others : { lp_event: timesOf(events), lp_swap: timesOf(swaps), ...others };
    return ensureMonths(this.client, months, this.known.months);
  }

  /** Catalogue records of pools: each is one fact, new when its pool is unknown or it says something new of the pool or of one of its hours. */
  async catalogue(rows: readonly PoolRow[], prices: readonly CataloguePrice[]): Promise<void> {
    const changed = await this.savePools(rows);
    const measured = rows.flatMap(({ pool_address, as_of, tvl_usd }) =>
      as_of === null || tvl_usd === null ? [] : [{ pool_address, as_of, liquidity_usd: tvl_usd }],
    );
    const months = { lp_liquidity_hour: measured.map(({ as_of }) => as_of), token_price: prices.map(({ at }) => at) };
    await ensureMonths(this.client, months, this.known.months);
    const inserted = new Set([...changed, ...(await saveLiquidity(this.client, measured, this.later))]).size;
    this.count({ inserted, duplicates: rows.length - inserted });
    await this.savePrices(prices);
  }

  /** A list of tokens, and the prices it states. */
  async tokenList(rows: readonly TokenRow[], prices: readonly CataloguePrice[]): Promise<void> {
    const inserted = await this.tokens(rows);
    this.count({ inserted, duplicates: rows.length - inserted });
    await ensureMonths(this.client, { token_price: prices.map(({ at }) => at) }, this.known.months);
    await this.savePrices(prices);
  }

  /** Prices that a catalogue states: used where no fact tells a better one. */
  private async savePrices(prices: readonly CataloguePrice[]): Promise<void> {
    for (const at of await savePrices(this.client, prices)) this.touched.add(at);
  }

  /** Owners of positions, without an event. */
  async owners(facts: Facts): Promise<void> {
    await this.savePools(facts.pools);
    await this.openChanges();
    if (this.later && (await areWaiting(this.client))) await settlePositions(this.client);
    const changed = await savePositions(this.client, facts);
    this.count({ inserted: changed, duplicates: facts.ownerships.length - changed });
  }

  /** Swap volume of a pool by hour, as the upstream states it. The record does not say the pool's type, so it makes no pool. */
  async volumes(pool_address: string, hours: readonly VolumeHour[]): Promise<void> {
    await this.openChanges();
    await ensureMonths(this.client, { lp_volume_hour: hours.map(({ hour }) => hour) }, this.known.months);
    this.count(await saveVolumes(this.client, pool_address, hours));
  }

  count({ inserted, duplicates }: Appended): void {
    this.saved.inserted += inserted;
    this.saved.duplicates += duplicates;
  }

  /**
   * Ends the page: prices of its minutes first, then its facts, valued as they are written, then the values of earlier facts
   * in whose time a price has changed. Last, the rollups of all that changed.
   */
  async settle(): Promise<void> {
    const before = this.saved.duplicates;
    await (this.later ? this.wait() : this.value());
    if (this.saved.duplicates === before) this.appended.push(...this.waiting.splice(0));
    if (this.changing && !this.later) await leaveOrDo(this.remainder, this.client, recount, null);
  }

  private async wait(): Promise<void> {
    if (this.learned.size > 0) {
      await this.openChanges();
      await fillAmounts(this.client, [...this.learned]);
    }
    // Tokens and prices alone: at the end facts on record are worth something else, though none waits.
    if (this.touched.empty && this.learned.size === 0) return;
    const { events, swaps } = this.staged;
    await openWaiting(this.client);
    if (events > 0) this.count(await waitEvents(this.client, events));
    if (swaps > 0) this.count(await waitSwaps(this.client, swaps));
    await waitReserves(this.client, [...this.reserves.values()]);
  }

  /** Makes room for what this page changes; a page that changes no fact needs none. */
  private async openChanges(): Promise<void> {
    if (this.changing) return;
    await openChanges(this.client);
    this.changing = true;
  }

  private async value(): Promise<void> {
    const { events, swaps } = this.staged;
    if (this.learned.size > 0) {
      await this.openChanges();
      this.touched.addAll(await fillAmounts(this.client, [...this.learned]));
    }
    if (this.touched.empty) return;
    const staged = events + swaps > 0;
    const earlier = await derivePrices(this.client, { touched: this.touched, staged, facts: staged || this.learned.size > 0 });
    if (events > 0) this.count(await appendEvents(this.client, events));
    if (swaps > 0) this.count(await appendSwaps(this.client, swaps));
    if (earlier.length === 0) return;
    await this.openChanges();
    await revalue(this.client, earlier);
  }
}
