import { loadCatalogue } from '../catalogue';
import { makeConfig } from '../config';
import type { Endpoint } from '../endpoints/endpoint';
import { sampleInput, sampleTarget } from '../endpoints/json-schema';
import { median } from '../lib/statistics';
import { priceRange } from '../pricing/catalog';
import { usd } from '../pricing/tiers';
import { BUYER_PROTOCOLS, type BuyerProtocol, type Purchase, type Purchased, buy, inTurn } from '../sandbox/buyer';
import { merchantBalance } from '../sandbox/earnings';
import { type SandboxWallets, readSandboxWallets } from '../sandbox/wallets';
import { type Command, parseOptions } from './command';
import { shopOf } from './request';

const USAGE = 'npm run sweep [-- --protocol x402|tempo|solana|all] [--url http://localhost:3000]';

/** One purchase, as the merchant's own balance and the answer tell it. */
interface Line {
  endpoint: Endpoint;
  protocol: BuyerProtocol;
  /** Micro-USDC asked for by default parameters. */
  price: bigint;
  status: number;
  /** Error code; null with data. */
  code: string | null;
  rows: number | null;
  ms: number;
  /** Micro-USDC by which the merchant's balance grew. */
  charged: bigint;
}

/** Buys every endpoint from a running sandbox with stock clients and default parameters. Exit code 1 when anything unexpected came. */
export const command: Command = async (args, { root }) => {
  const options = parseOptions(args, ['protocol', 'url'], USAGE);
  const protocols = protocolsOf(options.protocol ?? 'all');
  const config = makeConfig(process.env, root);
  const base = shopOf(options.url, config);
  const wallets = readSandboxWallets(config.sandboxDir);
  const { endpoints } = loadCatalogue(root);
  const lines: Line[] = [];
  for (const protocol of protocols)
    for (const endpoint of endpoints) {
      const line = await purchase(endpoint, protocol, base, wallets);
      lines.push(line);
      process.stdout.write(`${textOf(line)}\n`);
    }
  const unexpected = lines.filter((line) => wrongIn(line) !== null).length;
  process.stdout.write(`${totalsOf(lines)}, ${unexpected} unexpected\n`);
  return unexpected === 0 ? 0 : 1;
};

function protocolsOf(word: string): readonly BuyerProtocol[] {
  if (word === 'all') return BUYER_PROTOCOLS;
  const found = BUYER_PROTOCOLS.filter((protocol) => protocol === word);
  if (found.length === 0) throw new Error(`--protocol must be all or one of ${BUYER_PROTOCOLS.join(', ')}, not ${word}.`);
  return found;
}

/** The request for an endpoint with its documented samples and otherwise default parameters. */
function sampleRequest(endpoint: Endpoint, base: string): Pick<Purchase, 'method' | 'url' | 'body'> {
  const { method } = endpoint;
  return { method, url: `${base}${sampleTarget(endpoint)}`, ...(method === 'POST' && { body: sampleInput(endpoint) }) };
}

async function purchase(endpoint: Endpoint, protocol: BuyerProtocol, base: string, wallets: SandboxWallets): Promise<Line> {
  const before = await merchantBalance(wallets, protocol);
  let started = 0;
  const ask = (): Promise<Purchased> => {
    started = performance.now();
    return buy({ ...sampleRequest(endpoint, base), protocol }, wallets);
  };
  const bought = await inTurn(ask, (seconds) => process.stdout.write(`Asked too often, going on in ${seconds} s …\n`));
  const ms = performance.now() - started;
  const charged = (await merchantBalance(wallets, protocol)) - before;
  return { endpoint, protocol, price: priceRange(endpoint).default, status: bought.status, ...contentOf(bought), ms, charged };
}

function contentOf({ status, body }: Purchased): { code: string | null; rows: number | null } {
  const json = JSON.parse(body) as { data: unknown; code?: string };
  return status === 200 ? { code: null, rows: rowsOf(json.data) } : { code: json.code ?? 'no code', rows: null };
}

/** Length of the answer, or of its longest list; 1 for an answer without lists. */
function rowsOf(data: unknown): number {
  if (Array.isArray(data)) return data.length;
  const lists = Object.values(data as object).filter((value) => Array.isArray(value));
  return Math.max(1, ...lists.map((list) => list.length));
}

/** What is not as sold: data at the stated price, or nothing found and nothing charged. Null when all is well. */
function wrongIn({ status, code, rows, price, charged }: Line): string | null {
  if (status === 200 && rows === 0) return 'sold an empty answer';
  if (status !== 200 && status !== 404) return `unexpected ${code}`;
  const due = status === 200 ? price : 0n;
  return charged === due ? null : `charged ${usd(charged)} instead of ${usd(due)}`;
}

function textOf(line: Line): string {
  const { endpoint, protocol, price, status, code, rows, ms, charged } = line;
  const wrong = wrongIn(line);
  const cells = [
    endpoint.path.padEnd(46),
    protocol.padEnd(6),
    usd(price).padEnd(6),
    String(status),
    (code ?? `${rows} rows`).padEnd(14),
    `${Math.round(ms)} ms`.padStart(8),
    `charged ${usd(charged)}`,
    ...(wrong === null ? [] : [`<- ${wrong}`]),
  ];
  return cells.join('  ');
}

function totalsOf(lines: readonly Line[]): string {
  const answered = lines.filter(({ status }) => status === 200);
  const empty = lines.filter(({ status }) => status === 404);
  const times = lines.map(({ ms }) => ms);
  const charged = lines.reduce((sum, line) => sum + line.charged, 0n);
  return `${lines.length} bought: ${answered.length} with data, ${empty.length} with nothing found; charged ${usd(charged)}; median ${Math.round(median(times) ?? 0)} ms, slowest ${Math.round(Math.max(0, ...times))} ms`;
}
