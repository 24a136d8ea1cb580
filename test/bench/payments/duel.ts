import http from 'node:http';
import { nearestRank } from '../../../src/lib/statistics';
import { type Figure, figure, latencies, timed } from '../measure';
import type { BenchChains } from './chains';
import type { Child } from '../child';
import { pay, type Sign, signProofs } from './buyers';
import { processorMs } from './processor';

/** One server under measurement. */
export interface Contender {
  name: string;
  url: string;
  /** Its process, and those that serve nobody else. */
  servers: readonly Child<unknown>[];
}

export interface Course {
  chains: Child<BenchChains>;
  signs: readonly Sign[];
  /** Requests of one server in one round: few enough that the last proof is still good when it is sent. */
  batch: number;
  /** Rounds before those that count. */
  warm_ups: number;
  rounds: number;
  concurrent: number;
}

interface Result {
  times: number[];
  seconds: number;
  calls: number;
  /** Milliseconds of processor time, by who took it. */
  cpu: Processor;
  /** Median of each round. */
  medians: number[];
}

/** The server's own processes, PostgreSQL, the chains, and the buyers with the bench itself. */
interface Processor {
  server: number;
  postgres: number;
  chain: number;
  buyers: number;
}

const median = (times: readonly number[]): number => nearestRank(times, 0.5) as number;

/**
 * Sends paid requests to two servers in turns (the first one begins in even rounds, the second in odd ones), so that whatever
 * else the machine does hits both. Proofs are signed before the clock starts.
 */
export async function duel(what: string, ours: Contender, theirs: Contender, course: Course): Promise<Figure[]> {
  const results = new Map([ours, theirs].map((contender) => [contender, empty()]));
  const agent = new http.Agent({ keepAlive: true, maxSockets: course.concurrent });
  for (let round = 0; round < course.warm_ups + course.rounds; round += 1)
    for (const contender of round % 2 === 0 ? [ours, theirs] : [theirs, ours]) {
      const run = await runOnce(contender, course, agent);
      if (round >= course.warm_ups) add(results.get(contender) as Result, run);
    }
  agent.destroy();
  const [mine, other] = [results.get(ours), results.get(theirs)] as [Result, Result];
  return [row(`${what}: ${ours.name}`, mine), row(`${what}: ${theirs.name}`, other), ratios(`${what}: ours / theirs`, mine, other)];
}

const NOTHING: Processor = { server: 0, postgres: 0, chain: 0, buyers: 0 };

const empty = (): Result => ({ times: [], seconds: 0, calls: 0, cpu: NOTHING, medians: [] });

/** What was used so far by all but the server, which counts for itself. */
function others(chains: Child<unknown>): Omit<Processor, 'server'> {
  const { user, system } = process.cpuUsage();
  return { postgres: processorMs(process.pid, 'postgres'), chain: processorMs(chains.pid), buyers: (user + system) / 1_000 };
}

const combined = (one: Processor, sign: 1 | -1, other: Processor): Processor => ({
  server: one.server + sign * other.server,
  postgres: one.postgres + sign * other.postgres,
  chain: one.chain + sign * other.chain,
  buyers: one.buyers + sign * other.buyers,
});

async function runOnce({ url, servers }: Contender, { chains, signs, batch, concurrent }: Course, agent: http.Agent): Promise<Result> {
  const proofs = await signProofs(url, batch, signs);
  await chains.ask('forgetCalls');
  await Promise.all([...servers, chains].map((child) => child.ask('begin')));
  const before = { ...others(chains), server: 0 };
  const { result, seconds } = await timed(() => latencies(batch, concurrent, (index) => pay(url, proofs[index] ?? {}, agent)));
  const own = await Promise.all(servers.map((server) => server.ask<number>('end')));
  const after = { ...others(chains), server: own.reduce((sum, ms) => sum + ms, 0) };
  await chains.ask('end');
  const cpu = combined(after, -1, before);
  return { times: result, seconds, cpu, calls: await chains.ask<number>('calls'), medians: [median(result)] };
}

function add(total: Result, run: Result): void {
  total.times.push(...run.times);
  total.seconds += run.seconds;
  total.calls += run.calls;
  total.cpu = combined(total.cpu, 1, run.cpu);
  total.medians.push(...run.medians);
}

function row(what: string, result: Result): Figure {
  const { what: _, runs: __, ...rates } = figure(what, result.times, result.seconds);
  const spread = `${Math.min(...result.medians).toFixed(1)} to ${Math.max(...result.medians).toFixed(1)}`;
  return {
    what,
    runs: result.times.length,
    'p10 ms': (nearestRank(result.times, 0.1) as number).toFixed(2),
    ...rates,
    'p50 by round': spread,
    ...shares(result),
    // Tempo's node does not count; what is left are probes of the other chain.
    'chain calls a request': result.calls < result.times.length ? '' : (result.calls / result.times.length).toFixed(1),
  };
}

/** Processor milliseconds a request. */
function shares({ cpu, times }: Result): Record<string, string> {
  const all = cpu.server + cpu.postgres + cpu.chain + cpu.buyers;
  return Object.fromEntries(Object.entries({ ...cpu, all }).map(([name, ms]) => [`CPU ms: ${name}`, (ms / times.length).toFixed(1)]));
}

function ratios(what: string, mine: Result, other: Result): Figure {
  const of = (q: number): string => ((nearestRank(mine.times, q) as number) / (nearestRank(other.times, q) as number)).toFixed(2);
  const byRound = mine.medians.map((value, round) => value / (other.medians[round] as number));
  return {
    what,
    runs: '',
    'p10 ms': of(0.1),
    'p50 ms': of(0.5),
    'p99 ms': of(0.99),
    'per second': (mine.times.length / mine.seconds / (other.times.length / other.seconds)).toFixed(2),
    'p50 by round': `${Math.min(...byRound).toFixed(2)} to ${Math.max(...byRound).toFixed(2)}`,
    ...Object.fromEntries(Object.keys(shares(mine)).map((name) => [name, ''])),
    'CPU ms: server': (mine.cpu.server / mine.times.length / (other.cpu.server / other.times.length)).toFixed(2),
    'chain calls a request': '',
  };
}
