import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import { perps } from '../../../src/venues/perps/index';
import { type TestDatabase, copyOfFilled } from '../../support/database';
import { loadAtOnce } from '../../support/world';
import { type Fact, type Trip, factsOf, groupBy, tripsOf } from './reckoning';
import { fillsOf } from './recount';

const START = new Date('2026-03-01T00:00:00Z');
/** The clock stands inside an hour; the store knows two days more. */
export const NOW = new Date('2026-04-09T13:37:21.450Z');
const END = new Date('2026-04-11T00:00:00Z');

export interface SharedWorld {
  db: TestDatabase;
  /** Everything before NOW, oldest first. */
  facts: Fact[];
  byUser: Map<string, Fact[]>;
  /** Round trips as of NOW, by account. */
  trips: Map<string, Trip[]>;
  scores: Map<string, number>;
  tags: Map<string, string[]>;
  truth: { trader: string; role: string }[];
}

/** One world, loaded beyond the clock and scored at it: once a run, a copy for each test file. */
export async function sharedWorld(): Promise<SharedWorld> {
  const world = perpsWorld({ seed: 11, size: 8_000, start: START });
  const pages = [...world.pages(START, END)];
  const db = await copyOfFilled('perps_shared', async ({ pool }) => {
    await loadAtOnce(pool, 'perps', pages);
    await perps.score?.(pool, NOW, () => undefined);
  });
  const { rows } = await db.pool.query<{ trader: string; score: string | null; tags: string[] }>(
    'SELECT trader, score, tags FROM perp_score',
  );
  const facts = factsOf(fillsOf(pages)).filter(({ time }) => time < NOW.getTime());
  return {
    db,
    facts,
    byUser: groupBy(facts, ({ user }) => user),
    trips: groupBy(tripsOf(facts), ({ user }) => user),
    scores: new Map(rows.flatMap(({ trader, score }) => (score === null ? [] : [[trader, Number(score)]]))),
    tags: new Map(rows.map(({ trader, tags }) => [trader, tags])),
    truth: world.truth(NOW).map(({ trader, role }) => ({ trader, role })),
  };
}

const HOUR = 3_600_000;
const HOURS: Record<string, number> = {
  '1h': 1,
  '4h': 4,
  '6h': 6,
  '12h': 12,
  '24h': 24,
  '7d': 168,
  '30d': 720,
  '90d': 2_160,
  '365d': 8_760,
};

/** [from, to) of a window token. */
export function windowAt(timeframe: string, now = NOW): [number, number] {
  const to = now.getTime();
  if (timeframe === 'all') return [0, to];
  if (timeframe === 'today') return [Math.floor(to / (24 * HOUR)) * 24 * HOUR, to];
  return [to - (HOURS[timeframe] as number) * HOUR, to];
}

/** [from, to) of so many UTC days that end today. */
export const daysAt = (days: number): [number, number] => [(Math.floor(NOW.getTime() / (24 * HOUR)) - days + 1) * 24 * HOUR, NOW.getTime()];

const UNROUNDED = new Set(['long_avg_entry', 'short_avg_entry', 'entry_price', 'avg_price', 'avg_entry', 'size', 'price']);

/** Prices that are quotients are sent as they are: both sides are told to twelve figures. */
export function told(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(told);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, own]) => [
      name,
      UNROUNDED.has(name) && typeof own === 'number' ? Number(own.toPrecision(12)) : told(own),
    ]),
  );
}
