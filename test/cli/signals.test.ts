import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from '../support/root';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'signals-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Resolves when the process says this. */
async function said(child: ChildProcess, text: string): Promise<void> {
  let output = '';
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)
    if ((output += chunk.toString()).includes(text)) return;
  throw new Error(`never said "${text}": ${output}`);
}

test('a signal to npm reaches the program, which npm waits for', async () => {
  fs.copyFileSync(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
  fs.mkdirSync(path.join(folder, 'dist'));
  const main = "process.on('SIGTERM', () => setTimeout(() => process.exit(0), 200)); setInterval(() => {}, 1e6); console.log('up')";
  fs.writeFileSync(path.join(folder, 'dist/main.js'), main);
  const npm = spawn('npm', ['start', '--ignore-scripts', '--silent'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  await said(npm, 'up');
  npm.kill('SIGTERM');
  expect(await once(npm, 'exit')).toEqual([0, null]);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'the first %s asks to stop, its echo is the same one, a later one ends at once',
  async (signal) => {
    const program = `require(${JSON.stringify(path.join(ROOT, 'src/cli/signals.ts'))}).untilSignal(() => console.log('asked')); setInterval(() => {}, 1e6); console.log('up')`;
    const child = spawn(process.execPath, ['-r', path.join(ROOT, 'test/support/register-typescript.js'), '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await said(child, 'up');
    child.kill(signal);
    await said(child, 'asked');
    child.kill(signal);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(child.exitCode ?? child.signalCode).toBeNull();
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([130, null]);
  },
);
