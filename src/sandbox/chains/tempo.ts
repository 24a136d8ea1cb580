import { http as httpTransport, createClient, getAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { tempoLocalnet } from 'viem/tempo/chains';
import { Actions } from 'viem/tempo';
import { JsonRpcError, JsonRpcNode } from '../../chains/json-rpc';
import { TEMPO_USDC } from '../../payments/assets';
import { type Anvil, startAnvil } from './anvil';
import { RpcFaults, type RpcHandler, type RpcReply } from './rpc-faults';
import { startRpcServer } from './rpc-server';
import { GAS, PATH_USD, type TempoClient, callAnvil, createUsdc } from './tempo-usdc';

/** A Tempo chain of our own on loopback, with USDC.e at its mainnet address. */
export interface LocalTempo {
  url: string;
  /** The node itself, without the proxy that counts and spoils calls. */
  node_url: string;
  chain_id: number;
  usdc: string;
  /** Adds micro-USDC.e, and what fees and anvil's pool ask for: 1 pathUSD and a native balance. */
  fund(address: string, usdc: bigint): Promise<void>;
  /** Micro-USDC.e. */
  usdcBalance(address: string): Promise<bigint>;
  /** Micro-pathUSD. */
  pathUsdBalance(address: string): Promise<bigint>;
  /** Mines an empty block. */
  mine(): Promise<void>;
  /** Moves the chain's clock ahead of the real one, by this many seconds more, and mines a block. */
  advanceTime(seconds: number): Promise<void>;
  /** The clock of the newest block, Unix seconds. */
  time(): Promise<bigint>;
  /** Off: transactions stay in the pool until `mine`. On again: they are mined as they come. */
  setAutomine(on: boolean): Promise<void>;
  faults: RpcFaults;
  stop(): Promise<void>;
}

// The first of anvil's published development keys: rich in pathUSD at genesis, worthless anywhere else.
const FAUCET_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const ONE_PATH_USD = 1_000_000n;
const NATIVE_BALANCE = '0x3635c9adc5dea00000';
/** States of past blocks that anvil keeps, for questions about them, which nobody asks here: more make every block slower. */
const KEPT_STATES = 64;
/** Who sends a transaction may wait for its block, which may be long in coming. */
const ANVIL_MS = 120_000;

/** Sends each call on to anvil as it is. */
function forwardTo(url: string): RpcHandler {
  const node = new JsonRpcNode(url, { try_ms: ANVIL_MS });
  return async ({ method, params }) => {
    try {
      return { result: await node.call(method, (params ?? []) as unknown[]) };
    } catch (error) {
      if (!(error instanceof JsonRpcError)) throw error;
      const { code, message, data } = error;
      return { error: data === undefined ? { code, message } : { code, message, data } };
    }
  };
}

const alreadyKnown = (): RpcReply => ({ error: { code: -32003, message: 'transaction already imported' } });

function faucet(anvil: Anvil, chainId: number): TempoClient {
  const chain = tempoLocalnet.extend({ feeToken: PATH_USD });
  return createClient({
    account: privateKeyToAccount(FAUCET_KEY),
    chain: { ...chain, id: chainId } as typeof chain,
    transport: httpTransport(anvil.url),
    pollingInterval: 50,
  });
}

async function fundAccount(client: TempoClient, address: `0x${string}`, usdc: bigint): Promise<void> {
  await callAnvil(client, 'anvil_setBalance', [address, NATIVE_BALANCE]);
  await Actions.token.transferSync(client, { token: PATH_USD, to: address, amount: ONE_PATH_USD, gas: GAS });
  if (usdc > 0n) await Actions.token.mintSync(client, { token: TEMPO_USDC, to: address, amount: usdc, gas: GAS });
}

async function balance(client: TempoClient, token: `0x${string}`, account: string): Promise<bigint> {
  return (await Actions.token.getBalance(client, { token, account: getAddress(account) })).amount;
}

/**
 * Starts a local Tempo chain: anvil behind a proxy that counts and spoils calls. Hardfork T4, since expiring nonces, which the
 * stock client signs with, need T1 or later. Throws one clear sentence when there is no anvil.
 */
export async function startLocalTempo(options: { chain_id?: number } = {}): Promise<LocalTempo> {
  const chainId = options.chain_id ?? tempoLocalnet.id;
  const anvil = await startAnvil([
    '--network',
    'tempo',
    '--hardfork',
    'T4',
    '--chain-id',
    String(chainId),
    `--prune-history=${KEPT_STATES}`,
  ]);
  try {
    const client = faucet(anvil, chainId);
    await createUsdc(client);
    const faults = new RpcFaults(alreadyKnown);
    const server = await startRpcServer(forwardTo(anvil.url), faults);
    let queue: Promise<unknown> = Promise.resolve();
    const mine = async (): Promise<void> => void (await callAnvil(client, 'evm_mine', []));
    return {
      url: server.url,
      node_url: anvil.url,
      chain_id: chainId,
      usdc: TEMPO_USDC,
      // One at a time: the faucet's transactions take its nonces in order.
      fund: (address, usdc) => {
        const done = queue.then(() => fundAccount(client, getAddress(address), usdc));
        queue = done.catch(() => undefined);
        return done;
      },
      usdcBalance: (address) => balance(client, TEMPO_USDC, address),
      pathUsdBalance: (address) => balance(client, PATH_USD, address),
      mine,
      advanceTime: async (seconds) => {
        await callAnvil(client, 'evm_increaseTime', [seconds]);
        await mine();
      },
      time: async () => BigInt(((await callAnvil(client, 'eth_getBlockByNumber', ['latest', false])) as { timestamp: string }).timestamp),
      setAutomine: async (on) => void (await callAnvil(client, 'evm_setAutomine', [on])),
      faults,
      stop: async () => {
        await server.stop();
        await anvil.stop();
      },
    };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}
