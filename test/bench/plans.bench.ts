import crypto from 'node:crypto';
import fc from 'fast-check';
import type { Client } from 'pg';
import { AppError } from '../../src/errors';
import { mean, nearestRank } from '../../src/lib/statistics';
import { validInputs } from '../support/generated-requests';
import { startOpenGateway } from '../support/open-gateway';
import { dearestInput, defaultInput, subjectsOf } from '../support/subjects';
import { answerInProcess } from './endpoints/answer';
import { type SentStatement, plainClients, recordStatements } from './endpoints/statements';
import { openWorld } from './endpoints/world';
import { type Figure, latencies, printTable } from './measure';
import { VENUES } from './worlds';

// What `keyed` of a Statement gains or would lose: every statement of every question, planned each time beside planned once, in turns.
// BENCH_VENUE, BENCH_SIZE and BENCH_ENDPOINT as for endpoints. BENCH_DRAWS=inputs drawn at random of each endpoint (20), beside its default and dearest ones: what gains
// there may take tens of times as long for others, or in a world of another size.

const SIZE = Number(process.env.BENCH_SIZE ?? 300_000);
const ONLY = process.env.BENCH_ENDPOINT ?? '';
const DRAWS = Number(process.env.BENCH_DRAWS ?? 20);
const SEED = Number(process.env.BENCH_SEED ?? 1);
const TURNS = 5;
/** A statement that every question sends is compared so often. */
const OFTEN_ENOUGH = 60;

interface Compared {
  keyed: boolean;
  each_time: number[];
  once: number[];
}

const median = (times: readonly number[]): number => nearestRank(times, 0.5) ?? 0;

/** Prisma names only what it keeps; here all have a name, so that planning alone makes the difference. */
const nameOf = ({ name, text }: SentStatement['query']): string => name ?? `p_${crypto.hash('md5', text)}`;

async function compare({ query }: SentStatement, clients: { pool: Client; keyed: Client }): Promise<[number, number]> {
  const named = { ...query, name: nameOf(query) };
  const [each, once]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn += 1) {
    each.push(...(await latencies(1, 1, () => clients.pool.query(named))));
    once.push(...(await latencies(1, 1, () => clients.keyed.query(named))));
  }
  return [median(each), median(once)];
}

test.each(VENUES)('%s', async (venue) => {
  const world = await openWorld(venue, SIZE);
  const [gateway, clients] = await Promise.all([startOpenGateway(world.db, world.now), plainClients(world.url)]);
  try {
    const subjects = await subjectsOf(world.db.pool, venue);
    const found = new Map<string, Compared>();
    for (const paid of gateway.paid.filter(({ endpoint }) => endpoint.venue === venue && endpoint.name.includes(ONLY)))
      for (const input of [
        defaultInput(paid.endpoint, subjects, 10),
        dearestInput(paid.endpoint, subjects),
        ...fc.sample(validInputs(paid.endpoint, subjects), { numRuns: DRAWS, seed: SEED }),
      ]) {
        const sent = await recordStatements(world.db, () =>
          answerInProcess(paid, input, world.db, world.now).catch((thrown: unknown) => {
            if (!(thrown instanceof AppError)) throw thrown;
          }),
        );
        for (const statement of sent) {
          const name = statement.query.name ?? `${statement.query.text.slice(0, 60)}…`;
          const one = found.get(name) ?? { keyed: statement.over === 'keyed', each_time: [], once: [] };
          if (one.once.length === OFTEN_ENOUGH) continue;
          const [each, once] = await compare(statement, clients);
          one.each_time.push(each);
          one.once.push(once);
          found.set(name, one);
        }
      }
    const rows = [...found].map(([what, { keyed, each_time, once }]): Figure => {
      const ratios = once.map((time, index) => time / (each_time[index] as number));
      return {
        what,
        keyed: keyed ? 'yes' : '',
        sent: once.length,
        'planned each time': Number(median(each_time).toFixed(2)),
        'planned once': Number(median(once).toFixed(2)),
        'once over each time': Number(median(ratios).toFixed(2)),
        'at worst': Number(Math.max(...ratios).toFixed(2)),
        'ms gained': Number(mean(each_time.map((time, index) => time - (once[index] as number)))?.toFixed(2)),
      };
    });
    rows.sort((a, b) => Number(a['once over each time']) - Number(b['once over each time']));
    printTable(`${venue}, ${world.facts} facts, milliseconds`, rows);
  } finally {
    await Promise.all([gateway.close(), clients.end()]);
    await world.close();
  }
});
