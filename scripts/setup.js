// Brings a fresh clone to where the program can run: packages, generated code and, with --build, compiled code.
// Each step is skipped while nothing it depends on has changed. Needs nothing but Node and npm.
const { execFileSync } = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const marks = path.join(root, 'node_modules/.cache/setup');

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node 20.19 or newer is needed; this is ${process.versions.node}.`);
  process.exit(1);
}

function filesBelow(entry) {
  const absolute = path.join(root, entry);
  if (!fs.existsSync(absolute)) return [];
  if (fs.statSync(absolute).isFile()) return [absolute];
  return fs
    .readdirSync(absolute, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => path.join(item.parentPath ?? item.path, item.name))
    .sort();
}

function digestOf(inputs) {
  const hash = crypto.createHash('sha256');
  for (const file of inputs.flatMap(filesBelow)) hash.update(path.relative(root, file)).update('\0').update(fs.readFileSync(file));
  return hash.digest('hex');
}

const markOf = ({ name }) => path.join(marks, name);

/** Whether the contents of its inputs are those of the last time and its output exists. */
function isDone(step) {
  const mark = markOf(step);
  return fs.existsSync(path.join(root, step.output)) && fs.existsSync(mark) && fs.readFileSync(mark, 'utf8') === digestOf(step.inputs);
}

function make(step) {
  const digest = digestOf(step.inputs);
  timed(step.name, () => run(...step.command));
  fs.mkdirSync(marks, { recursive: true });
  fs.writeFileSync(markOf(step), digest);
}

function timed(name, work) {
  const started = Date.now();
  process.stderr.write(`${name} … `);
  work();
  process.stderr.write(`${((Date.now() - started) / 1000).toFixed(1)} s\n`);
}

/** The optional package that TypeScript compiles with on this machine. */
const COMPILER = `node_modules/@typescript/typescript-${process.platform}-${process.arch}`;

/**
 * Whether the packages of the lock file are there, whoever installed them: npm notes what it has. Optional ones may be of another machine, and those of
 * development were pruned perhaps, where nothing is to be made.
 */
function packagesAreThere(withDevelopment) {
  const packagesIn = (file) => JSON.parse(fs.readFileSync(path.join(root, file), 'utf8')).packages;
  if (!fs.existsSync(path.join(root, 'node_modules/.package-lock.json'))) return false;
  const [locked, there] = [packagesIn('package-lock.json'), packagesIn('node_modules/.package-lock.json')];
  const isNeeded = (name, { optional, dev, devOptional }) =>
    withDevelopment ? !optional || name === COMPILER : !(optional || dev || devOptional);
  return (
    Object.keys(there).every((name) => name in locked) &&
    Object.entries(locked).every(
      ([name, wanted]) => name === '' || (there[name] ? there[name].version === wanted.version : !isNeeded(name, wanted)),
    )
  );
}

function run(command, args) {
  try {
    execFileSync(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NODE_ENV: 'development' } });
  } catch (error) {
    console.error(`failed\n${error.stdout ?? ''}${error.stderr ?? ''}`);
    process.exit(1);
  }
}

/** Whether who wrote the file is still at it: a process that was killed leaves it, and its number may be another's by now. */
function isHeld(turn) {
  const age = Date.now() - fs.statSync(turn).mtimeMs;
  const holder = Number(fs.readFileSync(turn, 'utf8'));
  if (holder === 0) return age < 5_000;
  if (holder === process.pid || age > 900_000) return false;
  try {
    return process.kill(holder, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Two at once would install over each other: who comes second waits for the first, and finds everything done. */
function waitForTurn() {
  const turn = path.join(root, '.setup');
  for (;;) {
    try {
      fs.writeFileSync(turn, String(process.pid), { flag: 'wx' });
      process.on('exit', () => fs.rmSync(turn, { force: true }));
      return;
    } catch (error) {
      // Where nobody may write, nobody installs.
      if (['EACCES', 'EROFS'].includes(error.code)) return;
      if (error.code !== 'EEXIST') throw error;
    }
    try {
      if (!isHeld(turn)) fs.rmSync(turn, { force: true });
    } catch (error) {
      // Let go in between.
      if (error.code !== 'ENOENT') throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
}

const bin = (name) => path.join(root, 'node_modules/.bin', name);

const generate = {
  name: 'Generating the database client',
  inputs: ['prisma', 'prisma.config.ts'],
  output: 'src/generated/prisma/client.ts',
  command: [bin('prisma'), ['generate']],
};
const compile = {
  name: 'Compiling',
  inputs: ['src', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'],
  output: 'dist/main.js',
  command: [bin('tsc'), ['-p', 'tsconfig.build.json']],
};

waitForTurn();
const builds = process.argv.includes('--build');
const steps = builds ? [generate, compile] : [generate];
// Whoever builds nothing goes on to test.
if (!packagesAreThere(!builds || !steps.every(isDone)))
  timed('Installing packages', () => run('npm', ['ci', '--no-audit', '--no-fund', '--include=dev', '--include=optional']));
// One after the other: what is generated is compiled.
for (const step of steps) if (!isDone(step)) make(step);
