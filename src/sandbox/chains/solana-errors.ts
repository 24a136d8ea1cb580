import type { FailedTransactionMetadata } from 'litesvm/dist/internal.js';
import type { RpcError } from './rpc-faults';

/** A transaction error as the Solana RPC writes it: a name, or one name with its content. */
export type TransactionError = string | Record<string, unknown>;

/** Thrown by a method; answered as a JSON-RPC error. */
export class RpcFailure extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }

  toRpc(): RpcError {
    return { code: this.code, message: this.message, ...(this.data === undefined ? {} : { data: this.data }) };
  }
}

// In the order of the numbers LiteSVM 1.4.1 gives (its TransactionErrorFieldless, InstructionErrorFieldless).
export const TRANSACTION_ERRORS =
  'AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee InvalidAccountForFee AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure ClusterMaintenance AccountBorrowOutstanding WouldExceedMaxBlockCostLimit UnsupportedVersion InvalidWritableAccount WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit TooManyAccountLocks AddressLookupTableNotFound InvalidAddressLookupTableOwner InvalidAddressLookupTableData InvalidAddressLookupTableIndex InvalidRentPayingAccount WouldExceedMaxVoteCostLimit WouldExceedAccountDataTotalLimit MaxLoadedAccountsDataSizeExceeded ResanitizationNeeded InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction ProgramCacheHitMaxLimit CommitCancelled'.split(
    ' ',
  );
export const INSTRUCTION_ERRORS =
  'GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall InsufficientFunds IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount UnbalancedInstruction ModifiedProgramId ExternalAccountLamportSpend ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified DuplicateAccountIndex ExecutableModified RentEpochModified NotEnoughAccountKeys AccountDataSizeChanged AccountNotExecutable AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync InvalidError ExecutableDataModified ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId CallDepth MissingAccount ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ComputationalBudgetExceeded PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile Immutable IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow UnsupportedSysvar IllegalOwner MaxAccountsDataAllocationsExceeded MaxAccountsExceeded MaxInstructionTraceLengthExceeded BuiltinProgramsMustConsumeComputeUnits BorshIoError'.split(
    ' ',
  );

// How the Solana runtime words them (solana-transaction-error and solana-instruction-error, Display).
const SENTENCES: Record<string, string> = {
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  ProgramAccountNotFound: 'Attempt to load a program that does not exist',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  InvalidAccountForFee: 'This account may not be used to pay transaction fees',
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  SignatureFailure: 'Transaction did not pass signature verification',
  SanitizeFailure: 'Transaction failed to sanitize accounts offsets correctly',
  InvalidAccountData: 'invalid account data for instruction',
  InsufficientFunds: 'insufficient funds for instruction',
  IncorrectProgramId: 'incorrect program id for instruction',
  MissingRequiredSignature: 'missing required signature for instruction',
  ComputationalBudgetExceeded: 'Computational budget exceeded',
  InvalidAccountOwner: 'Invalid account owner',
  IllegalOwner: 'Provided owner is not allowed',
  ProgramFailedToComplete: 'Program failed to complete',
};

const named = (names: string[], index: number): string => names[index] ?? `Unknown${index}`;

/** LiteSVM's numbered error in the words of the RPC. */
export function decodeError(error: ReturnType<FailedTransactionMetadata['err']>): TransactionError {
  if (typeof error === 'number') return named(TRANSACTION_ERRORS, error);
  if ('err' in error) {
    const inner = error.err();
    if (typeof inner === 'number') return { InstructionError: [error.index, named(INSTRUCTION_ERRORS, inner)] };
    return { InstructionError: [error.index, 'code' in inner ? { Custom: inner.code } : 'BorshIoError'] };
  }
  const name = error.constructor.name.replace(/^TransactionError/, '');
  return 'accountIndex' in error ? { [name]: { account_index: error.accountIndex } } : { [name]: error.index };
}

/** The sentence of the runtime, as it stands in the message of a failed preflight. */
export function describeError(error: TransactionError): string {
  if (typeof error === 'string') return SENTENCES[error] ?? error;
  const instruction = error.InstructionError as [number, string | { Custom: number }] | undefined;
  if (instruction === undefined) return JSON.stringify(error);
  const [index, inner] = instruction;
  const text = typeof inner === 'string' ? (SENTENCES[inner] ?? inner) : `custom program error: 0x${inner.Custom.toString(16)}`;
  return `Error processing Instruction ${index}: ${text}`;
}
