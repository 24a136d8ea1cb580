import { type Hex, decodeErrorResult, decodeFunctionResult, encodeFunctionData, getAddress, prepareEncodeFunctionData } from 'viem';
import { Abis, Addresses } from 'viem/tempo';
import { JsonRpcError, JsonRpcNode, type PostJson } from './json-rpc';
import { RPC_DEFAULTS, RpcPool } from './rpc';

export interface TempoChainOptions {
  /** Asked in turn when one fails; transactions go to all. */
  rpc_urls: readonly string[];
  chain_id: number;
  /** Patience with one answer of one RPC. */
  try_ms?: number;
  /** How calls are sent; over HTTP by default. */
  post?: PostJson | undefined;
}

export interface TempoHead {
  number: bigint;
  /** Unix seconds. */
  time: number;
  /** Attodollars per gas. */
  base_fee: bigint;
}

export interface TempoReceipt {
  succeeded: boolean;
  block: bigint;
  logs: { address: string; topics: string[]; data: string }[];
}

/** An access key of an account, as the keychain of the chain knows it. */
export interface TempoAccessKey {
  authorized: boolean;
  /** What it may still spend of the token asked about; null: no limit. */
  limit: bigint | null;
  /** What it may call; null: anything. */
  scopes: readonly { target: string; selectorRules: readonly { selector: string; recipients: readonly string[] }[] }[] | null;
}

export interface TempoCall {
  from: string;
  to: string;
  data: Hex;
  gas: bigint;
  /** Whether its fee can be taken is simulated too: in which token, and at most how much per gas. */
  fee?: { token: string; max_per_gas: bigint };
}

/** An RPC belongs to another chain than the one configured. */
export class TempoWrongChain extends Error {
  constructor(expected: number, got: number) {
    super(`A Tempo RPC serves chain ${got} instead of ${expected}: TEMPO_RPC_URL or TEMPO_CHAIN_ID must be another.`);
    this.name = 'TempoWrongChain';
  }
}

export type TempoNode = JsonRpcNode;

/** Nonce key that makes a transaction expire instead of taking its turn (TIP-1009). */
export const EXPIRING_NONCE_KEY = 2n ** 256n - 1n;
/** The account's own nonce; the keys between are sequences in the nonce manager. */
const PROTOCOL_NONCE_KEY = 0n;
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
/** Recipients that every TIP-20 token refuses (InvalidRecipient): the zero address, and those of the tokens, which begin alike. */
const PAID_BY_NONE = /^0x(0{40}|20c0{21}[0-9a-f]{16})$/i;
/** What every payment asks, prepared: finding a function and hashing its signature takes longer than all the rest of the encoding. */
const BALANCE_OF = prepareEncodeFunctionData({ abi: Abis.tip20, functionName: 'balanceOf' });
const GET_NONCE = prepareEncodeFunctionData({ abi: Abis.nonce, functionName: 'getNonce' });

/**
 * Questions to a Tempo chain over several RPC urls: one that fails is replaced by the next, one that serves another chain is
 * never believed. Every question throws RpcUnavailable when no RPC answers, the signal's reason when it aborts.
 */
export class TempoChain {
  private readonly nodes: readonly TempoNode[];
  private readonly pool: RpcPool<TempoNode>;
  private readonly verified = new WeakSet<TempoNode>();

  constructor(private readonly options: TempoChainOptions) {
    const pace = { ...RPC_DEFAULTS, try_ms: options.try_ms ?? RPC_DEFAULTS.try_ms };
    this.nodes = options.rpc_urls.map((url) => new JsonRpcNode(url, { ...pace, post: options.post }));
    this.pool = new RpcPool(this.nodes, pace);
  }

  get size(): number {
    return this.nodes.length;
  }

  /** Checks the chain id of every RPC. Throws TempoWrongChain when one serves another chain, RpcUnavailable when none answers. */
  async check(signal: AbortSignal): Promise<void> {
    for (const result of await this.everywhere(() => Promise.resolve(), signal))
      if (result.status === 'rejected' && result.reason instanceof TempoWrongChain) throw result.reason;
    await this.first(() => Promise.resolve(), signal);
  }

  /** The newest block. */
  head(signal: AbortSignal): Promise<TempoHead> {
    return this.first((node) => headOf(node, signal), signal);
  }

  /** The receipt, or null when the RPC knows of none. */
  receipt(hash: string, signal: AbortSignal): Promise<TempoReceipt | null> {
    return this.first((node) => receiptOf(node, hash, signal), signal);
  }

  /** Micro-units of a TIP-20 token; 0 of what is no token: a buyer may name any address. */
  balance(token: string, owner: string, signal: AbortSignal): Promise<bigint> {
    const data = encodeFunctionData({ ...BALANCE_OF, args: [owner.toLowerCase() as Hex] });
    return this.first(async (node) => {
      try {
        const word = await callOn(node, { to: token, data }, signal);
        return word === '0x' ? 0n : BigInt(word);
      } catch (error) {
        if (revertOf(error) === null) throw error;
        return 0n;
      }
    }, signal);
  }

  /** The next nonce of the account under `key`. */
  nonce(owner: string, key: bigint, signal: AbortSignal): Promise<bigint> {
    return this.first((node) => nonceOf(node, owner, key, signal), signal);
  }

  /** The token the account chose to pay fees in; null when it chose none. */
  async feeToken(owner: string, signal: AbortSignal): Promise<string | null> {
    const data = encodeFunctionData({ abi: Abis.feeManager, functionName: 'userTokens', args: [getAddress(owner)] });
    const word = await this.first((node) => callOn(node, { to: Addresses.feeManager, data }, signal), signal);
    const token = `0x${word.slice(-40)}`;
    return token === ZERO_ADDRESS ? null : token;
  }

  /** What the keychain says of an access key at Unix second `now`. */
  accessKey(owner: string, key: string, token: string, now: number, signal: AbortSignal): Promise<TempoAccessKey> {
    const args = [getAddress(owner), getAddress(key)] as const;
    const to = Addresses.accountKeychain;
    const abi = Abis.accountKeychain;
    return this.first(async (node) => {
      const [info, allowed, remaining] = await Promise.all([
        callOn(node, { to, data: encodeFunctionData({ abi, functionName: 'getKey', args }) }, signal),
        callOn(node, { to, data: encodeFunctionData({ abi, functionName: 'getAllowedCalls', args }) }, signal),
        callOn(
          node,
          { to, data: encodeFunctionData({ abi, functionName: 'getRemainingLimitWithPeriod', args: [...args, getAddress(token)] }) },
          signal,
        ),
      ]);
      const { keyId, expiry, isRevoked, enforceLimits } = decodeFunctionResult({ abi, functionName: 'getKey', data: info });
      const [scoped, scopes] = decodeFunctionResult({ abi, functionName: 'getAllowedCalls', data: allowed });
      const [limit] = decodeFunctionResult({ abi, functionName: 'getRemainingLimitWithPeriod', data: remaining });
      const authorized = keyId.toLowerCase() === key.toLowerCase() && !isRevoked && expiry > BigInt(now);
      return { authorized, limit: enforceLimits ? limit : null, scopes: scoped ? scopes : null };
    }, signal);
  }

  /** Why a call would fail now (the name of the token's error where it has one), or null when it would succeed. */
  simulate({ from, to, data, gas, fee }: TempoCall, signal: AbortSignal): Promise<string | null> {
    const call = { from, to, data, gas: hexOf(gas), ...(fee && { feeToken: fee.token, maxFeePerGas: hexOf(fee.max_per_gas) }) };
    return this.first(async (node) => {
      try {
        await callOn(node, call, signal);
        return null;
      } catch (error) {
        const reason = revertOf(error);
        if (reason === null) throw error;
        return reason;
      }
    }, signal);
  }

  /** Why `recipient` cannot receive the token now, or null: not a token of 6 decimals, paused, forbidden by its transfer policy, an address that no token pays. */
  async canReceive(token: string, recipient: string, signal: AbortSignal): Promise<string | null> {
    if (PAID_BY_NONE.test(recipient)) return "it is the zero address or a token's, and tokens pay neither";
    const abi = Abis.tip20;
    return this.first(async (node) => {
      const [decimals, paused, policy] = await Promise.all([
        callOn(node, { to: token, data: encodeFunctionData({ abi, functionName: 'decimals' }) }, signal),
        callOn(node, { to: token, data: encodeFunctionData({ abi, functionName: 'paused' }) }, signal),
        callOn(node, { to: token, data: encodeFunctionData({ abi, functionName: 'transferPolicyId' }) }, signal),
      ]);
      if (decimals === '0x' || BigInt(decimals) !== 6n) return 'not a token of 6 decimals';
      if (BigInt(paused) !== 0n) return 'the token is paused';
      const data = encodeFunctionData({
        abi: Abis.tip403Registry,
        functionName: 'isAuthorizedRecipient',
        args: [BigInt(policy), getAddress(recipient)],
      });
      const allowed = await callOn(node, { to: Addresses.tip403Registry, data }, signal);
      return BigInt(allowed) === 0n ? 'its transfer policy forbids the recipient' : null;
    }, signal);
  }

  /** Asks every RPC at once; never rejects. */
  everywhere<T>(question: (node: TempoNode) => Promise<T>, signal: AbortSignal): Promise<PromiseSettledResult<T>[]> {
    return this.pool.all(async (node) => (await this.verify(node, signal), question(node)), signal);
  }

  /** Asks the RPC that answered last, then the others. */
  first<T>(question: (node: TempoNode) => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.pool.first(async (node) => (await this.verify(node, signal), question(node)), signal);
  }

  /** Makes sure, once, that the RPC serves our chain. */
  private async verify(node: TempoNode, signal: AbortSignal): Promise<void> {
    if (this.verified.has(node)) return;
    const chainId = Number(await request(node, 'eth_chainId', [], signal));
    if (chainId !== this.options.chain_id) throw new TempoWrongChain(this.options.chain_id, chainId);
    this.verified.add(node);
  }
}

/** One JSON-RPC call to one RPC, without retries; null is an answer. Throws the signal's reason when it has aborted, and as JsonRpcNode. */
export async function request(node: TempoNode, method: string, params: unknown[], signal: AbortSignal): Promise<unknown> {
  signal.throwIfAborted();
  return node.call(method, params);
}

export async function headOf(node: TempoNode, signal: AbortSignal): Promise<TempoHead> {
  const block = (await request(node, 'eth_getBlockByNumber', ['latest', false], signal)) as {
    number: string;
    timestamp: string;
    baseFeePerGas?: string;
  };
  return { number: BigInt(block.number), time: Number(block.timestamp), base_fee: BigInt(block.baseFeePerGas ?? 0) };
}

export async function receiptOf(node: TempoNode, hash: string, signal: AbortSignal): Promise<TempoReceipt | null> {
  const receipt = await request(node, 'eth_getTransactionReceipt', [hash], signal);
  return receipt === null ? null : decodeReceipt(receipt);
}

export async function nonceOf(node: TempoNode, owner: string, key: bigint, signal: AbortSignal): Promise<bigint> {
  if (key === PROTOCOL_NONCE_KEY) return BigInt((await request(node, 'eth_getTransactionCount', [owner, 'latest'], signal)) as string);
  const data = encodeFunctionData({ ...GET_NONCE, args: [owner.toLowerCase() as Hex, key] });
  return BigInt(await callOn(node, { to: Addresses.nonceManager, data }, signal));
}

/** Reads a receipt as RPCs send it. Throws when it is none. */
export function decodeReceipt(value: unknown): TempoReceipt {
  const { status, blockNumber, logs } = value as { status: string; blockNumber: string; logs: TempoReceipt['logs'] };
  return { succeeded: BigInt(status) === 1n, block: BigInt(blockNumber), logs };
}

const hexOf = (number: bigint): Hex => `0x${number.toString(16)}`;

interface Call {
  from?: string;
  to: string;
  data: Hex;
  gas?: string;
  feeToken?: string;
  maxFeePerGas?: string;
}

async function callOn(node: TempoNode, call: Call, signal: AbortSignal): Promise<Hex> {
  return (await request(node, 'eth_call', [call, 'latest'], signal)) as Hex;
}

/** Why the call itself failed; null when the error is the RPC's own trouble. */
function revertOf(error: unknown): string | null {
  if (!(error instanceof JsonRpcError) || !/revert|gas|OOG|insufficient|fee token/i.test(error.message)) return null;
  const { data, message } = error;
  if (typeof data !== 'string' || data.length < 10) return message.slice(0, 120);
  try {
    return decodeErrorResult({ abi: Abis.abis, data: data as Hex }).errorName;
  } catch {
    return message.slice(0, 120);
  }
}
