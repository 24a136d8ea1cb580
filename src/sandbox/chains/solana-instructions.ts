import bs58 from 'bs58';
import { SystemProgram } from '@solana/web3.js';
import { ASSOCIATED_TOKEN_PROGRAM } from '../../chains/solana';
import { TOKEN_2022_PROGRAM, isTokenProgram, uiTokenAmount } from './solana-tokens';

/** One instruction of a message, or one that a program called; indexes count in the transaction's keys. */
export interface RawInstruction {
  program_index: number;
  accounts: number[];
  data: Uint8Array;
  depth: number;
}

interface Parsed {
  program: string;
  parsed: unknown;
}

const MEMO_PROGRAMS = ['MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'];
// Instruction tags: spl-token instruction.rs, system_instruction.rs, spl-associated-token-account instruction.rs.
const TOKEN_TRANSFER = 3;
const TOKEN_TRANSFER_CHECKED = 12;
const SYSTEM_TRANSFER = 2;
const ATA_TYPES = ['create', 'createIdempotent'];

function parseToken(program: string, data: Buffer, accounts: string[]): Parsed | undefined {
  const name = program === TOKEN_2022_PROGRAM ? 'spl-token-2022' : 'spl-token';
  if (data[0] === TOKEN_TRANSFER_CHECKED && data.length === 10 && accounts.length >= 4) {
    const [source, mint, destination, authority] = accounts;
    const tokenAmount = uiTokenAmount(data.readBigUInt64LE(1), data[9] as number);
    return { program: name, parsed: { type: 'transferChecked', info: { source, mint, destination, authority, tokenAmount } } };
  }
  if (data[0] === TOKEN_TRANSFER && data.length === 9 && accounts.length >= 3) {
    const [source, destination, authority] = accounts;
    return {
      program: name,
      parsed: { type: 'transfer', info: { source, destination, authority, amount: data.readBigUInt64LE(1).toString() } },
    };
  }
  return undefined;
}

function parseSystem(data: Buffer, accounts: string[]): Parsed | undefined {
  if (data.length !== 12 || data.readUInt32LE(0) !== SYSTEM_TRANSFER) return undefined;
  const [source, destination] = accounts;
  return { program: 'system', parsed: { type: 'transfer', info: { source, destination, lamports: Number(data.readBigUInt64LE(4)) } } };
}

function parseAta(data: Buffer, accounts: string[]): Parsed | undefined {
  const type = ATA_TYPES[data[0] ?? 0];
  if (type === undefined || accounts.length < 6) return undefined;
  const [source, account, wallet, mint, systemProgram, tokenProgram] = accounts;
  return {
    program: 'spl-associated-token-account',
    parsed: { type, info: { source, account, wallet, mint, systemProgram, tokenProgram } },
  };
}

function parse(program: string, data: Buffer, accounts: string[]): Parsed | undefined {
  if (isTokenProgram(program)) return parseToken(program, data, accounts);
  if (MEMO_PROGRAMS.includes(program)) return { program: 'spl-memo', parsed: data.toString('utf8') };
  if (program === SystemProgram.programId.toBase58()) return parseSystem(data, accounts);
  if (program === ASSOCIATED_TOKEN_PROGRAM) return parseAta(data, accounts);
  return undefined;
}

/** As the RPC writes it under jsonParsed: parsed where we know the program and the instruction, else accounts and base58 data. */
export function parseInstruction(raw: RawInstruction, keys: string[]): Record<string, unknown> {
  const programId = keys[raw.program_index] as string;
  const accounts = raw.accounts.map((index) => keys[index] as string);
  const parsed = parse(programId, Buffer.from(raw.data), accounts);
  if (parsed !== undefined) return { ...parsed, programId, stackHeight: raw.depth };
  return { programId, accounts, data: bs58.encode(raw.data), stackHeight: raw.depth };
}
