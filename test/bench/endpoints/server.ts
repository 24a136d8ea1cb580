import { openDatabase } from '../../../src/db/client';
import { AppError } from '../../../src/errors';
import { AnswerCache } from '../../../src/gateway/answers';
import type { Input } from '../../support/ask';
import { startOpenGateway } from '../../support/open-gateway';
import { serve } from '../child';
import { latencies } from '../measure';
import { answerInProcess } from './answer';
import { type SentStatement, plainClients, recordStatements, replay } from './statements';

/** A path's name and what it is asked. */
export interface Asked {
  name: string;
  input: Input;
}

/** What may be asked, and what answering it sends to the database. */
export interface Prepared {
  /** As asked, or what a refusal of too long a list of buckets suggests instead: the dearest that may be asked. */
  input: Input;
  /** '', or the error's code: an answer that is no data is timed too. */
  outcome: string;
  statements: number;
}

export interface Run {
  times: number[];
  /** Milliseconds this process computed, the database's work not counted. */
  cpu: number[];
}

/** Answers and their bare SQL. */
export interface Turns {
  ours: Run;
  bare: Run;
}

const FEWEST = 10;
const MOST = 400;

async function add(run: Run, work: () => Promise<unknown>): Promise<void> {
  const before = process.cpuUsage();
  run.times.push(...(await latencies(1, 1, work)));
  const { user, system } = process.cpuUsage(before);
  run.cpu.push((user + system) / 1_000);
}

/** In turns, so that whatever else the machine does falls on both. */
async function sideBySide(budgetMs: number, ours: () => Promise<unknown>, bare: () => Promise<unknown>): Promise<Turns> {
  const runs = { ours: { times: [], cpu: [] } as Run, bare: { times: [], cpu: [] } as Run };
  const started = performance.now();
  while (runs.ours.times.length < FEWEST || (runs.ours.times.length < MOST && performance.now() - started < 2 * budgetMs)) {
    await add(runs.ours, ours);
    await add(runs.bare, bare);
  }
  return runs;
}

/** The code of an answer without data, '' of one with. Throws what is neither. */
async function settled(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return '';
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.status === 404) return thrown.code;
    throw thrown;
  }
}

/** Where the gateway answers that executes every request, and the one that keeps answers as the product does. */
export interface Urls {
  url: string;
  keepingUrl: string;
}

/** The gateway over a kept world, payment left out; the same answers without HTTP, beside the SQL they send. */
void serve<{ databaseUrl: string; now: string }, Urls>(async ({ databaseUrl, now: at }) => {
  const now = new Date(at);
  const [db, bare] = await Promise.all([openDatabase(databaseUrl), plainClients(databaseUrl)]);
  const [gateway, keeping] = await Promise.all([startOpenGateway(db, now), startOpenGateway(db, now, new AnswerCache())]);
  let statements: SentStatement[] = [];
  const answer = async ({ name, input }: Asked): Promise<string> => {
    const paid = gateway.paid.find(({ endpoint }) => endpoint.name === name);
    if (paid === undefined) throw new Error(`no endpoint ${name}`);
    return answerInProcess(paid, input, db, now);
  };
  const prepare = async (asked: Asked): Promise<Prepared> => {
    let { input } = asked;
    let outcome = '';
    try {
      await settled(() => answer(asked));
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code !== 'range_too_large') throw thrown;
      input = { ...input, ...(thrown.context.suggestion as Input) };
    }
    statements = await recordStatements(db, async () => {
      outcome = await settled(() => answer({ ...asked, input }));
    });
    return { input, outcome, statements: statements.length };
  };
  return {
    ready: { url: gateway.url, keepingUrl: keeping.url },
    answers: {
      prepare,
      turns: ({ budgetMs, ...asked }: Asked & { budgetMs: number }) =>
        sideBySide(
          budgetMs,
          () => settled(() => answer(asked)),
          () => replay(bare, statements),
        ),
    },
    stop: async () => {
      await Promise.all([gateway.close(), keeping.close(), bare.end()]);
      await db.close();
    },
  };
});
