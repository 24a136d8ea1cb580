import http from 'node:http';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { solana } from '@solana/mpp/client';
import { x402HTTPClient } from '@x402/core/client';
import { x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import bs58 from 'bs58';
import { Mppx, tempo } from 'mppx/client';
import { createClient, http as httpTransport } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { tempo as tempoChain } from 'viem/tempo/chains';
import type { BuyerProtocol } from '../../../src/sandbox/buyer';
import type { BenchWallets } from './chains';

/** Headers of a paid request. */
export type Proof = Record<string, string>;

/** Signs what a 402 asks for, and does not send it: the halves of the stock clients that their `fetch` joins. */
export type Sign = (challenge: Response) => Promise<Proof>;

async function signerOf({ solana: wallet }: BenchWallets) {
  return createKeyPairSignerFromBytes(bs58.decode(wallet.secret_key));
}

async function x402Sign(wallets: BenchWallets): Promise<Sign> {
  const scheme = new ExactSvmScheme(await signerOf(wallets), { rpcUrl: wallets.solana.rpc_url });
  const client = new x402Client().register('solana:*', scheme);
  const wire = new x402HTTPClient(client);
  return async (challenge) => {
    const required = wire.getPaymentRequiredResponse((name) => challenge.headers.get(name), await challenge.json());
    return wire.encodePaymentSignatureHeader(await client.createPaymentPayload(required));
  };
}

async function tempoSign({ tempo: wallet }: BenchWallets): Promise<Sign> {
  const account = privateKeyToAccount(wallet.private_key);
  const chain = { ...tempoChain, id: wallet.chain_id as typeof tempoChain.id };
  const getClient = () => createClient({ chain, transport: httpTransport(wallet.rpc_url) });
  const client = Mppx.create({ methods: [tempo.charge({ account, getClient })], polyfill: false });
  return async (challenge) => ({ Authorization: await client.createCredential(challenge) });
}

async function solanaSign(wallets: BenchWallets): Promise<Sign> {
  const method = solana.charge({ signer: await signerOf(wallets), rpcUrl: wallets.solana.rpc_url });
  const client = Mppx.create({ methods: [method], polyfill: false });
  return async (challenge) => ({ Authorization: await client.createCredential(challenge) });
}

const SIGNS: Record<BuyerProtocol, (wallets: BenchWallets) => Promise<Sign>> = { x402: x402Sign, tempo: tempoSign, solana: solanaSign };

/** The unmodified stock client of `protocol` over a wallet. */
export function signWith(protocol: BuyerProtocol, wallets: BenchWallets): Promise<Sign> {
  return SIGNS[protocol](wallets);
}

/** `count` proofs, each for a 402 of its own, the buyers taking turns; 8 are signed at a time. */
export async function signProofs(url: string, count: number, signs: readonly Sign[]): Promise<Proof[]> {
  const proofs: Proof[] = [];
  const one = async (index: number): Promise<void> => {
    const challenge = await fetch(url);
    if (challenge.status !== 402) throw new Error(`${url} answered ${challenge.status} instead of 402`);
    proofs[index] = await (signs[index % signs.length] as Sign)(challenge);
  };
  for (let from = 0; from < count; from += 8)
    await Promise.all(Array.from({ length: Math.min(8, count - from) }, (_, step) => one(from + step)));
  return proofs;
}

const RECEIPTS = ['payment-response', 'payment-receipt'];

/** Sends one paid request. Throws unless it is answered with 200 and a receipt; returns the body. */
export function pay(url: string, proof: Proof, agent: http.Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = http.get(url, { agent, headers: proof }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => {
        if (response.statusCode === 200 && RECEIPTS.some((name) => response.headers[name] !== undefined)) resolve(body);
        else reject(new Error(`${url} answered ${response.statusCode}: ${body.slice(0, 500)}`));
      });
    });
    sent.once('error', reject);
  });
}
