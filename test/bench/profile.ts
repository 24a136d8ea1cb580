import fs from 'node:fs';
import { Session } from 'node:inspector/promises';
import path from 'node:path';

const session = new Session();
let parts = 0;

/** Begins a CPU profile of this process where BENCH_PROFILE names a folder. */
export async function startProfile(): Promise<void> {
  if (process.env.BENCH_PROFILE === undefined) return;
  if (parts === 0) session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
}

/** Writes what happened since `startProfile` as <name>.<part>.cpuprofile: Chrome's developer tools open it. */
export async function stopProfile(name: string): Promise<void> {
  const folder = process.env.BENCH_PROFILE;
  if (folder === undefined) return;
  const { profile } = await session.post('Profiler.stop');
  parts += 1;
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, `${name}.${process.pid}.${parts}.cpuprofile`), JSON.stringify(profile));
}
