import { makeConfig } from '../config';
import { BUYER_PROTOCOLS, type BuyerProtocol, buy } from '../sandbox/buyer';
import { readSandboxWallets } from '../sandbox/wallets';
import { type Command, parseArguments } from './command';
import { parseRequest, shopOf } from './request';

const USAGE = `npm run buy -- GET|POST '/api/v1/…' [--body '{…}'] [--protocol x402|tempo|solana] [--url http://localhost:3000]`;

/** Pays for one answer with the sandbox wallet and prints it. Exit code 1 unless data came back. */
export const command: Command = async (args, { root }) => {
  const { options, words } = parseArguments(args, ['body', 'protocol', 'url'], USAGE);
  const request = parseRequest(words, options.body, USAGE);
  const protocol = (options.protocol ?? 'x402') as BuyerProtocol;
  if (!BUYER_PROTOCOLS.includes(protocol)) throw new Error(`--protocol must be one of ${BUYER_PROTOCOLS.join(', ')}, not ${protocol}.`);
  const config = makeConfig(process.env, root);
  const base = shopOf(options.url, config);
  const bought = await buy(
    { method: request.method, url: `${base}${request.target}`, body: request.body, protocol },
    readSandboxWallets(config.sandboxDir),
  );
  if (bought.status === 200 && bought.receipt !== null) process.stderr.write(`paid by ${protocol}: ${JSON.stringify(bought.receipt)}\n`);
  process.stderr.write(`status ${bought.status}${bought.status === 200 ? '' : `: ${sentenceOf(bought.body)}`}\n`);
  process.stdout.write(`${bought.body}\n`);
  return bought.status === 200 ? 0 : 1;
};

/** Why nothing was sold, in the server's own words. */
function sentenceOf(body: string): string {
  try {
    const { error, message, reason } = JSON.parse(body) as Record<string, unknown>;
    return `${String(error ?? message ?? 'no reason given')}${typeof reason === 'string' ? ` (${reason})` : ''}`;
  } catch {
    return 'no reason given';
  }
}
