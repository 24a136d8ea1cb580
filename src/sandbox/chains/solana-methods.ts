import { TOKEN_PROGRAM } from '../../chains/solana-replies';
import type { SolanaBank } from './solana-bank';
import { RpcFailure } from './solana-errors';
import { accountJson } from './solana-json';
import { type Method, VERSION, addressOf, configOf, listOf, textOf, withContext } from './solana-params';
import { decodeTokenAccount, isTokenProgram, TOKEN_2022_PROGRAM, uiTokenAmount } from './solana-tokens';
import { TRANSACTION_METHODS } from './solana-transactions';

const SLOTS_PER_EPOCH = 432_000;

function getTokenAccountsByOwner(bank: SolanaBank, params: unknown[]): unknown {
  const owner = addressOf(params[0]);
  const { mint, programId } = configOf(params, 1) as { mint?: string; programId?: string };
  const config = configOf(params, 2);
  if (mint !== undefined && bank.mint(addressOf(mint)) === undefined) throw new RpcFailure(-32602, 'Invalid param: could not find mint');
  const programs = programId === undefined ? [TOKEN_PROGRAM, TOKEN_2022_PROGRAM] : [addressOf(programId)];
  const found = programs
    .filter(isTokenProgram)
    .flatMap((program) => bank.programAccounts(program))
    .filter((account) => {
      const token = decodeTokenAccount(account.data, account.owner);
      return token?.owner === owner && (mint === undefined || token.mint === mint);
    });
  return withContext(
    bank,
    config,
    found.map((account) => ({ pubkey: account.address, account: accountJson(bank, account, config) })),
  );
}

function getTokenAccountBalance(bank: SolanaBank, params: unknown[]): unknown {
  const token = bank.tokenAccount(addressOf(params[0]));
  if (token === undefined) throw new RpcFailure(-32602, 'Invalid param: could not find account');
  return withContext(bank, configOf(params, 1), uiTokenAmount(token.amount, bank.mint(token.mint)?.decimals ?? 0));
}

function getTokenSupply(bank: SolanaBank, params: unknown[]): unknown {
  const mint = bank.mint(addressOf(params[0]));
  if (mint === undefined) throw new RpcFailure(-32602, 'Invalid param: could not find mint');
  return withContext(bank, configOf(params, 1), uiTokenAmount(mint.supply, mint.decimals));
}

function getEpochInfo(bank: SolanaBank, params: unknown[]): unknown {
  const slot = bank.clock.slot(configOf(params, 0).commitment ?? 'finalized');
  const height = bank.clock.height(slot);
  return {
    absoluteSlot: slot,
    blockHeight: height,
    epoch: Math.floor(slot / SLOTS_PER_EPOCH),
    slotIndex: slot % SLOTS_PER_EPOCH,
    slotsInEpoch: SLOTS_PER_EPOCH,
    transactionCount: bank.count,
  };
}

/** The Solana RPC methods the local chain answers, by name. Each throws RpcFailure for what the real RPC refuses. */
export const SOLANA_METHODS: Record<string, Method> = {
  ...TRANSACTION_METHODS,
  getAccountInfo: (bank, params) =>
    withContext(bank, configOf(params, 1), accountJson(bank, bank.account(addressOf(params[0])), configOf(params, 1))),
  getMultipleAccounts: (bank, params) =>
    withContext(
      bank,
      configOf(params, 1),
      listOf(params, 0, 100).map((address) =>
        accountJson(bank, bank.account(addressOf(address)), { encoding: 'base64', ...configOf(params, 1) }),
      ),
    ),
  getBalance: (bank, params) => withContext(bank, configOf(params, 1), Number(bank.account(addressOf(params[0]))?.lamports ?? 0n)),
  getTokenAccountBalance,
  getTokenAccountsByOwner,
  getTokenSupply,
  getLatestBlockhash: (bank, params) =>
    withContext(bank, configOf(params, 0), bank.clock.latest(configOf(params, 0).commitment ?? 'finalized')),
  isBlockhashValid: (bank, params) => withContext(bank, configOf(params, 1), bank.clock.isValid(textOf(params, 0))),
  getMinimumBalanceForRentExemption: (bank, params) => Number(bank.rentExemption(Number(params[0]))),
  getRecentPrioritizationFees: (bank) => [{ slot: bank.clock.slot(), prioritizationFee: 0 }],
  getSlot: (bank, params) => bank.clock.slot(configOf(params, 0).commitment ?? 'finalized'),
  getBlockHeight: (bank, params) => bank.clock.height(bank.clock.slot(configOf(params, 0).commitment ?? 'finalized')),
  getBlockTime: (bank, params) => bank.clock.unixTime() - Math.round((bank.clock.slot() - Number(params[0])) * 0.4),
  getEpochInfo,
  getFirstAvailableBlock: (bank) => bank.firstSlot,
  getTransactionCount: (bank) => bank.count,
  getGenesisHash: (bank) => bank.genesisHash,
  getHealth: () => 'ok',
  getVersion: () => VERSION,
};
