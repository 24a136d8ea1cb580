import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from '../support/root';

const LOGGER = JSON.stringify(path.join(ROOT, 'src/observability/logger.ts'));
const REGISTER = path.join(ROOT, 'test/support/register-typescript.js');

test('headers by which somebody pays or collects reach no log; it is JSON on stderr, each line with its time', () => {
  const names = ['authorization', 'payment-signature', 'x-payment', 'cookie', 'idempotency-key'];
  const headers = Object.fromEntries([...names.map((name) => [name, 'hush']), ['x-payer', 'told']]);
  const program = `require(${LOGGER}).makeLogger('info').info(${JSON.stringify({ headers, request: { headers } })}, 'said')`;
  const line = execFileSync('/bin/sh', ['-c', '"$0" "$@" 2>&1 >/dev/null', process.execPath, '-r', REGISTER, '-e', program], {
    encoding: 'utf8',
  });
  expect(line).not.toContain('hush');
  expect(JSON.parse(line)).toMatchObject({ msg: 'said', time: expect.stringMatching(/Z$/), headers: { 'x-payer': 'told' } });
});

/** Says three lines, works on, and ends so. */
const saying = (end: string): string[] => [
  '-r',
  REGISTER,
  '-e',
  `const log = require(${LOGGER}).makeLogger('info');
  let said = 0;
  const saying = setInterval(() => {
    log.info('said');
    if ((said += 1) < 3) return;
    clearInterval(saying);
    process.stdout.write('worked on');
    ${end}
  }, 50);`,
];
const ENDS: [string, string][] = [
  ['ends by itself', ''],
  ['is ended', 'process.exit()'],
];

(fs.existsSync('/dev/full') ? test : test.skip).each(ENDS)(
  'a log without room keeps nobody from working, nor from an end, which its exit code says: of a process that %s',
  (_, end) => {
    const nowhere = fs.openSync('/dev/full', 'w');
    const { status, stdout } = spawnSync(process.execPath, saying(end), {
      stdio: ['ignore', 'pipe', nowhere],
      encoding: 'utf8',
      timeout: 60_000,
    });
    fs.closeSync(nowhere);
    expect([status, stdout]).toEqual([1, 'worked on']);
  },
);

test.each(ENDS)('a log that nobody reads any more is no failure: of a process that %s', async (_, end) => {
  const child = spawn(process.execPath, saying(end), { stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  child.stderr.destroy();
  let told = '';
  child.stdout.on('data', (chunk: Buffer) => (told += chunk.toString()));
  expect([(await once(child, 'close'))[0], told]).toEqual([0, 'worked on']);
});
