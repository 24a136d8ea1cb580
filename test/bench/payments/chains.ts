import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { LocalTempo } from '../../../src/sandbox/chains/tempo';
import { type SandboxChains, startSandboxChains } from '../../../src/sandbox/sandbox';
import { readSandboxWallets, type SandboxWallets, type TempoWallet } from '../../../src/sandbox/wallets';
import { serve } from '../child';

/** Both local chains, who is paid on them, and buyers with money. */
export interface BenchChains {
  payments: SandboxChains['payments'];
  /** One wallet on each chain per buyer. */
  buyers: BenchWallets[];
}

export interface BenchWallets extends SandboxWallets {
  tempo: TempoWallet;
}

/** What the merchant has received on each chain, micro-USDC. */
export interface Received {
  x402: bigint;
  tempo: bigint;
}

export interface ChainSettings {
  /** Of the caller, who removes it. */
  folder: string;
  buyers: number;
}

const BUYER_USDC = 1_000_000_000n;
const BUYER_LAMPORTS = 1_000_000_000n;

/** A buyer with 1,000 USDC on each chain. Throws where no Tempo chain runs. */
export async function fundedBuyer({ solana, tempo }: SandboxChains, sample: SandboxWallets): Promise<BenchWallets> {
  if (tempo === null || sample.tempo === null) throw new Error('The payment benches need the local Tempo chain (anvil).');
  const pair = Keypair.generate();
  const private_key = generatePrivateKey();
  const { address } = privateKeyToAccount(private_key);
  await solana.fund(pair.publicKey.toBase58(), { lamports: BUYER_LAMPORTS, usdc: BUYER_USDC });
  await tempo.fund(address, BUYER_USDC);
  return {
    solana: { ...sample.solana, address: pair.publicKey.toBase58(), secret_key: bs58.encode(pair.secretKey) },
    tempo: { ...sample.tempo, address, private_key },
  };
}

if (require.main === module)
  void serve<ChainSettings, BenchChains>(async ({ folder, buyers: count }) => {
    const chains = await startSandboxChains(folder);
    const sample = readSandboxWallets(folder);
    const buyers: BenchWallets[] = [];
    for (let made = 0; made < count; made += 1) buyers.push(await fundedBuyer(chains, sample));
    const { faults } = chains.solana;
    const { tempo } = chains.payments;
    // No server pays for the proxy that counts and spoils calls.
    const direct = tempo !== false && { ...tempo, rpc_urls: [(chains.tempo as LocalTempo).node_url] };
    return {
      ready: { payments: { ...chains.payments, tempo: direct }, buyers },
      answers: {
        forgetCalls: () => faults.forgetCalls(),
        calls: () => faults.calls(),
        received: async (): Promise<Received> => ({
          x402: await chains.solana.usdcBalance(sample.solana.pay_to),
          tempo: (await chains.tempo?.usdcBalance(sample.tempo?.pay_to ?? '')) ?? 0n,
        }),
      },
      stop: () => chains.stop(),
    };
  });
