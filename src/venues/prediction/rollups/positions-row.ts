import { fixed, plain } from '../positions/fixed';

type PositionStatus = 'open' | 'closed' | 'resolved' | 'voided';

/** Amounts of a position, in the words of pm_position. */
const AMOUNTS = [
  'shares',
  'redeemed_shares',
  'cost',
  'paid_shares',
  'paid_usdc',
  'received_shares',
  'received_usdc',
  'payout_usdc',
  'settled_cost',
  'unseen_shares',
  'gain_sell',
  'gain_merge',
  'gain_conversion',
  'gain_resolution',
  'buy_usdc',
  'sell_usdc',
] as const;

type Amount = (typeof AMOUNTS)[number];

/** Amounts one by one, written out: objects made from a list of entries have no shape that the engine can be quick with. */
function amountsBy<Value>(of: (amount: Amount) => Value): Record<Amount, Value> {
  return {
    shares: of('shares'),
    redeemed_shares: of('redeemed_shares'),
    cost: of('cost'),
    paid_shares: of('paid_shares'),
    paid_usdc: of('paid_usdc'),
    received_shares: of('received_shares'),
    received_usdc: of('received_usdc'),
    payout_usdc: of('payout_usdc'),
    settled_cost: of('settled_cost'),
    unseen_shares: of('unseen_shares'),
    gain_sell: of('gain_sell'),
    gain_merge: of('gain_merge'),
    gain_conversion: of('gain_conversion'),
    gain_resolution: of('gain_resolution'),
    buy_usdc: of('buy_usdc'),
    sell_usdc: of('sell_usdc'),
  };
}

/** A row of pm_position; amounts are exact decimal texts. */
export interface PositionRow extends Record<Amount, string> {
  condition_id: string;
  wallet: string;
  token_id: string;
  status: PositionStatus;
  /** Realized so far. */
  gain: string;
  trades: number;
  payout: string | null;
  settled_at: Date | null;
  opened_at: Date;
  closed_at: Date | null;
  last_trade_at: Date | null;
  last_fact_at: Date;
  last_at: Date;
}

/** Columns of pm_position in the words of PositionRow, and their types. */
export const POSITION_COLUMNS: readonly (readonly [keyof PositionRow, string])[] = [
  ['condition_id', 'text'],
  ['wallet', 'text'],
  ['token_id', 'text'],
  ['status', 'text'],
  ...AMOUNTS.map((amount) => [amount, 'numeric'] as const),
  ['gain', 'numeric'],
  ['trades', 'int'],
  ['payout', 'numeric'],
  ['settled_at', 'timestamptz'],
  ['opened_at', 'timestamptz'],
  ['closed_at', 'timestamptz'],
  ['last_trade_at', 'timestamptz'],
  ['last_fact_at', 'timestamptz'],
  ['last_at', 'timestamptz'],
];
export const POSITION_NAMES = POSITION_COLUMNS.map(([name]) => name);

/** SQL of what the shares held at resolution had cost on average: what they pay less what that gained; of what was traded later the mean price tells it. */
const SETTLED_COST = `CASE WHEN last_trade_at > settled_at THEN shares * paid_usdc / paid_shares ELSE payout_usdc - gain_resolution END`;

/** SQL of what the shares held cost on average. */
export const COST = `CASE WHEN status IN ('resolved', 'voided') THEN ${SETTLED_COST} ELSE cost END`;

/** A position while it is worked on: exact amounts, times in milliseconds. */
export interface Position extends Record<Amount, bigint> {
  condition_id: string;
  token_id: string;
  status: PositionStatus;
  trades: number;
  payout: bigint | null;
  settled_at: number | null;
  opened_at: number;
  closed_at: number | null;
  last_trade_at: number | null;
  last_fact_at: number;
}

/** A position of nothing. */
export function openPosition(condition_id: string, token_id: string, opened_at: number): Position {
  const amounts = amountsBy(() => 0n);
  return {
    condition_id,
    token_id,
    status: 'open',
    ...amounts,
    trades: 0,
    payout: null,
    settled_at: null,
    opened_at,
    closed_at: null,
    last_trade_at: null,
    last_fact_at: opened_at,
  };
}

export function readPosition(row: PositionRow): Position {
  const amounts = amountsBy((amount) => fixed(row[amount]));
  return {
    condition_id: row.condition_id,
    token_id: row.token_id,
    status: row.status,
    ...amounts,
    trades: row.trades,
    payout: row.payout === null ? null : fixed(row.payout),
    settled_at: row.settled_at && row.settled_at.getTime(),
    opened_at: row.opened_at.getTime(),
    closed_at: row.closed_at && row.closed_at.getTime(),
    last_trade_at: row.last_trade_at && row.last_trade_at.getTime(),
    last_fact_at: row.last_fact_at.getTime(),
  };
}

const dateOf = (time: number | null): Date | null => (time === null ? null : new Date(time));

/** The row of a position; `last` is the time of the wallet's newest row on the market. */
export function writePosition(position: Position, wallet: string, last: number): PositionRow {
  const amounts = amountsBy((amount) => plain(position[amount]));
  const { condition_id, token_id, status, trades, gain_sell, gain_merge, gain_conversion, gain_resolution } = position;
  return {
    condition_id,
    wallet,
    token_id,
    // Sold out without any share seen to come: it ended when it began.
    status: position.paid_shares === 0n && status === 'open' ? 'closed' : status,
    ...amounts,
    gain: plain(gain_sell + gain_merge + gain_conversion + gain_resolution),
    trades,
    payout: position.payout === null ? null : plain(position.payout),
    settled_at: dateOf(position.settled_at),
    opened_at: new Date(position.opened_at),
    closed_at: dateOf(position.closed_at),
    last_trade_at: dateOf(position.last_trade_at),
    last_fact_at: new Date(last),
    last_at: new Date(Math.max(last, position.settled_at ?? 0)),
  };
}
