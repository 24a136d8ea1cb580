import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { transformSync } from '@swc/core';
import { startAnvil } from '../../../src/sandbox/chains/anvil';

const SOURCE = path.resolve(__dirname, '../../../src/sandbox/chains/anvil.ts');

/** False for zombies too: they only wait to be counted. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function untilDead(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 600 && isAlive(pid); tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
  return !isAlive(pid);
}

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('anvil ends by stop, twice if need be', async () => {
  const anvil = await startAnvil(['--network', 'tempo', '--hardfork', 'T4']);
  expect(isAlive(anvil.pid)).toBe(true);
  await anvil.stop();
  await anvil.stop();
  expect(isAlive(anvil.pid)).toBe(false);
});

onLinux.each(['SIGKILL', 'SIGTERM'] as const)('anvil ends with its parent, by %s', async (signal) => {
  const code = fs.readFileSync(SOURCE, 'utf8');
  const compiled = transformSync(code, { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } }).code;
  const script = `${compiled}\nstartAnvil(['--network', 'tempo']).then((anvil) => process.stdout.write(anvil.pid + '\\n')); setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['-e', script], {
    cwd: path.resolve(__dirname, '../../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = await new Promise<number>((resolve) => parent.stdout.once('data', (chunk) => resolve(Number(chunk))));
  expect(isAlive(pid)).toBe(true);
  const group = Number(fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[2]);
  expect(group).toBe(pid);
  parent.kill(signal);
  expect(await untilDead(pid)).toBe(true);
});

test('arguments that anvil refuses are told with its own words', async () => {
  await expect(startAnvil(['--no-such-flag'])).rejects.toThrow(/anvil stopped \(2\).*/);
});
