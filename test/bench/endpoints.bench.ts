import http from 'node:http';
import { nearestRank } from '../../src/lib/statistics';
import { subjectsOf } from '../support/subjects';
import { type Case, type Server, askerOf, casesOf, startServer, untilSpent } from './endpoints/cases';
import type { Prepared, Turns } from './endpoints/server';
import { openWorld } from './endpoints/world';
import { type Figure, latencies, printTable, quantileMs } from './measure';
import { VENUES } from './worlds';

// Every endpoint with its default and its dearest parameters, beside the same SQL over node-postgres alone. Answer cache off, but for
// "kept": asked again while the answer is, as the product serves it.
// BENCH_VENUE=prediction|perps|lp (all), BENCH_SIZE=facts (300000), BENCH_ENDPOINT=part of a name, BENCH_SECONDS a figure (0.5),
// BENCH_WARM=seconds an answer is asked for before it is timed (3): V8 compiles what has run a hundred times, not what has run thrice.

const SIZE = Number(process.env.BENCH_SIZE ?? 300_000);
const ONLY = process.env.BENCH_ENDPOINT ?? '';
const BUDGET_MS = Number(process.env.BENCH_SECONDS ?? 0.5) * 1_000;
const WARM_MS = Number(process.env.BENCH_WARM ?? 3) * 1_000;
const WARM_UPS = { fewest: 5, most: 150 };
const MEASURED = { fewest: 10, most: 400 };
const AT_ONCE = 16;
/** Our time over that of the bare SQL, at most; and milliseconds over HTTP at the median, at most. */
const GOALS = { ratio: 1.5, p50: 10 };

async function measure({ name, endpoint, input: asked }: Case, server: Server, agent: http.Agent): Promise<Figure> {
  const { input, outcome, statements } = await server.ask<Prepared>('prepare', { name: endpoint.name, input: asked });
  const askAt = askerOf({ endpoint, input }, agent);
  const overHttp = askAt(server.ready.url);
  const whileKept = askAt(server.ready.keepingUrl);
  await untilSpent(WARM_MS, WARM_UPS, overHttp);
  const alone = await untilSpent(BUDGET_MS, MEASURED, overHttp);
  await whileKept();
  const kept = await untilSpent(BUDGET_MS / 5, MEASURED, whileKept);
  const { ours, bare } = await server.ask<Turns>('turns', { name: endpoint.name, input, budgetMs: BUDGET_MS });
  const rounds = Math.min(MEASURED.most, Math.max(AT_ONCE, Math.round(BUDGET_MS / quantileMs(alone, 0.5))));
  const together = await latencies(rounds, AT_ONCE, overHttp);
  const ratio = quantileMs(ours.times, 0.5) / Math.max(quantileMs(bare.times, 0.5), 0.01);
  return {
    what: outcome === '' ? name : `${name} (${outcome})`,
    statements,
    runs: ours.times.length,
    'bare SQL p50': quantileMs(bare.times, 0.5),
    'answer p50': quantileMs(ours.times, 0.5),
    'answer p99': quantileMs(ours.times, 0.99),
    'over bare': `${ratio.toFixed(2)}${ratio <= GOALS.ratio ? '' : ' !'}`,
    'CPU here, bare': quantileMs(bare.cpu, 0.5),
    'CPU here, answer': quantileMs(ours.cpu, 0.5),
    'HTTP p50': quantileMs(alone, 0.5),
    'HTTP p99': quantileMs(alone, 0.99),
    'HTTP, 16 at once, p50': quantileMs(together, 0.5),
    p99: quantileMs(together, 0.99),
    'HTTP, kept, p50': quantileMs(kept, 0.5),
  };
}

function printGoals(rows: readonly Figure[]): void {
  const ratios = rows.map((row) => Number.parseFloat(String(row['over bare'])));
  const within = (values: readonly number[], most: number): string => `${values.filter((value) => value <= most).length} of ${rows.length}`;
  process.stdout.write(`\nAt most ${GOALS.ratio} x the bare SQL: ${within(ratios, GOALS.ratio)}; median ${nearestRank(ratios, 0.5)}\n`);
  for (const what of ['HTTP p50', 'HTTP, kept, p50']) {
    const p50s = rows.map((row) => Number(row[what]));
    process.stdout.write(`${what} at most ${GOALS.p50} ms: ${within(p50s, GOALS.p50)}; median ${nearestRank(p50s, 0.5)} ms\n`);
  }
}

test.each(VENUES)('%s', async (venue) => {
  const world = await openWorld(venue, SIZE);
  const server = await startServer(world);
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
  try {
    const [rows, failed]: [Figure[], string[]] = [[], []];
    for (const one of casesOf(venue, await subjectsOf(world.db.pool, venue), ONLY)) {
      try {
        rows.push(await measure(one, server, agent));
        process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
      } catch (error) {
        failed.push(`${one.name}: ${(error as Error).message}`);
        process.stderr.write(`${failed.at(-1)}\n`);
      }
    }
    printTable(
      `${venue}, ${world.facts} facts, milliseconds; server, client and database each a process; "!" beside what is over ${GOALS.ratio} x the bare SQL`,
      rows,
    );
    printGoals(rows);
    expect(failed).toEqual([]);
  } finally {
    agent.destroy();
    await server.stop();
    await world.close();
  }
});
