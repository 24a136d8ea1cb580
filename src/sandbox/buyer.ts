import bs58 from 'bs58';
import { createClient, http as httpTransport } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { tempo as tempoChain } from 'viem/tempo/chains';
import { pause, withDeadline } from '../lib/deadline';
import type { SandboxWallets, SolanaWallet, TempoWallet } from './wallets';

export const BUYER_PROTOCOLS = ['x402', 'tempo', 'solana'] as const;
export type BuyerProtocol = (typeof BUYER_PROTOCOLS)[number];

export interface Purchase {
  method: 'GET' | 'POST';
  url: string;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  protocol: BuyerProtocol;
}

export interface Purchased {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: string;
  /** Decoded PAYMENT-RESPONSE (x402) or Payment-Receipt (MPP); null when the answer carries none. */
  receipt: unknown | null;
}

type PayingFetch = (url: string, init: RequestInit) => Promise<Response>;

/** A question and its paid repetition: longer than a query and the wait for its settlement can take together. */
const PATIENCE_MS = 120_000;

// The stock clients are loaded when something is bought: they are no part of a production run.

async function solanaSigner(wallet: SolanaWallet) {
  const { createKeyPairSignerFromBytes } = await import('@solana/kit');
  return createKeyPairSignerFromBytes(bs58.decode(wallet.secret_key));
}

async function payByX402({ solana }: SandboxWallets): Promise<PayingFetch> {
  const [{ wrapFetchWithPayment, x402Client }, { ExactSvmScheme }] = await Promise.all([
    import('@x402/fetch'),
    import('@x402/svm/exact/client'),
  ]);
  const client = new x402Client()
    .register('solana:*', new ExactSvmScheme(await solanaSigner(solana), { rpcUrl: solana.rpc_url }))
    // Where the offer names nobody else, the wallet pays the fee itself.
    .registerPolicy((_, offers) => offers.map((offer) => ({ ...offer, extra: { feePayer: solana.address, ...offer.extra } })));
  return wrapFetchWithPayment(fetch, client);
}

function tempoClient({ rpc_url, chain_id }: TempoWallet) {
  return createClient({ chain: { ...tempoChain, id: chain_id as typeof tempoChain.id }, transport: httpTransport(rpc_url) });
}

async function payByTempo({ tempo: wallet }: SandboxWallets): Promise<PayingFetch> {
  if (wallet === null) throw new Error('The sandbox runs no Tempo chain here, so nothing can be bought by the tempo protocol.');
  const { Mppx, tempo } = await import('mppx/client');
  const account = privateKeyToAccount(wallet.private_key);
  const client = Mppx.create({ methods: [tempo.charge({ account, getClient: () => tempoClient(wallet) })], polyfill: false });
  return (url, init) => client.fetch(url, init);
}

async function payBySolana({ solana: wallet }: SandboxWallets): Promise<PayingFetch> {
  const [{ Mppx }, { solana }] = await Promise.all([import('mppx/client'), import('@solana/mpp/client')]);
  const method = solana.charge({ signer: await solanaSigner(wallet), rpcUrl: wallet.rpc_url });
  const client = Mppx.create({ methods: [method], polyfill: false });
  return (url, init) => client.fetch(url, init);
}

const PAYERS: Record<BuyerProtocol, (wallets: SandboxWallets) => Promise<PayingFetch>> = {
  x402: payByX402,
  tempo: payByTempo,
  solana: payBySolana,
};
const payers = new WeakMap<SandboxWallets, Map<BuyerProtocol, Promise<PayingFetch>>>();

/** One client per wallet and protocol: the stock clients remember what they asked the chain. */
function payerOf(wallets: SandboxWallets, protocol: BuyerProtocol): Promise<PayingFetch> {
  const known = payers.get(wallets) ?? new Map<BuyerProtocol, Promise<PayingFetch>>();
  payers.set(wallets, known);
  const payer = known.get(protocol) ?? PAYERS[protocol](wallets);
  known.set(protocol, payer);
  return payer;
}

async function readReceipt(response: Response): Promise<unknown | null> {
  const settlement = response.headers.get('payment-response');
  if (settlement !== null) return (await import('@x402/fetch')).decodePaymentResponseHeader(settlement);
  const receipt = response.headers.get('payment-receipt');
  return receipt === null ? null : (await import('mppx')).Receipt.deserialize(receipt);
}

/** Whether anything answers there, whatever it says. */
export const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

/** What a purchase that failed was about: the shop, the chain (each stock client has words of its own for that), or what the client says. Throws always. */
async function explain(error: Error, { url, protocol }: Purchase, { solana, tempo }: SandboxWallets): Promise<never> {
  const { origin } = new URL(url);
  if (error.name === 'TimeoutError')
    throw new Error(`No answer from ${origin} within ${PATIENCE_MS / 1_000} s; whether it was paid, its ledger tells.`, { cause: error });
  if (!(await answers(origin))) throw new Error(`Nothing answers at ${origin}; npm start starts the server.`, { cause: error });
  const chain = protocol === 'tempo' ? tempo?.rpc_url : solana.rpc_url;
  if (chain === undefined || (await answers(chain))) throw error;
  throw new Error(`The wallet's chain cannot be reached at ${chain}; nothing was paid.`, { cause: error });
}

/**
 * Asks for `url`, pays what the 402 asks with the unmodified stock client of `protocol`, and returns the answer. Whatever the
 * server says in the end is returned, a second 402 too. Throws when the client refuses to pay (no fitting offer, more than its
 * own limit of 1 USDC for x402), and one sentence when the server or the wallet's chain cannot be reached, or no answer comes.
 */
export async function buy(purchase: Purchase, wallets: SandboxWallets): Promise<Purchased> {
  const { method, url, body, headers = {}, protocol } = purchase;
  const pay = await payerOf(wallets, protocol);
  const content: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  const init: RequestInit = { method, headers: { ...content, ...headers }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const whole = async (signal: AbortSignal): Promise<[Response, string]> => {
    const response = await pay(url, { ...init, signal });
    return [response, await response.text()];
  };
  const [response, text] = await withDeadline(PATIENCE_MS, whole).catch((error: Error) => explain(error, purchase, wallets));
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: text,
    receipt: await readReceipt(response),
  };
}

/** Asks again where a shop answers that it was asked too often, each time after as long as it says (`Retry-After`); `waiting` hears of how many seconds. */
export async function inTurn(ask: () => Promise<Purchased>, waiting: (seconds: number) => void, wait = pause): Promise<Purchased> {
  for (;;) {
    const answer = await ask();
    const seconds = Number(answer.headers['retry-after']);
    if (answer.status !== 429 || !(seconds > 0)) return answer;
    waiting(seconds);
    await wait(seconds * 1_000);
  }
}
