import fc from 'fast-check';
import { AppError } from '../../src/errors';
import { nearestRank } from '../../src/lib/statistics';
import { validInputs } from '../support/generated-requests';
import { startOpenGateway } from '../support/open-gateway';
import { subjectsOf } from '../support/subjects';
import { answerInProcess } from './endpoints/answer';
import { openWorld } from './endpoints/world';
import { type Figure, printTable } from './measure';
import { VENUES } from './worlds';

// What the dearest of many choices of parameters takes, in process: default and dearest prices (endpoints.bench) say little of a low `min_score`.
// BENCH_VENUE=prediction|perps|lp (all), BENCH_SIZE=facts (300000), BENCH_ENDPOINT=part of a name, BENCH_DRAWS inputs an endpoint (20), BENCH_SEED.

const SIZE = Number(process.env.BENCH_SIZE ?? 300_000);
const ONLY = process.env.BENCH_ENDPOINT ?? '';
const DRAWS = Number(process.env.BENCH_DRAWS ?? 20);
const SEED = Number(process.env.BENCH_SEED ?? 1);
/** Milliseconds that nobody is to wait longer than, by tier. */
const LIMITS: Record<string, number> = { light: 100, medium: 100, heavy: 250, whale: 250 };

const rounded = (ms: number | null | undefined): number => Number((ms ?? 0).toFixed(1));

/** Milliseconds of an answer asked for the second time, when its pages are in memory. Throws what is no answer and no refusal. */
async function timeOf(answer: () => Promise<unknown>): Promise<number> {
  let started = 0;
  for (let times = 0; times < 2; times += 1) {
    started = performance.now();
    await answer().catch((error: Error) => {
      // Refused before anything is asked of the database: nothing to time, nothing amiss.
      const refused = error instanceof AppError && error.status < 500;
      if (!refused) throw error;
    });
  }
  return performance.now() - started;
}

test.each(VENUES)('%s', async (venue) => {
  const world = await openWorld(venue, SIZE);
  const gateway = await startOpenGateway(world.db, world.now);
  const rows: Figure[] = [];
  const unanswered: string[] = [];
  try {
    const subjects = await subjectsOf(world.db.pool, venue);
    for (const paid of gateway.paid.filter(({ endpoint }) => endpoint.venue === venue && endpoint.name.includes(ONLY))) {
      const { name, tier } = paid.endpoint;
      const told: { asked: string; ms: number }[] = [];
      for (const input of fc.sample(validInputs(paid.endpoint, subjects), { numRuns: DRAWS, seed: SEED })) {
        const asked = JSON.stringify(input);
        try {
          told.push({ asked, ms: await timeOf(() => answerInProcess(paid, input, world.db, world.now)) });
        } catch (error) {
          unanswered.push(`${name} ${asked}: ${(error as Error).message}`);
        }
      }
      told.sort((a, b) => b.ms - a.ms);
      const times = told.map(({ ms }) => ms);
      rows.push({
        what: name,
        p50: rounded(nearestRank(times, 0.5)),
        most: rounded(times[0]),
        'over the limit': times.filter((ms) => ms > (LIMITS[tier] ?? 0)).length,
        'asked for the most': told[0]?.asked.replaceAll('|', '/').slice(0, 160) ?? '',
      });
      process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
    }
    rows.sort((a, b) => Number(b.most) - Number(a.most));
    const limits = JSON.stringify(LIMITS);
    printTable(
      `${venue}, ${world.facts} facts, ${DRAWS} inputs an endpoint, seed ${SEED}, milliseconds in process; limits ${limits}`,
      rows,
    );
    expect(unanswered).toEqual([]);
  } finally {
    await gateway.close();
    await world.close();
  }
});
