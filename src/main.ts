import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Command, Help } from './cli/command';

/** Files of cli/. */
const COMMANDS: readonly string[] = ['serve', 'ingest', 'score', 'rebuild', 'buy', 'quote', 'endpoints', 'reconcile', 'sweep'];

/** Reads the command that is asked for and no other: each needs a part of the program alone. */
const commandNamed = (name: string): Command => (createRequire(__filename)(`./cli/${name}`) as { command: Command }).command;

async function main(): Promise<void> {
  const root = path.resolve(__dirname, '..');
  const dotenv = path.join(root, '.env');
  if (fs.existsSync(dotenv)) process.loadEnvFile(dotenv);
  // Before the libraries are read: GraphQL's checks for developers take time from each of an analyst's fields.
  process.env.NODE_ENV ??= 'production';
  const [name = 'serve', ...args] = process.argv.slice(2);
  if (name === '--help' || name === '-h') throw new Help(`Commands: ${COMMANDS.join(', ')}.`);
  if (!COMMANDS.includes(name)) throw new Error(`Unknown command ${name}. Commands: ${COMMANDS.join(', ')}.`);
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  process.exitCode = await commandNamed(name)(args, { root, version });
}

// Who reads along may go away (`| head`, a closed terminal), and a disk be full: the work goes on, and its exit code tells how it ended.
let isUntold = false;
process.once('exit', () => {
  if (isUntold) process.exitCode ||= 1;
});
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOSPC') isUntold = true;
    else if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
  });

main().catch((error: Error) => {
  if (error instanceof Help) {
    process.stdout.write(`${error.message}\n`);
    return;
  }
  // One clear sentence; the stack only when asked for.
  process.stderr.write(`\n${process.env.LOG_LEVEL === 'debug' ? error.stack : error.message}\n`);
  process.exit(1);
});
