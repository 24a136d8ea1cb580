import type { Account, Role } from './prediction/crowd';
import { MAKING, makeCrowd } from './prediction/crowd';
import { type Event, type Life, type Setting, live } from './prediction/market-life';
import { conditionId } from './prediction/names';
import { SESSION_TRADES } from './prediction/planted';
import { DAY, HOUR, type Plan, makeSchedule } from './prediction/schedule';
import { marketOf, rowOf } from './prediction/upstream';
import type { VenueWorld, WorldOptions, WorldPage } from './world';

/** What a wallet of the world really is. */
export interface PlantedWallet {
  wallet: string;
  role: Role;
  /** The wallet it copies, or washes with. */
  of: string | null;
  /** The market an insider knew. */
  condition_id: string | null;
}

/** The pretended prediction market. */
export interface PredictionWorld extends VenueWorld {
  /** What the wallets seen between the world's start and `until` really are. */
  truth(until: Date): PlantedWallet[];
}

/** Rows of one page at most, but for rows of one second, which stay together. */
const PAGE_ROWS = 1_000;
const MONTH_DAYS = 30;

/**
 * The pretended upstream of the prediction market: Gamma market objects as they are created and resolved, Data API `/trades` pages of takers and
 * `/activity` pages of redemptions, splits, merges and set makers' fills. Each market is lived whole, from its own random source, when
 * a time is asked at which it may do something; so any interval can be told alone and tells the same.
 */
export function predictionWorld(options: WorldOptions): PredictionWorld {
  const { seed, size } = options;
  const start = Math.ceil(options.start.getTime() / 1_000);
  const schedule = makeSchedule(seed, size, start);
  const setting = settingOf(seed, size, start, schedule.marketsPerDay);
  // Lives that go on, without what was told of them: a large world would not fit into memory.
  const lives = new Map<string, { life: Life; told: number }>();
  const lifeFrom = (plan: Plan, from: number): Life => {
    const known = lives.get(plan.id);
    if (known !== undefined && known.told <= from) return known.life;
    const life = live(plan, setting);
    lives.set(plan.id, { life, told: 0 });
    return life;
  };
  const forget = (before: number): void => {
    for (const [id, { life }] of lives) {
      const events = since(life.events, before);
      if (life.plan.settled < before) lives.delete(id);
      else if (events !== life.events) lives.set(id, { life: { ...life, events }, told: before });
    }
  };

  function* pages(from: Date, to: Date): Generator<WorldPage> {
    // Events stand on whole seconds: a half-open interval holds those from its first whole second on.
    const [first, end] = [Math.max(start, Math.ceil(from.getTime() / 1_000)), Math.ceil(to.getTime() / 1_000)];
    for (let at = first; at < end; at += 6 * HOUR) {
      const until = Math.min(end, at + 6 * HOUR);
      forget(at);
      const alive = schedule.alive(at, until).map((plan) => lifeFrom(plan, at));
      yield* cataloguePages(alive, at, until);
      const told = alive.flatMap((life) => within(life.events, at, until).map((event) => ({ life, event })));
      told.sort((a, b) => a.event.time - b.event.time);
      yield* rowPages('trades', told, at);
      yield* rowPages('activity', told, at);
    }
  }

  return { pages, truth: (until) => truthUntil(Math.ceil(until.getTime() / 1_000)) };

  function truthUntil(until: number): PlantedWallet[] {
    const seen = new Map<string, PlantedWallet>();
    for (const plan of allPlans(until)) {
      for (const { by, time } of live(plan, setting).events) if (time < until) seen.set(by.wallet, planted(by, plan, seen.get(by.wallet)));
    }
    return [...seen.values()];
  }

  function allPlans(until: number): Plan[] {
    const plans = new Map<string, Plan>();
    for (let at = start; at < until; at += DAY) for (const plan of schedule.alive(at, Math.min(until, at + DAY))) plans.set(plan.id, plan);
    return [...plans.values()];
  }
}

function planted(by: Account, plan: Plan, known: PlantedWallet | undefined): PlantedWallet {
  return (
    known ?? {
      wallet: by.wallet,
      role: by.role,
      of: by.of?.wallet ?? null,
      condition_id: by.role === 'insider' ? conditionId(plan.id) : null,
    }
  );
}

/** How busy a world of that size is, so that a month holds about `size` facts. */
function settingOf(seed: number, size: number, start: number, marketsPerDay: number): Setting {
  const markets = marketsPerDay * MONTH_DAYS;
  // Sixty positions a month make a wallet's skill visible; small worlds have less room.
  const attendance = Math.min(0.6, Math.min(60, size / 400) / markets);
  return {
    seed,
    start,
    crowd: makeCrowd(seed, size),
    bets: (0.3 * size) / markets,
    attendance,
    making: Math.min(1, (MAKING * size) / markets / SESSION_TRADES),
    session: Math.max(6, Math.min(45, Math.round(size / 600))),
  };
}

/** Events of [from, to), out of events in order of time. */
function within(events: Event[], from: number, to: number): Event[] {
  return events.slice(firstAt(events, from), firstAt(events, to));
}

/** Events from `time` on: themselves where nothing, or little, came before. */
function since(events: Event[], time: number): Event[] {
  const first = firstAt(events, time);
  return first === 0 || first * 4 < events.length ? events : events.slice(first);
}

function firstAt(events: Event[], time: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle] as Event).time < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** New markets, then resolved ones: a listing never holds one market twice. */
function* cataloguePages(lives: Life[], from: number, to: number): Generator<WorldPage> {
  for (const version of ['created', 'resolved'] as const) {
    const due = lives.filter(({ plan }) => plan[version] >= from && plan[version] < to);
    const records = due.map((life) => marketOf(life, version));
    if (records.length > 0) yield { name: `markets-${version}-${from}.json`, format: 'json', records, facts: records.length };
  }
}

/** Pages of one feed, newest first as served. Equal rows are told apart by their number on a page, so a second is never torn. */
function* rowPages(feed: Event['feed'], told: { life: Life; event: Event }[], from: number): Generator<WorldPage> {
  const own = told.filter(({ event }) => event.feed === feed);
  let first = 0;
  while (first < own.length) {
    let last = Math.min(first + PAGE_ROWS, own.length);
    while (last < own.length && own[last]?.event.time === own[last - 1]?.event.time) last += 1;
    const records = own
      .slice(first, last)
      .map(({ life, event }) => rowOf(life, event))
      .reverse();
    yield { name: `${feed}-${from}-${first}.json`, format: 'json', records, facts: records.length };
    first = last;
  }
}
