import http from 'node:http';
import type { Endpoint } from '../../../src/endpoints/endpoint';
import type { VenueName } from '../../../src/lib/venue-name';
import { type Input, ask, requestOf } from '../../support/ask';
import { ENDPOINTS } from '../../support/catalogue';
import { type Subjects, dearestInput, defaultInput } from '../../support/subjects';
import { type Child, FLAGS, startChild } from '../child';
import { latencies } from '../measure';
import type { Urls } from './server';
import type { EndpointsWorld } from './world';

/** An endpoint and what it is asked. */
export interface Case {
  name: string;
  endpoint: Endpoint;
  input: Input;
}

/** The venue's endpoints with `part` in their name: each with its defaults, a subject in the eleventh place, and with the dearest parameters. */
export const casesOf = (venue: VenueName, subjects: Subjects, part: string): Case[] =>
  ENDPOINTS.filter((endpoint) => endpoint.venue === venue && endpoint.name.includes(part)).flatMap((endpoint) => [
    { name: endpoint.name, endpoint, input: defaultInput(endpoint, subjects, 10) },
    { name: `${endpoint.name}, dearest`, endpoint, input: dearestInput(endpoint, subjects) },
  ]);

/** Latencies of `run`, one after the other, as often as the time allows, within bounds. */
export async function untilSpent(
  budgetMs: number,
  { fewest, most }: { fewest: number; most: number },
  run: () => Promise<unknown>,
): Promise<number[]> {
  const times: number[] = [];
  const started = performance.now();
  while (times.length < fewest || (times.length < most && performance.now() - started < budgetMs))
    times.push(...(await latencies(1, 1, run)));
  return times;
}

export type Server = Child<Urls>;

/** The gateway over the world, in a process of its own, with the flags of `npm start`. */
export const startServer = (world: EndpointsWorld): Promise<Server> =>
  startChild('endpoints/server.ts', { databaseUrl: world.url, now: world.now.toISOString() }, FLAGS);

/** Asks at a gateway's address; throws on what is neither an answer nor one without data. */
export function askerOf({ endpoint, input }: Pick<Case, 'endpoint' | 'input'>, agent: http.Agent): (url: string) => () => Promise<void> {
  const { path, body } = requestOf(endpoint, input);
  return (url) => async () => {
    const told = await ask(url, agent, endpoint.method, path, body);
    if (![200, 404].includes(told.status)) throw new Error(`${told.status} ${told.body.slice(0, 300)}`);
  };
}
