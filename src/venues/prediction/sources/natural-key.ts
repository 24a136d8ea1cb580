import crypto from 'node:crypto';
import type { DataApiRow } from './data-api-row';

/**
 * Gives each row of one page its id: the first 16 bytes of SHA-256, as a UUID, over (transaction hash or, where there is
 * none, the second it happened, wallet, condition and token, side, size, price, n). n is the running number among equal rows of the page:
 * one transaction may hold many equal fills of a wallet, and the upstream has no log index.
 */
export class NaturalKeys {
  private readonly seen = new Map<string, number>();

  idOf(row: DataApiRow): string {
    const key = [
      row.tx_hash ?? `@${row.timestamp.getTime() / 1_000}`,
      row.wallet,
      row.condition_id,
      row.token_id ?? '',
      row.side,
      row.size,
      row.price ?? '',
    ].join('|');
    const mark = digest(key);
    const n = (this.seen.get(mark) ?? 0) + 1;
    this.seen.set(mark, n);
    return uuid(n === 1 ? mark : digest(`${key}|${n}`));
  }
}

const digest = (text: string): string => crypto.hash('sha256', text).slice(0, 32);

const uuid = (hex: string): string => `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
