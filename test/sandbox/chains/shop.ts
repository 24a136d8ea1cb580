import { randomBytes, randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Connection, Keypair, VersionedTransaction } from '@solana/web3.js';
import type { LocalSolana } from '../../../src/sandbox/chains/solana';
import type { LocalTempo } from '../../../src/sandbox/chains/tempo';
import { postRpc } from './rpc';

/** A throw-away seller: hand-made challenges, no checks, broadcasts what it is given. It proves clients and chains, not payments. */
export interface Shop {
  url: string;
  sold: { method: string; body: string; protocol: string; transaction: string }[];
  price: number;
  /** Answers 402 to proofs too. */
  sulking: boolean;
  stop(): Promise<void>;
}

interface Seller {
  solana: LocalSolana;
  tempo: LocalTempo;
  pay_to: { solana: string; tempo: string };
  sponsor: Keypair;
}

const base64 = (value: unknown, encoding: 'base64' | 'base64url'): string => Buffer.from(JSON.stringify(value)).toString(encoding);
interface Proof {
  challenge: { method: string };
  payload: { transaction: string; signature: string };
}

const decode = (text: string, encoding: 'base64' | 'base64url'): Proof => JSON.parse(Buffer.from(text, encoding).toString()) as Proof;

function mppChallenge(method: string, request: object): string {
  const expires = new Date(Date.now() + 300_000).toISOString();
  return `Payment id="${randomBytes(24).toString('base64url')}", realm="shop.test", method="${method}", intent="charge", request="${base64(request, 'base64url')}", expires="${expires}"`;
}

function offer(seller: Seller, shop: Shop, request: http.IncomingMessage): Record<string, string | string[]> {
  const amount = String(shop.price);
  const tempo = {
    amount,
    currency: seller.tempo.usdc,
    recipient: seller.pay_to.tempo,
    methodDetails: { chainId: seller.tempo.chain_id, supportedModes: ['pull'] },
  };
  const methodDetails = { network: 'mainnet', decimals: 6, tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' };
  const solana = { amount, currency: seller.solana.mint, recipient: seller.pay_to.solana, externalId: `q1.${randomUUID()}`, methodDetails };
  const extra = { feePayer: request.headers['x-payer'] ?? seller.sponsor.publicKey.toBase58(), memo: `q1.${randomUUID()}` };
  const exact = {
    scheme: 'exact',
    network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    amount,
    asset: seller.solana.mint,
    payTo: seller.pay_to.solana,
    maxTimeoutSeconds: 90,
    extra,
  };
  const required = {
    x402Version: 2,
    error: 'Payment required',
    resource: { url: `${shop.url}${request.url}`, description: 'test', mimeType: 'application/json' },
    accepts: [exact],
  };
  return {
    'www-authenticate': [mppChallenge('tempo', tempo), mppChallenge('solana', solana)],
    'payment-required': base64(required, 'base64'),
  };
}

async function settleSolana(seller: Seller, wire: string): Promise<string> {
  const transaction = VersionedTransaction.deserialize(Buffer.from(wire, 'base64'));
  if (transaction.message.staticAccountKeys[0]?.equals(seller.sponsor.publicKey)) transaction.sign([seller.sponsor]);
  return new Connection(seller.solana.url, 'confirmed').sendRawTransaction(transaction.serialize());
}

async function settleTempo(tempo: LocalTempo, raw: string): Promise<string> {
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransactionSync', params: [raw] };
  const { result, error } = await postRpc<{ result: { transactionHash: string; status: string }; error?: { message: string } }>(
    tempo.url,
    call,
  );
  if (error !== undefined || result.status !== '0x1') throw new Error(error?.message ?? 'reverted');
  return result.transactionHash;
}

async function settle(
  seller: Seller,
  request: http.IncomingMessage,
): Promise<{ protocol: string; transaction: string; headers: Record<string, string> } | undefined> {
  const x402 = request.headers['payment-signature'] as string | undefined;
  if (x402 !== undefined) {
    const transaction = await settleSolana(seller, decode(x402, 'base64').payload.transaction);
    return {
      protocol: 'x402',
      transaction,
      headers: { 'payment-response': base64({ success: true, transaction, network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }, 'base64') },
    };
  }
  const mpp = request.headers.authorization;
  if (mpp === undefined) return undefined;
  const { challenge, payload } = decode(mpp.replace(/^Payment /, ''), 'base64url');
  const transaction =
    challenge.method === 'tempo' ? await settleTempo(seller.tempo, payload.signature) : await settleSolana(seller, payload.transaction);
  const receipt = { method: challenge.method, reference: transaction, status: 'success', timestamp: new Date().toISOString() };
  return { protocol: challenge.method, transaction, headers: { 'payment-receipt': base64(receipt, 'base64url') } };
}

export async function openShop(seller: Seller): Promise<Shop> {
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    try {
      const paid = shop.sulking ? undefined : await settle(seller, request);
      if (request.url === '/free') return void response.end('gift');
      if (paid === undefined)
        return void response.writeHead(402, { 'content-type': 'application/json', ...offer(seller, shop, request) }).end('{}');
      shop.sold.push({ method: request.method as string, body, protocol: paid.protocol, transaction: paid.transaction });
      response.writeHead(200, paid.headers).end(JSON.stringify({ bought: request.url }));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const shop: Shop = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sold: [],
    price: 10_000,
    sulking: false,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return shop;
}
