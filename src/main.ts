import fs from 'node:fs';
import path from 'node:path';
import type { Command } from './cli/command';

/** Commands by name; each file is loaded only when it is wanted. */
const COMMANDS: Record<string, () => Promise<{ command: Command }>> = {
  serve: () => import('./cli/serve.js'),
  ingest: () => import('./cli/ingest.js'),
  score: () => import('./cli/score.js'),
  rebuild: () => import('./cli/rebuild.js'),
  reconcile: () => import('./cli/reconcile.js'),
  buy: () => import('./cli/buy.js'),
  quote: () => import('./cli/quote.js'),
  endpoints: () => import('./cli/endpoints.js'),
};

async function main(): Promise<void> {
  const root = path.resolve(__dirname, '..');
  const dotenv = path.join(root, '.env');
  if (fs.existsSync(dotenv)) process.loadEnvFile(dotenv);
  const [name = 'serve', ...args] = process.argv.slice(2);
  const load = COMMANDS[name];
  if (load === undefined) throw new Error(`Unknown command ${name}. Commands: ${Object.keys(COMMANDS).join(', ')}.`);
  const { command } = await load();
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  process.exitCode = await command(args, { root, version });
}

main().catch((error: Error) => {
  // One clear sentence; the stack only when asked for.
  process.stderr.write(`\n${process.env.LOG_LEVEL === 'debug' ? error.stack : error.message}\n`);
  process.exit(1);
});
