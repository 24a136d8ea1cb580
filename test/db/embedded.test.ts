import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { lastWords, makeLinks } from '../../src/db/embedded';

const full = (severity: string): string =>
  `2026-11-30 17:56:00.576 UTC [7925] ${severity}:  could not write to file "pg_wal/xlogtemp.7925": No space left on device`;
const REFUSED = '2026-11-30 17:56:00.577 UTC [7931] FATAL:  the database system is in recovery mode';
const CUT = '2026-11-30 12:00:00.000 UTC [7920] FATAL:  terminating connection due to idle-session timeout';
const CONSEQUENCES = [
  '2026-11-30 17:56:00.826 UTC [7915] LOG:  startup process (PID 7929) exited with exit code 1',
  '2026-11-30 17:56:00.826 UTC [7915] LOG:  terminating any other active server processes',
  '2026-11-30 17:56:00.829 UTC [7915] LOG:  shutting down due to startup process failure',
  '2026-11-30 17:56:00.846 UTC [7915] LOG:  database system is shut down',
];

test.each([
  [
    'panicked, and could not come up again',
    [full('PANIC'), REFUSED, full('FATAL').replace('7925', '7929'), ...CONSEQUENCES],
    full('PANIC'),
  ],
  ['could not come up', [full('FATAL'), REFUSED, ...CONSEQUENCES], full('FATAL')],
  ['said no more', [CUT, REFUSED, ...CONSEQUENCES], CONSEQUENCES.slice(-3).join(' ')],
])('why a server ended that %s', (_what, lines, words) => expect(lastWords(`${lines.join('\n')}\n`)).toBe(words));

test('packages that lack their links, where nothing may be written, are told in a sentence; links that another process made meanwhile are none to tell of', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'links-'));
  fs.mkdirSync(path.join(folder, 'native/lib'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'native/pg-symlinks.json'), '[{"source":"native/lib/a.so.1","target":"native/lib/a.so"}]');
  const link = jest.spyOn(fs, 'symlinkSync').mockImplementationOnce(() => {
    throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
  });
  expect(() => makeLinks(folder)).toThrow(`The embedded database lacks links in ${folder}, where this user may not write`);
  link.mockImplementationOnce(() => {
    throw Object.assign(new Error('EEXIST: file already exists'), { code: 'EEXIST' });
  });
  makeLinks(folder);
  link.mockRestore();
  makeLinks(folder);
  expect(fs.readlinkSync(path.join(folder, 'native/lib/a.so'))).toBe('a.so.1');
  fs.rmSync(folder, { recursive: true });
});
