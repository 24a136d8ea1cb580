import type { Clock } from '../../lib/clock';
import { addTo } from '../../lib/grouped';
import type { VenueWorld, WorldPage } from '../simulator/world';
import { Past } from './past';
import { activity, type Listing, type ToldRow, markets, marketsByCursor, trades } from './prediction-listings';
import { type PretendUpstream, startUpstreamServer } from './upstream-server';

/** The prediction market's, with what tests may do to its history. */
export interface PretendPrediction extends PretendUpstream {
  /** Rows for which it holds are not told: late ones until it no longer does, taken back ones from then on. */
  hide(row: (row: Readonly<Record<string, unknown>>) => boolean): void;
}

export interface PredictionUpstreamOptions {
  world: VenueWorld;
  /** The listings tell what happened from here on; the catalogue what changed from here on. */
  since: Date;
  clock: Clock;
  seed?: number;
}

/** Gamma `/markets` and `/markets/keyset`, and Data API `/trades` and `/activity` over a simulated world that lives on as the clock goes. */
export async function startPredictionUpstream({ world, since, clock, seed = 1 }: PredictionUpstreamOptions): Promise<PretendPrediction> {
  const past = new PredictionPast(world, since);
  let hidden: (row: Readonly<Record<string, unknown>>) => boolean = () => false;
  const server = await startUpstreamServer(async ({ path, query }) => {
    const listing = LISTINGS[path];
    if (listing === undefined) return undefined;
    await past.live(clock.now());
    return listing({ rows: past.rows, byWallet: past.byWallet, catalogue: past.catalogue, hides: hidden }, query);
  }, seed);
  return {
    urls: { gamma: server.url, data: server.url },
    faults: server.faults,
    hide: (row) => (hidden = row),
    stop: () => server.stop(),
  };
}

const LISTINGS: Readonly<Record<string, Listing>> = {
  '/markets': markets,
  '/markets/keyset': marketsByCursor,
  '/trades': trades,
  '/activity': activity,
};

class PredictionPast extends Past {
  /** Oldest first. */
  rows: ToldRow[] = [];
  byWallet = new Map<string, ToldRow[]>();
  readonly catalogue = new Map<string, Record<string, unknown>>();
  private fresh: ToldRow[] = [];

  protected take({ records }: WorldPage): void {
    for (const record of records as Record<string, unknown>[]) {
      if ('proxyWallet' in record) this.fresh.push({ taker: !('type' in record), row: record });
      else this.catalogue.set(String(record.conditionId), record);
    }
  }

  protected arrive(): void {
    for (const row of this.fresh.sort((a, b) => timeOf(a) - timeOf(b))) this.add(row);
    this.fresh = [];
  }

  private add(told: ToldRow): void {
    this.rows.push(told);
    addTo(this.byWallet, String(told.row.proxyWallet), told);
  }

  protected forget(before: Date): void {
    const kept = this.rows.filter((row) => timeOf(row) >= before.getTime() / 1_000);
    this.rows = [];
    this.byWallet = new Map();
    for (const row of kept) this.add(row);
  }
}

const timeOf = ({ row }: ToldRow): number => row.timestamp as number;
