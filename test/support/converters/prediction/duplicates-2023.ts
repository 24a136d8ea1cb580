/** A row of trades-duplicates-2023: rows that stood twice in somebody's store, half of them with a time in a wrong unit. */
export type DuplicateTrade = Record<
  'condition_id' | 'token_id' | 'side' | 'price' | 'size' | 'outcome_label' | 'wallet' | 'tx_hash' | 'traded_at_epoch_s',
  string
>;

/** The row as a CSV export of `/trades` would hold it. */
export function tradeOfDuplicate(row: DuplicateTrade): Record<string, string> {
  return {
    proxyWallet: row.wallet,
    side: row.side,
    asset: row.token_id,
    conditionId: row.condition_id,
    size: row.size,
    price: row.price,
    timestamp: row.traded_at_epoch_s,
    outcome: row.outcome_label,
    transactionHash: `0x${row.tx_hash}`,
  };
}
