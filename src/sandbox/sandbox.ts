import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { JsonRpcNode } from '../chains/json-rpc';
import type { PaymentsConfig } from '../payments/config';
import { type LocalSolana, startLocalSolana } from './chains/solana';
import { type LocalTempo, startLocalTempo } from './chains/tempo';
import { SOLANA_USDC_MINTS } from '../payments/assets';
import { prepareSandboxWallets, readSandboxMerchant, readSandboxWallets, sandboxIsMade } from './wallets';

/** Local chains with funded wallets, and how payments reach them. */
export interface SandboxChains {
  solana: LocalSolana;
  tempo: LocalTempo | null;
  payments: Pick<PaymentsConfig, 'solana' | 'tempo' | 'secrets'>;
  /** Why one of the chains is missing, in words. */
  warnings: string[];
  stop(): Promise<void>;
}

/** Starts the local chains and funds the sandbox wallets. Tempo is left out, with a warning, where its program is missing. */
export async function startSandboxChains(folder: string): Promise<SandboxChains> {
  const warnings: string[] = [];
  const [solana, tempo] = await Promise.all([
    startLocalSolana(),
    startLocalTempo().catch((error: Error) => {
      warnings.push(`Tempo is off: ${error.message}`);
      return null;
    }),
  ]);
  await prepareSandboxWallets(folder, solana, tempo);
  return {
    solana,
    tempo,
    payments: { ...merchantConfig(folder, solana, tempo), secrets: [keptSecret(folder)] },
    warnings,
    stop: async () => {
      await Promise.all([solana.stop(), tempo?.stop()]);
    },
  };
}

const ANSWERS_WITHIN_MS = 2_000;

/**
 * Whether a sandbox over the same folder runs already: then its chains are joined, for new ones would take the wallets away from it. Its
 * chain is known by the merchant, whose address no other chain has.
 */
export async function sandboxRuns(folder: string): Promise<boolean> {
  if (!sandboxIsMade(folder)) return false;
  const { solana } = readSandboxWallets(folder);
  try {
    const node = new JsonRpcNode(solana.rpc_url, { try_ms: ANSWERS_WITHIN_MS });
    const { value } = (await node.call('getBalance', [solana.pay_to])) as { value: number };
    return value > 0;
  } catch {
    return false;
  }
}

/** Payment settings of a sandbox that runs already, in another process. Throws one clear sentence when there never was one. */
export function joinSandboxChains(folder: string): SandboxChains['payments'] {
  const { solana, tempo } = readSandboxWallets(folder);
  const chains = {
    solana: { url: solana.rpc_url, mint: SOLANA_USDC_MINTS.mainnet, genesis_hash: null },
    tempo: tempo && { url: tempo.rpc_url, chain_id: tempo.chain_id, usdc: tempo.usdc },
  };
  return { ...merchantConfig(folder, chains.solana, chains.tempo), secrets: [keptSecret(folder)] };
}

type SolanaAddress = Pick<LocalSolana, 'url' | 'mint'> & { genesis_hash: string | null };
type TempoAddress = Pick<LocalTempo, 'url' | 'chain_id' | 'usdc'>;

function merchantConfig(folder: string, solana: SolanaAddress, tempo: TempoAddress | null): Pick<PaymentsConfig, 'solana' | 'tempo'> {
  const merchant = readSandboxMerchant(folder);
  return {
    solana: {
      rpc_urls: [solana.url],
      pay_to: merchant.solana.address,
      network: 'mainnet',
      mint: solana.mint,
      genesis_hash: solana.genesis_hash,
      // A sponsor makes unmodified stock x402 clients work out of the box.
      sponsor_key: merchant.sponsor.secret_key,
    },
    tempo: tempo === null ? false : { rpc_urls: [tempo.url], pay_to: merchant.tempo.address, chain_id: tempo.chain_id, usdc: tempo.usdc },
  };
}

/** The secret that signs the sandbox's challenges, made once: what was bought before a restart can be collected after it. */
function keptSecret(folder: string): string {
  const file = path.join(folder, 'payment-secret');
  if (!fs.existsSync(file)) fs.writeFileSync(file, crypto.randomBytes(32).toString('base64url'), { mode: 0o600 });
  return fs.readFileSync(file, 'utf8');
}
