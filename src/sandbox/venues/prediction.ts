import type { Clock } from '../../lib/clock';
import type { UpstreamUrls } from '../../workers/source';
import type { VenueWorld } from '../simulator/world';
import { activity, type Listing, type ToldRow, markets, marketsByCursor, trades } from './prediction-listings';
import { type Faults, startUpstreamServer } from './upstream-server';

/** A venue's pretended upstream: a server that speaks the real one's language. */
export interface PretendUpstream {
  /** As the feeds are configured. */
  urls: UpstreamUrls;
  faults: Faults;
  stop(): Promise<void>;
}

/** The prediction market's, with what tests may do to its history. */
export interface PretendPrediction extends PretendUpstream {
  asked: ReadonlyMap<string, number>;
  /** Rows for which it holds are not told: late ones until it no longer does, taken back ones from then on. */
  hide(row: (row: Readonly<Record<string, unknown>>) => boolean): void;
}

/** How much of the past is kept at hand. */
const KEPT_S = 26 * 3_600;

export interface PredictionUpstreamOptions {
  world: VenueWorld;
  /** The listings tell what happened from here on; the catalogue what changed from here on. */
  since: Date;
  clock: Clock;
  seed?: number;
}

/** Gamma `/markets` and `/markets/keyset`, and Data API `/trades` and `/activity` over a simulated world that lives on as the clock goes. */
export async function startPredictionUpstream({ world, since, clock, seed = 1 }: PredictionUpstreamOptions): Promise<PretendPrediction> {
  const past = new Past(world, since);
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
    asked: server.asked,
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

/** What has happened so far; lived when somebody asks. */
class Past {
  /** Oldest first. */
  rows: ToldRow[] = [];
  byWallet = new Map<string, ToldRow[]>();
  readonly catalogue = new Map<string, Record<string, unknown>>();
  private lived: Date;
  /** When the past was last shortened: at first what is told may be as long as its readers were away. */
  private pruned: number | null = null;
  private living: Promise<void> = Promise.resolve();

  constructor(
    private readonly world: VenueWorld,
    since: Date,
  ) {
    this.lived = since;
  }

  /** Brings the past up to now; one at a time. */
  live(now: Date): Promise<void> {
    this.living = this.living.then(() => this.go(now));
    return this.living;
  }

  private async go(now: Date): Promise<void> {
    if (now <= this.lived) return;
    const fresh: ToldRow[] = [];
    for (const page of this.world.pages(this.lived, now)) {
      for (const record of page.records as Record<string, unknown>[]) {
        if ('proxyWallet' in record) fresh.push({ taker: !('type' in record), row: record });
        else this.catalogue.set(String(record.conditionId), record);
      }
      // A long past must not hold up whoever else is served by this process.
      await new Promise(setImmediate);
    }
    fresh.sort((a, b) => timeOf(a) - timeOf(b));
    for (const row of fresh) this.add(row);
    this.lived = now;
    this.prune(now.getTime() / 1_000);
  }

  private add(told: ToldRow): void {
    this.rows.push(told);
    const wallet = String(told.row.proxyWallet);
    const own = this.byWallet.get(wallet);
    if (own === undefined) this.byWallet.set(wallet, [told]);
    else own.push(told);
  }

  private prune(now: number): void {
    this.pruned ??= now;
    if (now - this.pruned < KEPT_S) return;
    const kept = this.rows.filter((row) => timeOf(row) >= now - KEPT_S);
    this.rows = [];
    this.byWallet = new Map();
    for (const row of kept) this.add(row);
    this.pruned = now;
  }
}

const timeOf = ({ row }: ToldRow): number => row.timestamp as number;
