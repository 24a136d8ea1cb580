import http from 'node:http';
import { VENUES } from '../src/wings';
import type { Endpoint } from '../src/endpoints/endpoint';
import { runScores } from '../src/workers/scores';
import { type Input, ask, requestOf } from './support/ask';
import { ENDPOINTS } from './support/catalogue';
import { testDatabase } from './support/database';
import { type OpenGateway, startOpenGateway } from './support/open-gateway';
import { type Subjects, defaultInput, loosestInput, subjectsOf } from './support/subjects';
import { loadWorld } from './support/world';

// An answer as of an instant does not know what came after it: it is the same from a store that ends there and from one that goes on. So a recorded
// world can be asked as of any day, and a signal of then is worth as much as it was then.

const START = new Date('2026-02-08T00:00:00Z');
const AT = new Date('2026-02-24T10:20:30Z');
const LATER = new Date('2026-02-27T15:00:00Z');

let stores: Awaited<ReturnType<typeof testDatabase>>[];
let gateways: [OpenGateway, OpenGateway];
const subjects: Partial<Record<Endpoint['venue'], Subjects>> = {};
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });

beforeAll(async () => {
  stores = [await testDatabase(), await testDatabase()];
  for (const [index, { pool }] of stores.entries())
    for (const venue of VENUES) {
      await loadWorld(pool, venue.name, 4_000, START, index === 0 ? AT : LATER);
      await runScores(pool, venue, AT, () => undefined);
      // What a later run tells, an answer of before does not know either.
      if (index === 1) await runScores(pool, venue, LATER, () => undefined);
      subjects[venue.name] ??= await subjectsOf(pool, venue.name);
    }
  gateways = (await Promise.all(stores.map((store) => startOpenGateway(store, AT)))) as [OpenGateway, OpenGateway];
}, 400_000);
afterAll(async () => {
  agent.destroy();
  for (const gateway of gateways) await gateway.close();
  for (const store of stores) await store.drop();
});

/** Told of the newest look at the catalogue only: where that was later, an older one, or nothing, is told instead. */
const OF_THE_CATALOGUE = ['liquidity_usd', 'leader_outcome', 'leader_price'];

/**
 * An answer to compare: without what only the newest look at a catalogue tells, and without cells of nothing (whether a quiet hour has a cell depends on
 * its later minutes).
 */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((row) => !isEmptyCell(row)).map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, child]) => (OF_THE_CATALOGUE.includes(name) ? [] : [[name, comparable(child)]]))); // prettier-ignore
}

const isEmptyCell = (row: unknown): boolean => {
  const cell = row as Record<string, unknown> | null;
  return typeof row === 'object' && cell !== null && 'bucket' in cell && cell.volume_usd === 0 && cell.event_count === 0;
};

/** `other`, with the numbers of `one` where they are alike: a store may add up in another order, so a mean that ends on a half is rounded either way. */
function likened(one: unknown, other: unknown): unknown {
  if (typeof one === 'number' && typeof other === 'number') return Math.abs(one - other) <= 1.5e-6 + Math.abs(one) * 1e-9 ? one : other;
  if (Array.isArray(one) && Array.isArray(other)) return other.map((child, index) => likened(one[index], child));
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return other;
  return Object.fromEntries(Object.entries(other).map(([name, child]) => [name, likened((one as Record<string, unknown>)[name], child)]));
}

/** Status, window, data or code. */
async function told(gateway: OpenGateway, endpoint: Endpoint, input: Input): Promise<unknown> {
  const { path, body } = requestOf(endpoint, input);
  const { status, body: text } = await ask(gateway.url, agent, endpoint.method, path, body);
  const { data, code, meta } = JSON.parse(text) as { data?: unknown; code?: string; meta?: { window: unknown } };
  return { status, code, data: comparable(data), window: meta?.window };
}

test.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint] as const))('%s', async (_, endpoint) => {
  const own = subjects[endpoint.venue] as Subjects;
  const week = endpoint.parameters.some(({ name }) => name === 'timeframe') ? { timeframe: '7d' } : {};
  for (const input of [defaultInput(endpoint, own), loosestInput(endpoint, own), { ...loosestInput(endpoint, own), ...week }]) {
    const [then, since] = [await told(gateways[0], endpoint, input), await told(gateways[1], endpoint, input)];
    expect([input, likened(then, since)]).toEqual([input, then]);
  }
});
