import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { untilSignal } from '../../src/cli/signals';
import { ROOT } from '../support/root';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'signals-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

test('a signal to npm reaches the program, which npm waits for', async () => {
  fs.copyFileSync(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
  fs.mkdirSync(path.join(folder, 'dist'));
  const main = "process.on('SIGTERM', () => setTimeout(() => process.exit(0), 200)); setInterval(() => {}, 1e6); console.log('up')";
  fs.writeFileSync(path.join(folder, 'dist/main.js'), main);
  const npm = spawn('npm', ['start', '--ignore-scripts', '--silent'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(npm.stdout, 'data');
  npm.kill('SIGTERM');
  expect(await once(npm, 'exit')).toEqual([0, null]);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])(
  'the first %s asks to stop, its echo is the same one, a later one ends at once',
  async (signal) => {
    const [told, exit, on] = [jest.fn(), jest.spyOn(process, 'exit').mockImplementation(), jest.spyOn(process, 'on').mockReturnThis()];
    const now = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    try {
      const stopped = untilSignal(told);
      const ask = on.mock.calls.find(([name]) => name === signal)?.[1] as () => void;
      ask();
      await stopped;
      now.mockReturnValue(1_500);
      ask();
      expect([told.mock.calls.length, exit.mock.calls]).toEqual([1, []]);
      now.mockReturnValue(1_501);
      ask();
      expect([told.mock.calls.length, exit.mock.calls]).toEqual([1, [[130]]]);
    } finally {
      jest.restoreAllMocks();
    }
  },
);
