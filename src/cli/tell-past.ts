import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import readline from 'node:readline';
import type { Config } from '../config';
import { openDatabase } from '../db/client';
import type { Logger } from '../observability/logger';
import { listUntold } from '../workers/backdate';
import { VENUES } from '../wings';

/** Days before the first start whose signals a sandbox tells afterwards. */
const PAST_DAYS = 14;

/**
 * Tells the signals of past days that nobody stored, in a process of its own with the least claim to the processor: answers do not wait for it. Each day
 * is logged; `say` hears of begin and end. Undefined when there is nothing to tell, or the database does not say: the server goes on.
 */
export async function tellPast(
  databaseUrl: string,
  { clock }: Config,
  logger: Logger,
  say: (line: string) => void,
): Promise<{ stop(): Promise<void> } | undefined> {
  if (!(await isAnyUntold(databaseUrl, clock.now()).catch((error: Error) => warn(logger, error)))) return undefined;
  const child = spawn(process.execPath, [process.argv[1] as string, 'score', '--past', String(PAST_DAYS)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  say(`\nSignals of ${PAST_DAYS} past days are told in the background, for the track records; LOG_LEVEL=info names each day.`);
  const ended = logProgress(child, logger, say);
  return {
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

async function isAnyUntold(databaseUrl: string, now: Date): Promise<boolean> {
  const db = await openDatabase(databaseUrl, { max: 1 });
  try {
    for (const venue of VENUES) if ((await listUntold(db.pool, venue, now, PAST_DAYS)).length > 0) return true;
    return false;
  } finally {
    await db.close();
  }
}

/** Nothing that is sold waits for it. */
function warn(logger: Logger, err: Error): false {
  logger.warn({ err }, 'signals of past days could not be told');
  return false;
}

/** Resolves when the process has ended. */
async function logProgress(child: ChildProcess, logger: Logger, say: (line: string) => void): Promise<void> {
  let trouble = '';
  child.stderr?.on('data', (text: Buffer) => (trouble += text.toString()));
  readline.createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    logger.info(JSON.parse(line) as Record<string, unknown>, 'signals of a past day told');
  });
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    if (code !== 0 && signal === null) throw new Error(trouble.trim());
    if (code === 0) say('Signals of past days: told.');
  } catch (error) {
    warn(logger, error as Error);
  }
}
