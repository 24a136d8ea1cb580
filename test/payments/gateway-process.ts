import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { freePort } from '../../src/lib/net';
import type { SandboxChains } from '../../src/sandbox/sandbox';
import { ROOT } from '../support/root';

/** The program, serving, patient with its chains: an operating-system process of its own, reached over HTTP only. */
export interface GatewayProcess {
  url: string;
  internalUrl: string;
  child: ChildProcess;
  /** Ends it as Ctrl-C does, and waits. */
  stop(): Promise<void>;
}

/** What `serve` is told of the chains, as an operator tells it: by the environment. */
export function chainEnvironment({ payments: { solana, tempo, secrets } }: SandboxChains): Record<string, string> {
  if (solana === false || tempo === false) throw new Error('These tests need both local chains.');
  return {
    SOLANA_RPC_URL: solana.rpc_urls.join(','),
    SOLANA_GENESIS_HASH: solana.genesis_hash ?? 'any',
    PAY_TO_SOLANA: solana.pay_to,
    SPONSOR_KEY: solana.sponsor_key === false ? '' : solana.sponsor_key,
    TEMPO_RPC_URL: tempo.rpc_urls.join(','),
    TEMPO_CHAIN_ID: String(tempo.chain_id),
    PAY_TO_TEMPO: tempo.pay_to,
    PAYMENT_SECRET: secrets.join(','),
  };
}

const OURS = { NODE_OPTIONS: '', WORLD: 'none', UNPAID_PER_MINUTE: '0', EMPTY_PER_MINUTE: '0', LOG_LEVEL: 'error' };
const START_MS = 240_000;

/** Starts `serve` on free ports and waits until it answers. Throws with what it said when it ends first. */
export async function startGateway(databaseUrl: string, environment: Record<string, string>): Promise<GatewayProcess> {
  const [port, internalPort] = [await freePort(), await freePort()];
  const child = spawn(
    process.execPath,
    [
      ...['test/support/register-typescript.js', 'test/payments/patient.ts'].flatMap((file) => ['-r', path.join(ROOT, file)]),
      path.join(ROOT, 'src/main.ts'),
      'serve',
    ],
    {
      env: { ...process.env, ...OURS, DATABASE_URL: databaseUrl, PORT: String(port), INTERNAL_PORT: String(internalPort), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const fail = (): void => reject(new Error(`the gateway did not start: ${said}`));
    const timer = setTimeout(fail, START_MS);
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
      if (!said.includes('See a price')) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', fail);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    internalUrl: `http://127.0.0.1:${internalPort}`,
    child,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** The value of a counter of /metrics, summed over the label sets that contain `labels`. */
export async function counterOf({ internalUrl }: GatewayProcess, name: string, labels = ''): Promise<number> {
  const text = await (await fetch(`${internalUrl}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(labels));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
