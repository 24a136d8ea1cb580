import { groupedBy } from '../../../lib/grouped';
import { fixed } from '../positions/fixed';

/** A row of a wallet's history; amounts are exact decimal texts. */
export interface BookFact {
  trade_id: string;
  wallet: string;
  condition_id: string;
  token_id: string | null;
  side: string;
  size: string;
  usdc_size: string;
  timestamp: Date;
  tx_hash: string | null;
}

// Within one second shares come before they go; a conversion stands between.
const RANKS: Record<string, number> = { BUY: 0, SPLIT: 0, CONVERSION: 1 };
const rankOf = ({ side }: BookFact): number => RANKS[side] ?? 2;
/** The order in which facts of a wallet act. */
export const inOrder = (a: BookFact, b: BookFact): number =>
  a.timestamp.getTime() - b.timestamp.getTime() || rankOf(a) - rankOf(b) || (a.trade_id < b.trade_id ? -1 : 1);

/** What is one event of a wallet: a transaction, or a second where the transaction is not known. */
const eventOf = ({ tx_hash, timestamp }: BookFact): string => tx_hash ?? `@${timestamp.getTime()}`;

/** The rows of each conversion, by its first: a conversion takes as many shares of each market it names, and names it once; an event may hold several. */
export function conversionsOf(ordered: readonly BookFact[]): Map<BookFact, BookFact[]> {
  const rows = ordered.filter(({ side }) => side === 'CONVERSION');
  const conversions = [...groupedBy(rows, (row) => `${eventOf(row)} ${fixed(row.size)}`).values()].flatMap((alike) => {
    const apart: BookFact[][] = [];
    for (const row of alike) {
      const open = apart.find((one) => one.every(({ condition_id }) => condition_id !== row.condition_id));
      if (open === undefined) apart.push([row]);
      else open.push(row);
    }
    return apart;
  });
  return new Map(conversions.map((one) => [one[0] as BookFact, one]));
}
