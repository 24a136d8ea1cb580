import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';
import type { VenueName } from '../../src/lib/venue-name';
import type { UpstreamUrls } from '../../src/workers/source';
import { ROOT } from '../support/root';

/** What a process is to ingest: live feeds over HTTP, or pages of the venue's simulated world from the page of that number on. */
export interface ReaderOrders {
  database_url: string;
  venue: VenueName;
  now: string;
  urls?: UpstreamUrls;
  world?: { seed: number; size: number; start: string; from_page: number };
  silence_ms?: number;
}

export interface FromReader {
  at: 'ready' | 'reading' | 'page' | 'done';
  page?: number;
}

/** A process that waits for its orders. */
export class Reader {
  private readonly child: ChildProcess;
  private readonly seen: FromReader[] = [];
  private readonly waiting = new Map<FromReader['at'], () => void>();

  constructor(file: string) {
    this.child = fork(path.join(__dirname, file), {
      execArgv: ['-r', path.join(ROOT, 'test/support/register-typescript.js')],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.child.on('message', (message: FromReader) => {
      this.seen.push(message);
      this.waiting.get(message.at)?.();
    });
  }

  send(orders: ReaderOrders): void {
    this.child.send(orders);
  }

  heard(at: FromReader['at']): Promise<void> {
    if (this.seen.some((message) => message.at === at)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.waiting.set(at, resolve);
      this.child.once('exit', () => reject(new Error(`The reader ended before it was ${at}.`)));
    });
  }

  /** Highest page that was loaded whole; -1: none. */
  lastPage(): number {
    return this.seen.reduce((last, { page = -1 }) => Math.max(last, page), -1);
  }

  /** Freezes it where it stands, as a machine that is suspended; it goes on after `thaw`. */
  freeze(): void {
    this.child.kill('SIGSTOP');
  }
  thaw(): void {
    this.child.kill('SIGCONT');
  }

  /** Kills it as a power cut would. */
  kill(): Promise<void> {
    return new Promise((resolve) => {
      if (this.child.exitCode !== null || this.child.signalCode !== null) return resolve();
      this.child.once('exit', () => resolve());
      this.child.kill('SIGKILL');
    });
  }
}
