/** A provider's part in a pool in a window. */
export interface PoolProviderRow {
  owner: string;
  /** Deposits and withdrawals, decimal text. */
  volume_usd: string;
  event_count: number;
  last_event: Date;
}
