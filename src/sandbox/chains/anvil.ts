import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';

/** An anvil process on loopback. */
export interface Anvil {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 20_000;
const MISSING =
  'The local Tempo chain needs anvil: npm installs it on Linux x64 (glibc); elsewhere install Foundry 1.7 and put anvil on the PATH, or name it by ANVIL_PATH.';

/** The binary npm installed, else ANVIL_PATH, else what the PATH has. */
function anvilCommand(): string {
  try {
    const manifest = require.resolve('@foundry-rs/anvil-linux-amd64/package.json');
    if (os.platform() === 'linux' && os.arch() === 'x64') return path.join(path.dirname(manifest), 'bin/anvil');
  } catch {
    // Not installed on this system.
  }
  return process.env.ANVIL_PATH ?? 'anvil';
}

/** On Linux the kernel kills the child when we die, however we die. */
function dieWithParent(): string[] {
  if (os.platform() !== 'linux') return [];
  return spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0 ? ['setpriv', '--pdeathsig', 'KILL'] : [];
}

/** The URL from anvil's own line. Throws one clear sentence when the process ends or stays silent. */
function untilListening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let log = '';
    const timer = setTimeout(
      () => reject(new Error(`anvil did not start within ${START_TIMEOUT_MS / 1000} s: ${log.slice(-300)}`)),
      START_TIMEOUT_MS,
    );
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      act();
    };
    const read = (chunk: Buffer): void => {
      log = (log + chunk.toString()).slice(-10_000);
      const found = /Listening on (127\.0\.0\.1:\d+)/.exec(log);
      if (found === null) return;
      child.stdout?.off('data', read).resume();
      child.stderr?.off('data', read).resume();
      settle(() => resolve(`http://${found[1]}`));
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', (cause) => settle(() => reject(new Error(MISSING, { cause }))));
    child.once('exit', (code) =>
      settle(() => reject(new Error(code === 127 ? MISSING : `anvil stopped (${code}): ${log.trim().split('\n').slice(-3).join(' ')}`))),
    );
  });
}

/** Starts anvil with `args` on a free port of 127.0.0.1. It ends with this process, even by SIGKILL on Linux. */
export async function startAnvil(args: string[]): Promise<Anvil> {
  const [command, ...rest] = [...dieWithParent(), anvilCommand(), '--host', '127.0.0.1', '--port', '0', ...args] as [string, ...string[]];
  // Its own process group: Ctrl-C reaches us alone, and we stop it in order.
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const killNow = (): void => void child.kill('SIGKILL');
  process.once('exit', killNow);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  }).then(() => void process.off('exit', killNow));
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    const timer = setTimeout(killNow, 3_000);
    await ended;
    clearTimeout(timer);
  };
  try {
    const url = await untilListening(child);
    return { url, pid: child.pid as number, stop };
  } catch (error) {
    killNow();
    throw error;
  }
}
