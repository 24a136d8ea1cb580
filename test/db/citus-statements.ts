import { Client, type QueryConfig } from 'pg';
import { loadCatalogue, paidOf } from '../../src/catalogue';
import { HOUR_MS } from '../../src/lib/time';
import { answerInProcess } from '../bench/endpoints/answer';
import { ROOT } from '../support/root';
import { dearestInput, defaultInput } from '../support/subjects';
import { type ThreeWorlds, threeWorlds } from '../support/three-worlds';

/** What the product sends to its database, by name, else by its first words. */
export type Sent = ReadonlyMap<string, QueryConfig>;

/** A statement's name, else its first words. */
export const labelOf = ({ name, text }: QueryConfig): string => name?.replace(/:\w+$/, '') ?? text.replace(/\s+/g, ' ').trim().slice(0, 60);

async function recording<T>(sent: Map<string, QueryConfig>, keepValues: boolean, work: () => Promise<T>): Promise<T> {
  const original = Client.prototype.query as (...args: unknown[]) => unknown;
  const spy = jest.spyOn(Client.prototype, 'query').mockImplementation(function query(this: Client, ...args: unknown[]) {
    const [first, values] = args;
    const given = typeof first === 'string' ? { text: first } : (first as QueryConfig);
    if (typeof given?.text === 'string')
      sent.set(labelOf(given), {
        name: given.name,
        text: given.text,
        values: keepValues ? ((values as unknown[]) ?? given.values) : undefined,
      });
    return original.apply(this, args);
  } as never);
  try {
    return await work();
  } finally {
    spy.mockRestore();
  }
}

/** A while ago, in the midst of an hour: what came later is left out, and nobody is scored yet. */
const AGO_MS = 37.7 * HOUR_MS;

/** Loads and scores three worlds of about `size` facts over `days`, and asks all that is sold, as of a while ago and as of now; statements of questions come with the values of the last asking. */
export async function sentOverThreeWorlds(size: number, days: number): Promise<{ worlds: ThreeWorlds; sent: Sent }> {
  const sent = new Map<string, QueryConfig>();
  const worlds = await recording(sent, false, () => threeWorlds(size, days));
  for (const ago of [AGO_MS, 0]) await recording(sent, true, () => askEverything(worlds, new Date(worlds.now.getTime() - ago)));
  return { worlds, sent };
}

async function askEverything({ database, subjects }: ThreeWorlds, now: Date): Promise<void> {
  for (const one of paidOf(loadCatalogue(ROOT))) {
    const own = subjects[one.endpoint.venue as keyof ThreeWorlds['subjects']];
    for (const input of [defaultInput(one.endpoint, own), dearestInput(one.endpoint, own)])
      await answerInProcess(one, input, database, now).catch(() => undefined);
  }
}
