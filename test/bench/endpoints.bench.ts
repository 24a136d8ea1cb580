import http from 'node:http';
import type { Client } from 'pg';
import type { PaidEndpoint } from '../../src/gateway/paid';
import { AppError } from '../../src/errors';
import { quantile } from '../../src/observability/recent';
import type { VenueName } from '../../src/venues/venue';
import { type Input, ask, requestOf } from '../support/ask';
import { type OpenGateway, startOpenGateway } from '../support/open-gateway';
import { type Subjects, dearestInput, defaultInput, subjectsOf } from '../support/subjects';
import { answerInProcess } from './endpoints/answer';
import { type SentStatement, plainClient, recordStatements, replay } from './endpoints/statements';
import { type EndpointsWorld, openWorld } from './endpoints/world';
import { type Figure, latencies, printTable } from './measure';

// Every endpoint with its default and its dearest parameters, beside the same SQL over node-postgres alone. Answer cache off.
// BENCH_VENUE=prediction|perps|lp (all), BENCH_SIZE=facts (300000), BENCH_ENDPOINT=part of a name, BENCH_SECONDS a figure (0.5).

const VENUES = (process.env.BENCH_VENUE?.split(',') ?? ['prediction', 'perps', 'lp']) as VenueName[];
const SIZE = Number(process.env.BENCH_SIZE ?? 300_000);
const ONLY = process.env.BENCH_ENDPOINT ?? '';
const BUDGET_MS = Number(process.env.BENCH_SECONDS ?? 0.5) * 1_000;
const WARM_UPS = 3;
const FEWEST = 5;
const MOST = 400;
const AT_ONCE = 16;
/** Our time over that of the bare SQL, at most. */
const GOAL = 1.5;

const ms = (times: readonly number[], q: number): number => Number((quantile(times, q) ?? 0).toFixed(2));

interface Case {
  name: string;
  paid: PaidEndpoint;
  input: Input;
}

function casesOf(paid: readonly PaidEndpoint[], venue: VenueName, subjects: Subjects): Case[] {
  return paid
    .filter(({ endpoint, operation }) => endpoint.venue === venue && operation !== null && endpoint.name.includes(ONLY))
    .flatMap((one) => [
      { name: one.endpoint.name, paid: one, input: defaultInput(one.endpoint, subjects, 10) },
      { name: `${one.endpoint.name}, dearest`, paid: one, input: dearestInput(one.endpoint, subjects) },
    ]);
}

interface Run {
  times: number[];
  /** Milliseconds this process computed, the database's work not counted. */
  cpu: number[];
}

async function add(run: Run, work: () => Promise<unknown>): Promise<void> {
  const before = process.cpuUsage();
  run.times.push(...(await latencies(1, 1, work)));
  const { user, system } = process.cpuUsage(before);
  run.cpu.push((user + system) / 1_000);
}

/** In turns, so that whatever else the machine does falls on both. */
async function sideBySide(ours: () => Promise<unknown>, bare: () => Promise<unknown>): Promise<{ ours: Run; bare: Run }> {
  const runs = { ours: { times: [], cpu: [] } as Run, bare: { times: [], cpu: [] } as Run };
  const started = performance.now();
  while (runs.ours.times.length < FEWEST || (runs.ours.times.length < MOST && performance.now() - started < 2 * BUDGET_MS)) {
    await add(runs.ours, ours);
    await add(runs.bare, bare);
  }
  return runs;
}

async function untilSpent(concurrent: number, run: () => Promise<unknown>): Promise<number[]> {
  const [once = 1] = await latencies(1, 1, run);
  const count = Math.min(MOST, Math.max(FEWEST, concurrent, Math.round(BUDGET_MS / once)));
  return latencies(count, concurrent, run);
}

interface Bench {
  world: EndpointsWorld;
  gateway: OpenGateway;
  client: Client;
  agent: http.Agent;
}

/** An answer that is no data is timed too, and said so: it is an answer that was asked for. */
const settled = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    await work();
    return '';
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.status === 404) return thrown.code;
    throw thrown;
  }
};

/** The input, or what a refusal of too long a list of buckets suggests instead: the dearest that may be asked. */
async function askable({ paid, input }: Case, { world }: Bench): Promise<Input> {
  try {
    await answerInProcess(paid, input, world.db, world.now);
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'range_too_large') return { ...input, ...(thrown.context.suggestion as Input) };
  }
  return input;
}

async function measure({ name, paid, ...asked }: Case, bench: Bench): Promise<Figure> {
  const { world, gateway, client, agent } = bench;
  const input = await askable({ name, paid, ...asked }, bench);
  const ours = (): Promise<string> => settled(() => answerInProcess(paid, input, world.db, world.now));
  const { path, body } = requestOf(paid.endpoint, input);
  const overHttp = async (): Promise<void> => {
    const told = await ask(gateway.url, agent, paid.endpoint.method, path, body);
    if (![200, 404].includes(told.status)) throw new Error(`${told.status} ${told.body.slice(0, 300)}`);
  };
  let statements: SentStatement[] = [];
  let outcome = '';
  for (let index = 0; index < WARM_UPS; index += 1)
    statements = await recordStatements(world.db.pool, async () => {
      outcome = await ours();
    });
  for (let index = 0; index < WARM_UPS; index += 1) await replay(client, statements);
  const turns = await sideBySide(ours, () => replay(client, statements));
  const alone = await untilSpent(1, overHttp);
  const together = await untilSpent(AT_ONCE, overHttp);
  const [answer, sql] = [turns.ours.times, turns.bare.times];
  const ratio = ms(answer, 0.5) / Math.max(ms(sql, 0.5), 0.01);
  return {
    what: outcome === '' ? name : `${name} (${outcome})`,
    statements: statements.length,
    runs: answer.length,
    'bare SQL p50': ms(sql, 0.5),
    'answer p50': ms(answer, 0.5),
    'answer p99': ms(answer, 0.99),
    'over bare': `${ratio.toFixed(2)}${ratio <= GOAL ? '' : ' !'}`,
    'CPU here, bare': ms(turns.bare.cpu, 0.5),
    'CPU here, answer': ms(turns.ours.cpu, 0.5),
    'HTTP p50': ms(alone, 0.5),
    'HTTP p99': ms(alone, 0.99),
    'HTTP, 16 at once, p50': ms(together, 0.5),
    p99: ms(together, 0.99),
  };
}

test.each(VENUES)('%s', async (venue) => {
  const world = await openWorld(venue, SIZE);
  const [gateway, client] = await Promise.all([startOpenGateway(world.db, world.now), plainClient(world.url)]);
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
  try {
    const rows: Figure[] = [];
    for (const one of casesOf(gateway.paid, venue, await subjectsOf(world.db.pool, venue))) {
      try {
        rows.push(await measure(one, { world, gateway, client, agent }));
      } catch (error) {
        rows.push({ what: `${one.name} failed: ${(error as Error).message.slice(0, 80)}` });
      }
      process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
    }
    const ratios = rows.flatMap((row) => ('over bare' in row ? [Number.parseFloat(String(row['over bare']))] : []));
    printTable(`${venue}, ${world.facts} facts, milliseconds; one process; "!" beside what is over ${GOAL} x the bare SQL`, rows);
    process.stdout.write(
      `\nAt most ${GOAL} x the bare SQL: ${ratios.filter((ratio) => ratio <= GOAL).length} of ${rows.length}; median ${quantile(ratios, 0.5)}\n`,
    );
    expect(rows.filter((row) => row.what.includes(' failed: '))).toEqual([]);
  } finally {
    agent.destroy();
    await Promise.all([client.end(), gateway.close()]);
    await world.close();
  }
});
