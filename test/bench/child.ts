import { type ChildProcess, fork } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { startProfile, stopProfile } from './profile';

/** Flags that `npm start` gives to Node. */
export const FLAGS =
  fs
    .readFileSync(path.join(__dirname, '../../package.json'), 'utf8')
    .match(/"start": "node (.*?) dist/)?.[1]
    ?.split(' ') ?? [];

/** A server or chain in a Node process of its own: what is measured shares no event loop with what measures it. */
export interface Child<Ready> {
  ready: Ready;
  pid: number;
  /** What the service answers to `question`. Throws what it threw. */
  ask<Answer>(question: string, argument?: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

/** What runs in the child. */
export interface Service<Ready> {
  ready: Ready;
  answers?: Record<string, (argument: never) => unknown>;
  stop(): Promise<void>;
}

interface Asked {
  question: string;
  argument?: unknown;
}

const STOP_PATIENCE_MS = 15_000;

/** Starts `file` (a path below this folder), with these flags for Node, and waits until it is ready. Throws what the child threw. */
export async function startChild<Ready>(file: string, settings: unknown, flags: readonly string[] = []): Promise<Child<Ready>> {
  const child = fork(path.join(__dirname, file), [JSON.stringify(settings)], {
    execArgv: [...flags, '--no-warnings', '--require', path.join(__dirname, '../support/register-typescript.js')],
    env: { ...process.env, NODE_ENV: 'production' },
    serialization: 'advanced',
  });
  const ready = await reply<Ready>(child);
  return {
    ready,
    pid: child.pid as number,
    ask: (question, argument) => {
      const answer = reply(child);
      child.send({ question, argument } satisfies Asked);
      return answer as never;
    },
    stop: async () => {
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.send({ question: 'stop' } satisfies Asked);
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** The child's next message: one question is under way at a time. */
function reply<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`a bench process ended with code ${code}`));
    child.once('exit', ended);
    child.once('message', (message: { answer: T } | { error: string }) => {
      child.off('exit', ended);
      if ('error' in message) reject(new Error(message.error));
      else resolve(message.answer);
    });
  });
}

/** What every child can be asked: to begin what is measured, and to end it with the processor milliseconds it took. */
const MEASURED = (file: string) => {
  let used = process.cpuUsage();
  return {
    begin: async (): Promise<void> => {
      await startProfile();
      used = process.cpuUsage();
    },
    end: async (): Promise<number> => {
      const { user, system } = process.cpuUsage(used);
      await stopProfile(path.parse(file).name);
      return (user + system) / 1_000;
    },
  };
};

/** The child's side of `startChild`: starts the service, answers questions, ends with its parent. */
export async function serve<Settings, Ready>(start: (settings: Settings) => Promise<Service<Ready>>): Promise<void> {
  const send = (message: unknown): void => void process.send?.(message);
  process.once('disconnect', () => process.exit(0));
  try {
    const service = await start(JSON.parse(process.argv[2] as string) as Settings);
    const answers: Service<Ready>['answers'] = { ...service.answers, ...MEASURED(process.argv[1] as string) };
    process.on('message', ({ question, argument }: Asked) => {
      if (question === 'stop') return void service.stop().finally(() => process.exit(0));
      Promise.resolve(answers[question]?.(argument as never)).then(
        (answer) => send({ answer }),
        (error: Error) => send({ error: error.stack ?? error.message }),
      );
    });
    send({ answer: service.ready });
  } catch (error) {
    process.send?.({ error: (error as Error).stack ?? String(error) }, undefined, undefined, () => process.exit(1));
  }
}
