/**
 * One row of a trader-data export with the columns `Account, Coin, Execution Price, Size Tokens, Side, Timestamp IST,
 * Start Position, Direction, Closed PnL, Transaction Hash, Order ID, Crossed, Fee, …` as a `[user, fill]` pair of the upstream.
 * Its Trade ID and Timestamp columns are rounded by a spreadsheet and left out; the clock is UTC+5:30, to the minute.
 */
export function upstreamFill(row: Record<string, string>): [string, Record<string, unknown>] {
  const [, day, month, year, hour, minute] = /^(\d{1,2})-(\d{1,2})-(\d{4}) (\d{1,2}):(\d\d)$/.exec(row['Timestamp IST'] ?? '') ?? [];
  const time = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute)) - 330 * 60_000;
  return [
    row.Account as string,
    {
      coin: row.Coin,
      px: row['Execution Price'],
      sz: row['Size Tokens'],
      side: row.Side === 'BUY' ? 'B' : 'A',
      time,
      startPosition: row['Start Position'],
      dir: row.Direction,
      closedPnl: row['Closed PnL'],
      hash: row['Transaction Hash'],
      oid: row['Order ID'],
      crossed: row.Crossed,
      fee: row.Fee,
    },
  ];
}
