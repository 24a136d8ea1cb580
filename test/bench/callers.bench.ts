import http from 'node:http';
import fc from 'fast-check';
import type { VenueName } from '../../src/lib/venue-name';
import { nearestRank } from '../../src/lib/statistics';
import { ask, requestOf } from '../support/ask';
import { ENDPOINTS } from '../support/catalogue';
import { validInputs } from '../support/generated-requests';
import { type Subjects, defaultInput, subjectsOf } from '../support/subjects';
import { FLAGS, type Child, startChild } from './child';
import { openWorld } from './endpoints/world';
import { type Figure, printTable } from './measure';
import { VENUES } from './worlds';

// Many callers at once, each asking one question after the other: half default parameters, half drawn at random, of all endpoints alike.
// BENCH_VENUE=prediction|perps|lp (all), BENCH_SIZE=facts (300000), BENCH_CALLERS=1,8,32,64, BENCH_SECONDS each (20), BENCH_SEED.

const SIZE = Number(process.env.BENCH_SIZE ?? 300_000);
const CALLERS = (process.env.BENCH_CALLERS ?? '1,8,32,64').split(',').map(Number);
const LASTING_MS = Number(process.env.BENCH_SECONDS ?? 20) * 1_000;
const SEED = Number(process.env.BENCH_SEED ?? 1);
/** Random inputs of an endpoint, and as many times its defaults. */
const DRAWS = 4;
/** What may come back: an answer, nothing there, a refusal of what was asked, all slots taken. */
const EXPECTED = [200, 400, 404, 422, 503];

interface Request {
  tier: string;
  method: string;
  path: string;
  body: string | undefined;
}

interface Answered {
  tier: string;
  status: number;
  ms: number;
}

/** In an order that looks like chance and is the same in every run. */
function requestsOf(venue: VenueName, subjects: Subjects): Request[] {
  const requests = ENDPOINTS.filter((endpoint) => endpoint.venue === venue).flatMap((endpoint) => {
    const drawn = fc.sample(validInputs(endpoint, subjects), { numRuns: DRAWS, seed: SEED });
    const inputs = [...drawn, ...drawn.map((_, place) => defaultInput(endpoint, subjects, place))];
    return inputs.map((input) => ({ tier: endpoint.tier, method: endpoint.method, ...requestOf(endpoint, input) }));
  });
  const [order = []] = fc.sample(fc.shuffledSubarray(requests, { minLength: requests.length }), { numRuns: 1, seed: SEED });
  return order;
}

/** What `callers` are told until the time is up. Throws on a status that nothing asked here may have. */
async function crowd(url: string, requests: readonly Request[], callers: number): Promise<Answered[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: callers });
  const answered: Answered[] = [];
  const until = performance.now() + LASTING_MS;
  let next = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < until) {
      const { tier, method, path, body } = requests[next++ % requests.length] as Request;
      const started = performance.now();
      const told = await ask(url, agent, method, path, body);
      if (!EXPECTED.includes(told.status)) throw new Error(`${told.status} to ${path} ${body ?? ''}: ${told.body.slice(0, 300)}`);
      answered.push({ tier, status: told.status, ms: performance.now() - started });
    }
  };
  try {
    await Promise.all(Array.from({ length: callers }, caller));
  } finally {
    agent.destroy();
  }
  return answered;
}

const ms = (times: readonly number[], q: number): number => Math.round(nearestRank(times, q) ?? 0);

test.each(VENUES)('%s', async (venue) => {
  const world = await openWorld(venue, SIZE);
  const server: Child<{ url: string }> = await startChild(
    'endpoints/server.ts',
    { databaseUrl: world.url, now: world.now.toISOString() },
    FLAGS,
  );
  const rows: Figure[] = [];
  try {
    const requests = requestsOf(venue, await subjectsOf(world.db.pool, venue));
    // Once through, so that code is compiled and pages are in memory.
    await crowd(server.ready.url, requests, 4);
    for (const callers of CALLERS) {
      await server.ask('begin');
      const started = performance.now();
      const answered = await crowd(server.ready.url, requests, callers);
      const seconds = (performance.now() - started) / 1_000;
      const cpu = await server.ask<number>('end');
      const served = answered.filter(({ status }) => status !== 503);
      const row: Figure = {
        what: `${callers} callers`,
        answers: served.length,
        'per second': Number((served.length / seconds).toFixed(1)),
        'no slot': answered.length - served.length,
        'node ms an answer': Number((cpu / served.length).toFixed(1)),
      };
      for (const tier of ['light', 'medium', 'heavy', 'whale']) {
        const times = served.filter((one) => one.tier === tier).map((one) => one.ms);
        row[`${tier} p50`] = ms(times, 0.5);
        row[`${tier} p99`] = ms(times, 0.99);
      }
      rows.push(row);
      process.stderr.write(`${JSON.stringify(row)}\n`);
    }
    printTable(`${venue}, ${world.facts} facts, ${requests.length} requests over and over, milliseconds over HTTP`, rows);
  } finally {
    await server.stop();
    await world.close();
  }
});
