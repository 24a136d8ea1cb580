import bs58 from 'bs58';
import { ComputeBudgetProgram, VersionedMessage } from '@solana/web3.js';
import type { Landed, SolanaBank } from './solana-bank';
import { type TransactionError, RpcFailure, describeError } from './solana-errors';
import { accountJson, innerInstructionsJson, transactionJson } from './solana-json';
import { type Config, type Method, addressOf, bytesOf, configOf, listOf, textOf, withContext } from './solana-params';

const LAMPORTS_PER_SIGNATURE = 5_000n;
const DEFAULT_UNITS_PER_INSTRUCTION = 200_000n;
const MICRO = 1_000_000n;
/** Blocks the status cache covers without searchTransactionHistory (MAX_RECENT_BLOCKHASHES). */
const RECENT_STATUSES = 300;

/** 5,000 lamports a signature, plus price x limit of the compute budget rounded up (Solana fee rules). */
function feeOf(message: VersionedMessage): bigint {
  let price = 0n;
  let units: bigint | undefined;
  for (const instruction of message.compiledInstructions) {
    if (!message.staticAccountKeys[instruction.programIdIndex]?.equals(ComputeBudgetProgram.programId)) continue;
    const data = Buffer.from(instruction.data);
    if (data[0] === 2) units = BigInt(data.readUInt32LE(1));
    if (data[0] === 3) price = data.readBigUInt64LE(1);
  }
  const limit = units ?? DEFAULT_UNITS_PER_INSTRUCTION * BigInt(message.compiledInstructions.length);
  return LAMPORTS_PER_SIGNATURE * BigInt(message.header.numRequiredSignatures) + (price * limit + MICRO - 1n) / MICRO;
}

function simulationJson(
  bank: SolanaBank,
  run: ReturnType<SolanaBank['simulate']>,
  config: Config,
  keys: string[],
): Record<string, unknown> {
  const asked = config.accounts;
  const after = asked === undefined ? undefined : run.accounts();
  const accounts =
    asked?.addresses.map((address) =>
      accountJson(bank, after?.get(address) ?? bank.account(address), { encoding: asked.encoding ?? 'base64' }),
    ) ?? null;
  const returned = run.meta?.returnData();
  const returnData =
    returned === undefined || returned.data().length === 0
      ? null
      : { programId: bs58.encode(returned.programId()), data: [Buffer.from(returned.data()).toString('base64'), 'base64'] };
  const innerInstructions = config.innerInstructions === true ? innerInstructionsJson(run.meta, keys) : null;
  return { err: run.err, logs: run.logs, accounts, unitsConsumed: run.units, returnData, innerInstructions, replacementBlockhash: null };
}

function simulateTransaction(bank: SolanaBank, params: unknown[]): unknown {
  const config = configOf(params, 1);
  const replace = config.replaceRecentBlockhash === true;
  if (replace && config.sigVerify === true) throw new RpcFailure(-32602, 'sigVerify may not be used with replaceRecentBlockhash');
  const decoded = bank.decode(bytesOf(textOf(params, 0), config.encoding));
  const run = bank.simulate(decoded, { sigVerify: config.sigVerify === true, checkBlockhash: !replace });
  refuseBadSignature(run.err);
  const value = simulationJson(bank, run, config, decoded.keys);
  if (replace) value.replacementBlockhash = bank.clock.latest(config.commitment ?? 'finalized');
  return withContext(bank, config, value);
}

function refuseBadSignature(err: TransactionError | null): void {
  if (err === 'SignatureFailure') throw new RpcFailure(-32003, 'Transaction signature verification failure');
}

function sendTransaction(bank: SolanaBank, params: unknown[]): unknown {
  const config = configOf(params, 1);
  const decoded = bank.decode(bytesOf(textOf(params, 0), config.encoding));
  withContext(bank, config, null);
  if (config.skipPreflight !== true) {
    const run = bank.simulate(decoded, { sigVerify: true, checkBlockhash: true });
    refuseBadSignature(run.err);
    const err = run.err ?? (bank.find(decoded.signature) === undefined ? null : 'AlreadyProcessed');
    if (err !== null)
      throw new RpcFailure(
        -32002,
        `Transaction simulation failed: ${describeError(err)}`,
        simulationJson(bank, { ...run, err }, {}, decoded.keys),
      );
  }
  bank.execute(decoded);
  return decoded.signature;
}

function statusJson(bank: SolanaBank, landed: Landed | undefined, search: boolean): Record<string, unknown> | null {
  if (landed === undefined) return null;
  const age = bank.clock.slot() - landed.slot;
  if (!search && age > RECENT_STATUSES) return null;
  const finalized = bank.clock.isFinalized(landed.slot);
  return {
    slot: landed.slot,
    confirmations: finalized ? null : age,
    err: landed.err,
    status: landed.err === null ? { Ok: null } : { Err: landed.err },
    confirmationStatus: finalized ? 'finalized' : 'confirmed',
  };
}

function getTransaction(bank: SolanaBank, params: unknown[]): unknown {
  const config: Config = typeof params[1] === 'string' ? { encoding: params[1] } : configOf(params, 1);
  const landed = bank.find(textOf(params, 0));
  if (landed === undefined) return null;
  if ((config.commitment ?? 'finalized') === 'finalized' && !bank.clock.isFinalized(landed.slot)) return null;
  if (landed.transaction.version === 0 && config.maxSupportedTransactionVersion === undefined) {
    throw new RpcFailure(
      -32015,
      'Transaction version (0) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0',
    );
  }
  return transactionJson(landed, config.encoding ?? 'json');
}

function getSignaturesForAddress(bank: SolanaBank, params: unknown[]): unknown {
  const address = addressOf(params[0]);
  const { limit = 1_000, before, until, commitment = 'finalized' } = configOf(params, 1);
  const all = bank
    .listLanded()
    .filter((landed) => landed.keys.includes(address) && (commitment !== 'finalized' || bank.clock.isFinalized(landed.slot)));
  const from = before === undefined ? 0 : all.findIndex((landed) => landed.signature === before) + 1;
  const to = until === undefined ? -1 : all.findIndex((landed) => landed.signature === until);
  return all
    .slice(from, to === -1 ? undefined : to)
    .slice(0, limit)
    .map((landed) => ({
      signature: landed.signature,
      slot: landed.slot,
      blockTime: landed.block_time,
      err: landed.err,
      memo: null,
      confirmationStatus: bank.clock.isFinalized(landed.slot) ? 'finalized' : 'confirmed',
    }));
}

function getFeeForMessage(bank: SolanaBank, params: unknown[]): unknown {
  const message = VersionedMessage.deserialize(bytesOf(textOf(params, 0), 'base64'));
  return withContext(bank, configOf(params, 1), bank.clock.isValid(message.recentBlockhash) ? Number(feeOf(message)) : null);
}

function getSignatureStatuses(bank: SolanaBank, params: unknown[]): unknown {
  const search = configOf(params, 1).searchTransactionHistory === true;
  const signatures = listOf(params, 0, 256);
  return withContext(
    bank,
    { commitment: 'processed' },
    signatures.map((signature) => statusJson(bank, bank.find(String(signature)), search)),
  );
}

/** The methods about transactions, by name. */
export const TRANSACTION_METHODS: Record<string, Method> = {
  getFeeForMessage,
  simulateTransaction,
  sendTransaction,
  getSignatureStatuses,
  getSignaturesForAddress,
  getTransaction,
};
