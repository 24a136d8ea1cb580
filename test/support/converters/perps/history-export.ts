/** A row of the trade history that the venue's page exports; `closedPnl` is after fees. */
export type ExportedFill = Record<'time' | 'coin' | 'dir' | 'px' | 'sz' | 'fee' | 'closedPnl', string>;

const text = (value: number): string => (Math.round(value * 1e8) / 1e8).toFixed(8);

/**
 * The rows as `[user, fill]` pairs of the upstream, PnL before fees. The export has no ids (rows are numbered), no positions (kept from
 * flat; a close of more than is known began before the export) and local times (read as UTC); "(Price Improved)" is the page's own remark.
 */
export function blocksOfExport(rows: readonly ExportedFill[], account: string): [string, Record<string, unknown>][] {
  const positions = new Map<string, number>();
  return rows.map((row, index) => {
    const dir = row.dir.replace(' (Price Improved)', '');
    const buys = ['Open Long', 'Close Short', 'Short > Long'].includes(dir);
    const size = Number(row.sz);
    const known = positions.get(row.coin) ?? 0;
    const start = dir === 'Close Long' ? Math.max(known, size) : dir === 'Close Short' ? Math.min(known, -size) : known;
    positions.set(row.coin, start + (buys ? size : -size));
    const [, day, month, year, clock] = /^(\d\d)\/(\d\d)\/(\d{4}) - ([\d:]+)$/.exec(row.time) as unknown as string[];
    return [
      account,
      {
        coin: row.coin,
        px: row.px,
        sz: row.sz,
        side: buys ? 'B' : 'A',
        time: Date.parse(`${year}-${month}-${day}T${clock}Z`),
        startPosition: text(start),
        dir,
        closedPnl: text(Number(row.closedPnl) + Number(row.fee)),
        hash: `0x${(index + 1).toString(16).padStart(64, '0')}`,
        oid: index + 1,
        tid: index + 1,
        crossed: Number(row.fee) > 0,
        fee: row.fee,
        feeToken: 'USDC',
      },
    ];
  });
}
