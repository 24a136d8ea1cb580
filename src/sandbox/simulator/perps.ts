import { addTo } from '../../lib/grouped';
import { DAY_MS, HOUR_MS } from '../../lib/time';
import type { WireEvent } from './perps/book';
import { plantedIn } from './perps/plan';
import { type Account, type Role, makeRoster } from './perps/roster';
import { LiveSession, type TimedEvent, numberOfBlock } from './perps/session';
import type { Session } from './perps/span';
import { archiveTime } from './perps/wire';
import type { VenueWorld, WorldOptions, WorldPage } from './world';

const SESSION = 9 * DAY_MS;
const WIND_DOWN = 6 * HOUR_MS;
const SHORTEST_SESSION = DAY_MS;
/** Facts a page holds, about. */
const PAGE_FACTS = 5_000;

/** What an account of the world really is. */
export interface PlantedTrader {
  trader: string;
  role: Role;
  coins: string[];
  /** The account it copies, or washes with. */
  of: string | null;
}

/** What info `meta` answers. */
interface MetaAnswer {
  universe: { name: string; szDecimals: number; maxLeverage: number; isDelisted?: boolean }[];
  marginTables: unknown[];
  collateralToken: number;
}

export interface PerpsWorld extends VenueWorld {
  /** Every account with a role that began to trade before `until`; those of one session are told from that session on. */
  truth(until: Date): PlantedTrader[];
  /** The catalogue as of an instant, as info `meta` answers it. */
  meta(at: Date): MetaAnswer;
}

/**
 * The pretended perpetual-futures venue: catalogue pages as info `meta` answers them, fills as the node's archive of fills by
 * block. Each coin's trading is cut into sessions of nine days at whose ends everybody is flat, so the world can be entered at
 * any instant by living one session per coin; going on from where it stands costs nothing more.
 */
export function perpsWorld(options: WorldOptions): PerpsWorld {
  const start = options.start.getTime();
  const roster = makeRoster(options.seed, options.size, start);
  const live = new Map<number, LiveSession>();

  const bounds = (coinIndex: number): { first: number; end: number; offset: number } => {
    const { listed, delisted } = roster.coins[coinIndex] as { listed: number; delisted: number };
    return { first: listed, end: delisted, offset: (coinIndex * 1.7 * DAY_MS) % SESSION };
  };
  const sessionAt = (coinIndex: number, time: number): Session | null => {
    const { first, end, offset } = bounds(coinIndex);
    if (time < first || time >= end) return null;
    const index = Math.floor((time - start - offset) / SESSION);
    const edge = (number: number): number => start + offset + number * SESSION;
    // A stub at either end of a coin's life is joined to its neighbour.
    const merged = index > 0 && edge(index) + SHORTEST_SESSION > end ? index - 1 : index;
    const from = Math.max(first, edge(merged));
    const to = edge(merged + 1) + SHORTEST_SESSION > end ? end : edge(merged + 1);
    const coin = roster.coins[coinIndex];
    return coin === undefined ? null : { coin_index: coinIndex, coin, index: merged, from, to, wind_down: to - WIND_DOWN };
  };
  const liveSession = (coinIndex: number, time: number): LiveSession | null => {
    const session = sessionAt(coinIndex, time);
    if (session === null) return null;
    const known = live.get(coinIndex);
    if (known !== undefined && known.session.from === session.from && known.reached <= time) return known;
    const made = new LiveSession(options.seed, roster, session, start);
    live.set(coinIndex, made);
    return made;
  };

  const planted = new Map<string, Account[]>();
  /** Told anew they cost a second in a large world, and the venue is asked for one account after the other. */
  const plantedOf = (session: Session): Account[] => {
    const key = `${session.coin_index} ${session.from}`;
    const known = planted.get(key) ?? plantedIn(options.seed, roster, session, start).map(({ account }) => account);
    planted.set(key, known);
    return known;
  };

  const eventsOf = (coinIndex: number, from: number, to: number): TimedEvent[] => {
    const events: TimedEvent[] = [];
    const { first, end } = bounds(coinIndex);
    for (let time = Math.max(from, first); time < Math.min(to, end);) {
      const session = liveSession(coinIndex, time);
      if (session === null) break;
      const until = Math.min(to, session.session.to);
      events.push(...session.run(until).filter((event) => event.time >= from));
      time = until;
    }
    return events;
  };

  return {
    *pages(from, to) {
      const [a, b] = [Math.max(from.getTime(), start), to.getTime()];
      const changes = new Set([start, ...roster.coins.flatMap(({ listed, delisted }) => [listed, delisted])]);
      for (const time of [...changes].filter((change) => change >= a && change < b).sort((x, y) => x - y))
        yield metaPage(roster.coins, time);
      if (a <= start && start < b) yield rolesPage(roster.accounts, start);
      const step = Math.max(HOUR_MS, Math.min(DAY_MS, Math.round((PAGE_FACTS / options.size) * 30 * DAY_MS)));
      for (let time = a; time < b; time += step) {
        const until = Math.min(b, time + step);
        const events = roster.coins.flatMap((_, coinIndex) => eventsOf(coinIndex, time, until));
        if (events.length > 0) yield fillsPage(time, events);
      }
    },
    meta: (at) => metaAt(roster.coins, at.getTime()),
    truth: (until) => {
      const told: Account[] = roster.accounts.map((account) => account);
      roster.coins.forEach((_, coinIndex) => {
        const { first, end } = bounds(coinIndex);
        for (let time = first; time < Math.min(until.getTime(), end);) {
          const session = sessionAt(coinIndex, time) as Session;
          told.push(...plantedOf(session));
          time = session.to;
        }
      });
      const distinct = new Map(told.map((account) => [account.address, account]));
      return [...distinct.values()].map(({ address, role, coins, of }) => ({
        trader: address,
        role,
        coins: coins.map((index) => roster.coins[index]?.name as string),
        of,
      }));
    },
  };
}

function metaAt(coins: ReturnType<typeof makeRoster>['coins'], time: number): MetaAnswer {
  const listed = coins.filter((coin) => coin.listed <= time);
  const universe = listed.map((coin) => ({
    name: coin.name,
    szDecimals: coin.sz_decimals,
    maxLeverage: coin.max_leverage,
    ...(coin.delisted <= time ? { isDelisted: true } : {}),
  }));
  return { universe, marginTables: [], collateralToken: 0 };
}

function metaPage(coins: ReturnType<typeof makeRoster>['coins'], time: number): WorldPage {
  const answer = metaAt(coins, time);
  return { name: `meta-${stamp(time)}.json`, format: 'json', records: [answer], facts: answer.universe.length };
}

/** What the venue answers when it is asked for the role of each account that trades for others. */
function rolesPage(accounts: readonly Account[], time: number): WorldPage {
  const vaults = accounts.filter(({ role }) => role === 'vault');
  const records = vaults.map(({ address }) => ({ request: { body: { type: 'userRole', user: address } }, response: { role: 'vault' } }));
  return { name: `roles-${stamp(time)}.json`, format: 'json', records, facts: records.length };
}

/** Events in blocks as the archive writes them, in order of time; those of one instant coin by coin. */
function fillsPage(from: number, events: TimedEvent[]): WorldPage {
  const blocks = new Map<number, WireEvent[]>();
  for (const { time, event } of events) addTo(blocks, time, event);
  const records = [...blocks]
    .sort(([a], [b]) => a - b)
    .map(([time, own]) => ({
      local_time: archiveTime(time + 180 + (time % 97)),
      block_time: archiveTime(time),
      block_number: numberOfBlock(time),
      events: own,
    }));
  return { name: `node-fills-by-block-${stamp(from)}.ndjson`, format: 'ndjson', records, facts: events.length };
}

const stamp = (time: number): string => new Date(time).toISOString().slice(0, 19).replace(/:/g, '');
