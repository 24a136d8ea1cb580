import http from 'node:http';
import { nearestRank } from '../../src/lib/statistics';
import type { VenueName } from '../../src/lib/venue-name';
import { subjectsOf } from '../support/subjects';
import { type Case, type Server, askerOf, casesOf, startServer, untilSpent } from './endpoints/cases';
import type { Prepared } from './endpoints/server';
import { withLikenesses } from './endpoints/likenesses';
import { type EndpointsWorld, openWorld, served } from './endpoints/world';
import { type Figure, latencies, printTable, quantileMs } from './measure';
import { VENUES, openAgedWorld } from './worlds';

// How the time of an answer over HTTP grows with the world: every endpoint with its default and dearest parameters asked of a small and of a large world in turns, so
// that whatever else the machine does falls on both. Answer cache off.
// BENCH_VENUE=prediction|perps|lp (all), BENCH_SIZES=small,large (100000,1000000), or BENCH_DAYS=young,old (none): worlds that lived so many days, with BENCH_SIZE facts (20000) every thirty; BENCH_POOLS=likenesses of each pool that the large world of pools is given (none), BENCH_ENDPOINT=part of a name, BENCH_SECONDS a case (2),
// BENCH_WARM=seconds each world's answer is asked for before it is timed (1).

const SIZES = (process.env.BENCH_SIZES ?? '100000,1000000').split(',').map(Number);
const AGES = process.env.BENCH_DAYS?.split(',').map(Number);
const A_MONTH = Number(process.env.BENCH_SIZE ?? 20_000);
const POOLS = Number(process.env.BENCH_POOLS ?? 0);
const ONLY = process.env.BENCH_ENDPOINT ?? '';
const BUDGET_MS = Number(process.env.BENCH_SECONDS ?? 2) * 1_000;
const WARM_MS = Number(process.env.BENCH_WARM ?? 1) * 1_000;
const WARM_UPS = { fewest: 5, most: 150 };
const ROUNDS = { fewest: 15, most: 300 };
/** Growth below, and milliseconds at the median, at most, of light and medium endpoints. */
const GOALS = { growth: 1.5, p50: 10 };

interface Size {
  world: EndpointsWorld;
  server: Server;
  cases: Case[];
}

async function openSize(venue: VenueName, opened: EndpointsWorld, likenesses: number): Promise<Size> {
  const world = likenesses > 0 ? await withLikenesses(opened, likenesses) : opened;
  return { world, server: await startServer(world), cases: casesOf(venue, await subjectsOf(world.db.pool, venue), ONLY) };
}

async function measure(sizes: readonly Size[], index: number, agent: http.Agent): Promise<Figure> {
  const asks = await Promise.all(
    sizes.map(async ({ server, cases }) => {
      const { name, endpoint, input: asked } = cases[index] as Case;
      const { input } = await server.ask<Prepared>('prepare', { name: endpoint.name, input: asked });
      return { name, endpoint, run: askerOf({ endpoint, input }, agent)(server.ready.url), times: [] as number[] };
    }),
  );
  for (const { run } of asks) await untilSpent(WARM_MS, WARM_UPS, run);
  await untilSpent(BUDGET_MS, ROUNDS, async () => {
    for (const { run, times } of asks) times.push(...(await latencies(1, 1, run)));
  });
  const [small, large] = asks as [(typeof asks)[0], (typeof asks)[0]];
  const growth = quantileMs(large.times, 0.5) / quantileMs(small.times, 0.5);
  return {
    what: small.name,
    tier: small.endpoint.tier,
    runs: small.times.length,
    'small p50': quantileMs(small.times, 0.5),
    'large p50': quantileMs(large.times, 0.5),
    'large p99': quantileMs(large.times, 0.99),
    growth: `${growth.toFixed(2)}${growth < GOALS.growth ? '' : ' !'}`,
  };
}

function printGoals(rows: readonly Figure[]): void {
  const cheap = rows.filter(({ tier }) => tier === 'light' || tier === 'medium');
  const within = cheap.filter((row) => Number(row['large p50']) <= GOALS.p50);
  const growths = rows.map(({ growth }) => Number.parseFloat(String(growth)));
  process.stdout.write(`\nlarge p50 of light and medium at most ${GOALS.p50} ms: ${within.length} of ${cheap.length}\n`);
  process.stdout.write(
    `growth below ${GOALS.growth}: ${growths.filter((growth) => growth < GOALS.growth).length} of ${growths.length}; median ${nearestRank(growths, 0.5)}\n`,
  );
}

test.each(VENUES)('%s', async (venue) => {
  const opened: Size[] = [];
  // The old one grows from the young one, which nobody may be using.
  for (const days of AGES ?? []) await (await openAgedWorld(venue, A_MONTH, days)).close();
  for (const days of AGES ?? []) opened.push(await openSize(venue, await served(await openAgedWorld(venue, A_MONTH, days)), 0));
  for (const size of AGES === undefined ? [...SIZES].reverse() : [])
    opened.push(await openSize(venue, await openWorld(venue, size), venue === 'lp' && opened.length === 0 ? POOLS : 0));
  const sizes = AGES === undefined ? [...opened].reverse() : opened;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
  try {
    const rows: Figure[] = [];
    for (const index of (sizes[0] as Size).cases.keys()) {
      rows.push(await measure(sizes, index, agent));
      process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
    }
    printTable(`${venue}, ${sizes.map(({ world }) => world.facts).join(' and ')} facts, milliseconds, asked in turns`, rows);
    printGoals(rows);
  } finally {
    agent.destroy();
    // The first one's database is the others' as well.
    for (const { server, world } of [...opened].reverse()) {
      await server.stop();
      await world.close();
    }
  }
});
