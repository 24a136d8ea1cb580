import fs from 'node:fs';
import path from 'node:path';
import { type Command, Help } from './cli/command';
import { command as buy } from './cli/buy';
import { command as endpoints } from './cli/endpoints';
import { command as ingest } from './cli/ingest';
import { command as quote } from './cli/quote';
import { command as rebuild } from './cli/rebuild';
import { command as reconcile } from './cli/reconcile';
import { command as score } from './cli/score';
import { command as serve } from './cli/serve';
import { command as sweep } from './cli/sweep';

const COMMANDS: Record<string, Command> = { serve, ingest, score, rebuild, buy, quote, endpoints, reconcile, sweep };

async function main(): Promise<void> {
  const root = path.resolve(__dirname, '..');
  const dotenv = path.join(root, '.env');
  if (fs.existsSync(dotenv)) process.loadEnvFile(dotenv);
  const [name = 'serve', ...args] = process.argv.slice(2);
  if (name === '--help' || name === '-h') throw new Help(`Commands: ${Object.keys(COMMANDS).join(', ')}.`);
  const command = COMMANDS[name];
  if (command === undefined) throw new Error(`Unknown command ${name}. Commands: ${Object.keys(COMMANDS).join(', ')}.`);
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  process.exitCode = await command(args, { root, version });
}

// Who reads along may go away (`| head`, a closed terminal): the work goes on, and its exit code tells how it ended.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
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
