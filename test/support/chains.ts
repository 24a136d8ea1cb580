import { Connection } from '@solana/web3.js';
import { type LocalSolana, startLocalSolana } from '../../src/sandbox/chains/solana';
import { type LocalTempo, startLocalTempo } from '../../src/sandbox/chains/tempo';

export interface LocalChains {
  solana: LocalSolana;
  tempo: LocalTempo;
  stop(): Promise<void>;
}

/**
 * Both local chains on free ports, empty but for what the faucets hold (about 0.3 s together):
 *
 *     let chains: LocalChains;
 *     beforeAll(async () => { chains = await localChains(); });
 *     afterAll(() => chains.stop());
 *
 * Fund with `chains.solana.fund(owner, {lamports, usdc})` and `chains.tempo.fund(address, usdc)` (micro-USDC); spoil RPC calls
 * with `chains.solana.faults.inject('sendTransaction', {kind: 'drop'})`; age blockhashes with `chains.solana.advanceSlots(151)`,
 * Tempo's clock with `chains.tempo.advanceTime(30)`.
 */
export async function localChains(): Promise<LocalChains> {
  const [solana, tempo] = await Promise.all([startLocalSolana(), startLocalTempo()]);
  return {
    solana,
    tempo,
    stop: async () => {
      await Promise.all([solana.stop(), tempo.stop()]);
    },
  };
}

/**
 * A web3.js connection whose failed fetches end as errors. Under jest the plain one waits for ever when a connection is cut: it
 * asks `instanceof Error`, and Node's fetch throws errors of another realm than the test's.
 */
export function solanaConnection(url: string): Connection {
  const failing: typeof fetch = (input, init) =>
    fetch(input, init).catch((cause: Error) => {
      throw new Error(cause.message, { cause });
    });
  return new Connection(url, { commitment: 'confirmed', disableRetryOnRateLimit: true, fetch: failing });
}
