import crypto from 'node:crypto';
import bs58 from 'bs58';

/** A row of dlmm-pools-2024-09-22.ndjson.gz: an author's own keys for the upstream's list. */
export interface RecordedPool {
  address: string;
  name: string;
  mintX: string;
  mintY: string;
  binStep: number;
  baseFeePpm: number;
}

/** The same pool as `/pair/all` gives it. The record has no reserves, volume or liquidity, so they stay away. */
export function pairInfoOf(row: RecordedPool): Record<string, unknown> {
  const { address, name, mintX, mintY, binStep, baseFeePpm } = row;
  return {
    address,
    name,
    mint_x: mintX,
    mint_y: mintY,
    bin_step: binStep,
    base_fee_percentage: String(baseFeePpm / 10_000),
    hide: false,
    is_blacklisted: false,
  };
}

/** A row of token-list-2024-09-22.ndjson.gz. */
export interface RecordedToken {
  mint: string;
  name: string;
  symbol: string;
  decimals: number;
}

/** The same token as the upstream's list gives it. */
export function listedTokenOf({ mint, ...rest }: RecordedToken): Record<string, unknown> {
  return { address: mint, ...rest };
}

/** A row of lp-closed-positions-pnl: a bot's own ledger of positions it closed. */
export interface RecordedClosedPosition {
  pool: string;
  base_mint: string;
  position?: string;
  pnl_usd: number;
  fees_earned_usd: number;
  initial_value_usd: number;
  initial_value_sol: number;
  sol_usd_at_entry?: number;
  sol_usd_at_close?: number;
  deployed_at_meteora?: string;
  closed_at_meteora?: string;
}

const SOL = 'So11111111111111111111111111111111111111112';
/** Transaction ids and owner are not in the ledger: derived, the same each time. */
const derived = (bytes: 32 | 64, ...parts: string[]): string =>
  bs58.encode(
    crypto
      .createHash(bytes === 32 ? 'sha256' : 'sha512')
      .update(parts.join('/'))
      .digest(),
  );

/** Whom the recorded positions belong to here. */
export const OWNER = derived(32, 'owner', 'recorded bot');

/** A row of pool-participants: that a wallet was seen among a pool's providers. */
export interface RecordedMembership {
  pool: string;
  wallet: string;
  first_seen: string;
}

/** The membership as a deposit of nothing at the time of the first sighting: amounts, tokens and positions are not on record. */
export function membershipOf({ pool, wallet, first_seen }: RecordedMembership): { events: Record<string, unknown>[] } {
  const event = {
    signature: derived(64, 'signature', pool, wallet),
    ixIndex: 1,
    slot: null,
    blockTime: Date.parse(`${first_seen}Z`) / 1_000,
    eventType: 'add',
    userAddress: wallet,
    poolAddress: pool,
    positionAddress: derived(32, 'position', pool, wallet),
    tokenX: derived(32, 'mint', pool),
    tokenY: SOL,
  };
  return { events: [{ ...event, amountX: '0', amountY: '0', amountXUsd: '0', amountYUsd: '0', totalUsd: '0' }] };
}

/**
 * The deposit, withdrawal and claim that the ledger implies, as `/positions/{position}/historical` would list them; null
 * for a row without position address, times or value.
 */
export function historyOf(row: RecordedClosedPosition): { events: Record<string, unknown>[] } | null {
  const { pool, position, deployed_at_meteora: opened, closed_at_meteora: closed, initial_value_usd: deposited } = row;
  if (position === undefined || opened === undefined || closed === undefined || !(deposited > 0)) return null;
  const event = (eventType: string, at: string, ixIndex: number, usd: number, sol: number): Record<string, unknown> => ({
    signature: derived(64, 'signature', position, eventType),
    ixIndex,
    slot: null,
    blockTime: Date.parse(at) / 1000,
    eventType,
    userAddress: OWNER,
    poolAddress: pool,
    positionAddress: position,
    tokenX: row.base_mint,
    tokenY: SOL,
    amountX: '0',
    amountY: sol.toFixed(9),
    amountXUsd: '0',
    amountYUsd: usd.toFixed(6),
    totalUsd: usd.toFixed(6),
  });
  const withdrawn = Math.max(0, deposited + row.pnl_usd - row.fees_earned_usd);
  const solAtClose = row.sol_usd_at_close ?? deposited / row.initial_value_sol;
  return {
    events: [
      event('claim_fee', closed, 3, row.fees_earned_usd, row.fees_earned_usd / solAtClose),
      event('remove', closed, 2, withdrawn, withdrawn / solAtClose),
      event('add', opened, 2, deposited, row.initial_value_sol),
    ],
  };
}
