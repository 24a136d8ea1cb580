import { readFileSync } from 'node:fs';
import type { Pool } from 'pg';

/** What a piece of work took: seconds on the wall, and of processors: this process and the database's that serve it (Linux; else this alone). */
export interface Spent {
  seconds: number;
  cpu: number;
}

/** Processor seconds of a process, of its children that have ended, and which process made it. Clock ticks are hundredths (`getconf CLK_TCK`). */
function processOf(pid: number): { own: number; ended: number; parent: number } {
  try {
    const fields = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []).map(Number);
    const seconds = (place: number): number => ((fields[place] ?? 0) + (fields[place + 1] ?? 0)) / 100;
    return { own: seconds(11), ended: seconds(13), parent: fields[1] ?? 0 };
  } catch {
    return { own: 0, ended: 0, parent: 0 };
  }
}

/** Processor seconds of this process, of the backends of the pool's database, and of those of its server that have ended: helpers of a statement do with it. */
async function processorSeconds(pool: Pool): Promise<number> {
  const { user, system } = process.cpuUsage();
  const { rows } = await pool.query<{ pid: number }>('SELECT pid FROM pg_stat_activity WHERE datname = current_database()');
  const backends = rows.map(({ pid }) => processOf(pid));
  const ended = processOf(backends[0]?.parent ?? 0).ended;
  return (user + system) / 1e6 + ended + backends.reduce((sum, { own }) => sum + own, 0);
}

/** What `work` returns, and what it took beside the database of `pool`. */
export async function spending<T>(pool: Pool, work: () => Promise<T>): Promise<Spent & { result: T }> {
  const [cpu, started] = [await processorSeconds(pool), performance.now()];
  const result = await work();
  return { result, seconds: (performance.now() - started) / 1_000, cpu: (await processorSeconds(pool)) - cpu };
}
