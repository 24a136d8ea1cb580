import type { Pool } from 'pg';
import { Keypair } from '@solana/web3.js';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { PaymentsSettings } from '../../src/payments/config';
import type { Payments } from '../../src/payments/protocol';
import type { RpcFaults } from '../../src/sandbox/chains/rpc-faults';
import { startLocalSolana } from '../../src/sandbox/chains/solana';
import { startLocalTempo } from '../../src/sandbox/chains/tempo';
import { testDatabase } from '../support/database';
import { signedEip1559, transferData } from '../support/tempo-transactions';
import { signTransfer } from './solana-signing';
import { proofFor, requirementOf, saleOf, SECRET, workOf } from './till';

export const PRICE = 20_000n;
const BUYER_USDC = 5_000_000n;

/** A ledger and a chain of its own, behind two RPC urls, with buyers who sign and do not send. */
export interface Booth {
  pool: Pool;
  database_url: string;
  settings: PaymentsSettings;
  faults: RpcFaults;
  /** By protocol: a funded buyer and the headers of a proof for what `payments` offer for the default sale at PRICE. */
  buyers: Record<string, (payments: Payments) => Promise<{ payer: string; headers: Record<string, string> }>>;
  /** Micro-USDC that left the buyer's account for the merchant. */
  spent(payer: string): Promise<bigint>;
  close(): Promise<void>;
}

const REALM = { realm: 'api.example.com', secrets: [SECRET] };

async function challengeOf(payments: Payments) {
  const outcome = await payments.charge(saleOf({ amount: PRICE }), workOf());
  if (outcome.kind !== 'challenge') throw new Error(`expected a challenge, got ${outcome.kind}`);
  return outcome.challenge;
}

/** What the buyer's wallet sends for a challenge. */
type Pay = (key: Keypair, challenge: Awaited<ReturnType<typeof challengeOf>>) => Record<string, string>;

const payX402: Pay = (key, challenge) => ({ 'PAYMENT-SIGNATURE': proofFor(key, requirementOf(challenge)) });

const payMpp: Pay = (buyer, challenge) => {
  const parameters = parametersOf(challenge.headers['WWW-Authenticate']);
  const { currency, recipient, amount, externalId, methodDetails } = JSON.parse(
    Buffer.from(parameters.request as string, 'base64url').toString(),
  ) as { currency: string; recipient: string; amount: string; externalId: string; methodDetails: { recentBlockhash: string } };
  const { recentBlockhash: blockhash } = methodDetails;
  const transaction = signTransfer({ buyer, mint: currency, pay_to: recipient, amount: BigInt(amount), blockhash, memo: externalId });
  return { Authorization: credentialOf(parameters, { type: 'transaction', transaction }) };
};

/** Both protocols on Solana, one beside the other. */
export async function openSolanaBooth(): Promise<Booth> {
  const [solana, database] = await Promise.all([startLocalSolana(), testDatabase()]);
  const merchant = Keypair.generate().publicKey.toBase58();
  await solana.fund(merchant, { usdc: 0n });
  const { url, mint, genesis_hash } = solana;
  const buyerWho = (pay: Pay) => async (payments: Payments) => {
    const key = Keypair.generate();
    await solana.fund(key.publicKey.toBase58(), { lamports: 100_000_000n, usdc: BUYER_USDC });
    return { payer: key.publicKey.toBase58(), headers: pay(key, await challengeOf(payments)) };
  };
  const rpc_urls = [url, url];
  return {
    pool: database.pool,
    database_url: database.url,
    settings: { ...REALM, solana: { rpc_urls, pay_to: merchant, network: 'mainnet', mint, genesis_hash, sponsor_key: false } },
    faults: solana.faults,
    buyers: { x402: buyerWho(payX402), 'MPP solana': buyerWho(payMpp) },
    spent: async (payer) => BUYER_USDC - (await solana.usdcBalance(payer)),
    close: async () => {
      await Promise.all([solana.stop(), database.drop()]);
    },
  };
}

/** The buyers sign plain transfers, which never expire: a slow machine changes no outcome. */
export async function openTempoBooth(): Promise<Booth> {
  const [tempo, database] = await Promise.all([startLocalTempo(), testDatabase()]);
  const merchant = privateKeyToAccount(generatePrivateKey()).address;
  const fees = new Map<string, bigint>();
  const { url, chain_id, usdc } = tempo;
  return {
    pool: database.pool,
    database_url: database.url,
    settings: { ...REALM, tempo: { rpc_urls: [url, url], pay_to: merchant, chain_id, usdc } },
    faults: tempo.faults,
    buyers: {
      'MPP tempo': async (payments) => {
        const key = generatePrivateKey();
        const { address } = privateKeyToAccount(key);
        await tempo.fund(address, BUYER_USDC);
        fees.set(address.toLowerCase(), await tempo.usdcBalance(merchant));
        const challenge = await challengeOf(payments);
        const raw = signedEip1559({ chainId: chain_id, nonce: 0n, gas: 2_000_000n, data: transferData(PRICE, merchant) }, key);
        return {
          payer: address,
          headers: {
            Authorization: credentialOf(parametersOf(challenge.headers['WWW-Authenticate']), { type: 'transaction', signature: raw }),
          },
        };
      },
    },
    // One buyer at a time pays on this chain; its fee, in the same token, is no part of the price.
    spent: async (payer) => (await tempo.usdcBalance(merchant)) - (fees.get(payer.toLowerCase()) as bigint),
    close: async () => {
      await Promise.all([tempo.stop(), database.drop()]);
    },
  };
}

/** The parameters of the first challenge. */
function parametersOf(challenges: string | string[] | undefined): Record<string, string> {
  const [challenge] = [challenges ?? []].flat();
  return Object.fromEntries(
    [...(challenge ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name as string, value as string]),
  );
}

/** The value of an `Authorization` field: the challenge, parameter by parameter, and what pays it. */
function credentialOf(challenge: Record<string, string>, payload: object): string {
  return `Payment ${Buffer.from(JSON.stringify({ challenge, payload })).toString('base64url')}`;
}
