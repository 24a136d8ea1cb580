import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from '../support/root';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'setup-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const NOBODY = 65534;
const MADE = { prisma: 'src/generated/prisma/client.ts', tsc: 'dist/main.js' };

/** A clone of no packages, whose tools write what they make. */
function clone(name: string): string {
  const root = path.join(folder, name);
  const write = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text, { mode: 0o755 });
  };
  write('scripts/setup.js', fs.readFileSync(path.join(ROOT, 'scripts/setup.js'), 'utf8'));
  for (const file of ['package-lock.json', 'node_modules/.package-lock.json']) write(file, '{"packages":{}}');
  for (const [tool, made] of Object.entries(MADE))
    write(`node_modules/.bin/${tool}`, `#!/bin/sh\nmkdir -p ${path.dirname(made)} && touch ${made}\n`);
  return root;
}

const DEV_TOOL = { 'node_modules/tsc': { version: '1.0.0', dev: true } };
const COMPILER = { [`node_modules/@typescript/typescript-${process.platform}-${process.arch}`]: { version: '1.0.0', optional: true } };
const noted = (packages: object): string => JSON.stringify({ packages });

function setUp(root: string, ids: { uid?: number; gid?: number } = {}): string {
  const options = { encoding: 'utf8' as const, env: { ...process.env, TMPDIR: root }, ...ids };
  const { status, stderr } = spawnSync(process.execPath, [path.join(root, 'scripts/setup.js'), '--build'], options);
  return `${stderr.replace(/\d+\.\d s/g, '1.0 s')}${status}`;
}

test('what is there already is not made again, also for somebody who may write nowhere', () => {
  fs.chmodSync(folder, 0o755);
  const root = clone("my köder's clone");
  expect(setUp(root)).toBe('Generating the database client … 1.0 s\nCompiling … 1.0 s\n0');
  expect(setUp(root)).toBe('0');
  fs.chmodSync(root, 0o555);
  expect(setUp(root, process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {})).toBe('0');
  fs.chmodSync(root, 0o755);
  fs.renameSync(root, `${root}, moved`);
  expect(setUp(`${root}, moved`)).toBe('0');
});

test.each([
  ['packages of development are', DEV_TOOL],
  ['the compiler, an optional package, is', COMPILER],
])('%s installed where something is to be made, whatever npm is set to, and not missed once it is', (words, packages) => {
  const root = clone(words);
  const file = (name: string): string => path.join(root, name);
  fs.writeFileSync(file('package-lock.json'), noted(packages));
  const npm = `#!/bin/sh\necho "$@" >> npm.log\ncp package-lock.json node_modules/.package-lock.json\n`;
  fs.mkdirSync(file('tools'));
  fs.writeFileSync(file('tools/npm'), npm, { mode: 0o755 });
  const { PATH } = process.env;
  process.env.PATH = `${file('tools')}:${PATH}`;
  expect(setUp(root)).toBe('Installing packages … 1.0 s\nGenerating the database client … 1.0 s\nCompiling … 1.0 s\n0');
  fs.writeFileSync(file('node_modules/.package-lock.json'), noted({}));
  expect(setUp(root)).toBe('0');
  fs.mkdirSync(file('src/new'), { recursive: true });
  fs.writeFileSync(file('src/new/file.ts'), '');
  expect(setUp(root)).toBe('Installing packages … 1.0 s\nCompiling … 1.0 s\n0');
  expect(fs.readFileSync(file('npm.log'), 'utf8')).toBe('ci --no-audit --no-fund --include=dev --include=optional\n'.repeat(2));
  process.env.PATH = PATH;
});
