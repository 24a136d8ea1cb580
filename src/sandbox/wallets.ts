import fs from 'node:fs';
import path from 'node:path';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { LocalSolana } from './chains/solana';
import type { LocalTempo } from './chains/tempo';

export interface SolanaWallet {
  rpc_url: string;
  address: string;
  /** Base58 of the 64 bytes: seed, then public key. */
  secret_key: string;
  /** The merchant's wallet, not its token account. */
  pay_to: string;
}

export interface TempoWallet {
  rpc_url: string;
  chain_id: number;
  address: `0x${string}`;
  private_key: `0x${string}`;
  usdc: `0x${string}`;
  pay_to: `0x${string}`;
}

/** What a buyer needs, as `.sandbox/wallets.json` holds it. `tempo` is null where no local Tempo chain runs. */
export interface SandboxWallets {
  solana: SolanaWallet;
  tempo: TempoWallet | null;
}

interface SolanaKey {
  address: string;
  secret_key: string;
}

interface TempoKey {
  address: `0x${string}`;
  private_key: `0x${string}`;
}

/** The seller's side, as `.sandbox/merchant.json` holds it: who is paid, and who pays Solana fees for stock x402 clients. */
export interface SandboxMerchant {
  solana: SolanaKey;
  tempo: TempoKey;
  sponsor: SolanaKey;
}

const WALLETS = 'wallets.json';
const MERCHANT = 'merchant.json';
const BUYER_USDC = 1_000_000_000n;
const BUYER_LAMPORTS = 1_000_000_000n;
const MERCHANT_LAMPORTS = 10_000_000n;
const SPONSOR_LAMPORTS = 100_000_000_000n;

function readJson<T>(file: string): T | undefined {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new Error(`${file} is not JSON. Remove it and start the sandbox again; new wallets are made.`, { cause });
  }
}

/** Whole or not at all, and for its owner's eyes: it holds keys. */
function writeJson(file: string, value: unknown): void {
  const draft = `${file}.${process.pid}.new`;
  fs.writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  fs.renameSync(draft, file);
}

function newSolanaKey(): SolanaKey {
  const pair = Keypair.generate();
  return { address: pair.publicKey.toBase58(), secret_key: bs58.encode(pair.secretKey) };
}

function newTempoKey(): TempoKey {
  const private_key = generatePrivateKey();
  return { address: privateKeyToAccount(private_key).address, private_key };
}

function prepareMerchant(folder: string): SandboxMerchant {
  const file = path.join(folder, MERCHANT);
  const kept = readJson<Partial<SandboxMerchant>>(file);
  const merchant = {
    solana: kept?.solana ?? newSolanaKey(),
    tempo: kept?.tempo ?? newTempoKey(),
    sponsor: kept?.sponsor ?? newSolanaKey(),
  };
  writeJson(file, merchant);
  return merchant;
}

async function fundSolana(chain: LocalSolana, buyer: string, merchant: SandboxMerchant): Promise<void> {
  const top = async (owner: string, lamports: bigint): Promise<void> => {
    const held = await chain.lamports(owner);
    await chain.fund(owner, { lamports: lamports > held ? lamports - held : 0n });
  };
  await top(buyer, BUYER_LAMPORTS);
  await top(merchant.solana.address, MERCHANT_LAMPORTS);
  await top(merchant.sponsor.address, SPONSOR_LAMPORTS);
  await chain.setUsdc(buyer, { amount: BUYER_USDC });
  await chain.fund(merchant.solana.address, { usdc: 0n });
}

async function fundTempo(chain: LocalTempo, buyer: string): Promise<void> {
  const held = await chain.usdcBalance(buyer);
  if (held < BUYER_USDC) await chain.fund(buyer, BUYER_USDC - held);
}

/**
 * Makes or keeps the sandbox's keys in `folder` (wallets.json for the buyer, merchant.json for the seller, both mode 0600),
 * writes the chains' addresses of this start into wallets.json, and funds the buyer with 1,000 USDC on each chain plus fees, the
 * merchant with an empty USDC account, and the sponsor with SOL.
 */
export async function prepareSandboxWallets(folder: string, solana: LocalSolana, tempo: LocalTempo | null): Promise<SandboxWallets> {
  fs.mkdirSync(folder, { recursive: true });
  const file = path.join(folder, WALLETS);
  const kept = readJson<Partial<SandboxWallets>>(file);
  const merchant = prepareMerchant(folder);
  const { address, secret_key } = kept?.solana ?? newSolanaKey();
  const key = kept?.tempo ?? newTempoKey();
  const wallets: SandboxWallets = {
    solana: { rpc_url: solana.url, address, secret_key, pay_to: merchant.solana.address },
    tempo: tempo && {
      rpc_url: tempo.url,
      chain_id: tempo.chain_id,
      address: key.address,
      private_key: key.private_key,
      usdc: tempo.usdc as `0x${string}`,
      pay_to: merchant.tempo.address,
    },
  };
  await fundSolana(solana, address, merchant);
  if (tempo !== null) await fundTempo(tempo, key.address);
  writeJson(file, wallets);
  return wallets;
}

/** Whether there are wallets: a sandbox was started here once. */
export const sandboxIsMade = (folder: string): boolean => fs.existsSync(path.join(folder, WALLETS));

/** Throws one clear sentence when the sandbox has not written them yet. */
export function readSandboxWallets(folder: string): SandboxWallets {
  const file = path.join(folder, WALLETS);
  const wallets = readJson<SandboxWallets>(file);
  if (wallets === undefined) throw new Error(`There are no sandbox wallets at ${file}; "npm start" makes and funds them.`);
  return wallets;
}

/** Throws one clear sentence when the sandbox has not made it yet. */
export function readSandboxMerchant(folder: string): SandboxMerchant {
  const file = path.join(folder, MERCHANT);
  const merchant = readJson<SandboxMerchant>(file);
  if (merchant === undefined) throw new Error(`There is no sandbox merchant at ${file}; "npm start" makes it.`);
  return merchant;
}
