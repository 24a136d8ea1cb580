import crypto from 'node:crypto';
import { canonicalEvmAddress } from '../../../lib/address';
import { isAmount, storable } from '../../../lib/storable';
import { isTold } from '../../../lib/timeframe';
import { isSpotOrOutcome, isPerpCoin } from '../coin';

/** One fill as we keep it: decimals stay the upstream's text, `time` is in milliseconds. */
export interface Fill {
  coin: string;
  trader: string;
  tid: string;
  oid: string;
  time: number;
  is_buy: boolean;
  price: string;
  size: string;
  start_position: string;
  closed_pnl: string;
  fee_usd: string | null;
  is_taker: boolean | null;
  is_liquidation: boolean;
  /** The match liquidated one of its two accounts, not necessarily this one. */
  liquidates: boolean;
  dir: string;
  tx_hash: string | null;
}

/** A fill with its order among those of the same millisecond. */
export interface OrderedFill extends Fill {
  seq: number;
}

export type SkipReason =
  | 'malformed'
  | 'spot'
  | 'outcome'
  | 'bad_coin'
  | 'no_account'
  | 'bad_account'
  | 'bad_side'
  | 'bad_number'
  | 'bad_time'
  | 'aggregated';

/** No question asks for these. */
export const OUT_OF_SCOPE: readonly SkipReason[] = ['spot', 'outcome', 'aggregated'];

const SPOT_LABELS: readonly string[] = ['Buy', 'Sell', 'Spot Dust Conversion'];
const DELEVERAGED = 'Auto-Deleveraging';
const LIQUIDATED = 'Liquidated';
/** Label of a settlement. */
export const SETTLEMENT = 'Settlement';
// Collateral of the venue's dexes is one of these; each counts as one dollar.
const DOLLARS: readonly unknown[] = ['USDC', 'USDT0', 'USDT', 'USDH', 'USDE'];
const DECIMAL = /^-?\d{1,30}(\.\d{1,30})?([eE][-+]?\d{1,2})?$/;

/**
 * Decodes one fill of the upstream (info `userFills`, the archives, the websocket, or a CSV with the same column names) as
 * the account's. Returns why where it cannot be kept. Unknown fields are ignored; `tid`, `feeToken`, `crossed`, `liquidation`
 * may be missing (recordings of 2023 lack them).
 */
export function decodeFill(account: string | undefined, raw: unknown): Fill | SkipReason {
  if (typeof raw !== 'object' || raw === null) return 'malformed';
  const fill = raw as Record<string, unknown>;
  if (typeof fill.coin !== 'string') return 'malformed';
  const scope = isSpotOrOutcome(fill.coin);
  if (scope !== null) return scope;
  const dir = typeof fill.dir === 'string' ? storable(fill.dir) : '';
  if (SPOT_LABELS.includes(dir)) return 'spot';
  if (!isPerpCoin(fill.coin)) return 'bad_coin';
  if (account === undefined) return 'no_account';
  const trader = canonicalEvmAddress(account);
  if (trader === undefined) return 'bad_account';
  if (fill.side !== 'B' && fill.side !== 'A') return 'bad_side';
  const time = decodeTime(fill.time);
  if (time === undefined) return 'bad_time';
  const amounts = decodeAmounts(fill);
  if (amounts === undefined) return 'bad_number';
  const liquidated = liquidatedUser(fill.liquidation);
  const is_buy = fill.side === 'B';
  const deleveraged = dir.startsWith(DELEVERAGED);
  const decoded: Fill = {
    coin: fill.coin,
    trader,
    oid: integer(fill.oid) ?? '0',
    tid: integer(fill.tid) ?? '0',
    time,
    is_buy,
    ...amounts,
    // A settlement says that it crossed.
    is_taker: isSettlement({ dir }) ? null : decodeBoolean(fill.crossed),
    is_liquidation: deleveraged || (liquidated === undefined ? isLiquidated(dir, is_buy) : liquidated === trader),
    liquidates: deleveraged || liquidated !== undefined || dir.startsWith(LIQUIDATED),
    dir,
    tx_hash: decodeHash(fill.hash),
  };
  if (decoded.tid === '0') decoded.tid = derivedTid(decoded);
  return decoded;
}

function decodeAmounts(
  fill: Record<string, unknown>,
): Pick<Fill, 'price' | 'size' | 'start_position' | 'closed_pnl' | 'fee_usd'> | undefined {
  const price = decimal(fill.px);
  const size = decimal(fill.sz);
  const start = decimal(fill.startPosition);
  const pnl = decimal(fill.closedPnl);
  const fee = decimal(fill.fee);
  if (price === undefined || size === undefined || start === undefined || pnl === undefined) return undefined;
  if (Number(price) <= 0 || Number(size) <= 0) return undefined;
  const token = fill.feeToken;
  const inDollars = token === undefined || token === null || token === '' || DOLLARS.includes(token);
  return { price, size, start_position: start, closed_pnl: pnl, fee_usd: fee !== undefined && inDollars ? fee : null };
}

function decimal(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && DECIMAL.test(text) && isAmount(text.replace(/^-/, '')) ? text : undefined;
}

function integer(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^\d{1,18}$/.test(text) ? text.replace(/^0+(?=\d)/, '') : undefined;
}

/** Milliseconds as number or digits, or `YYYY-MM-DD HH:MM:SS[.fff]` read as UTC; undefined outside 2018-2099. */
export function decodeTime(value: unknown): number | undefined {
  let time = Number.NaN;
  if (typeof value === 'number') time = value;
  else if (typeof value === 'string' && /^\d+$/.test(value)) time = Number(value);
  else if (typeof value === 'string') {
    const parts = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,9})?Z?$/.exec(value);
    if (parts !== null) time = Date.parse(`${parts[1]}T${parts[2]}${(parts[3] ?? '.000').padEnd(4, '0').slice(0, 4)}Z`);
  }
  return Number.isInteger(time) && isTold(time) ? time : undefined;
}

function decodeBoolean(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text === 'true') return true;
  return text === 'false' ? false : null;
}

/** All zeros stands for none: slices of a TWAP order have no transaction of their own. */
function decodeHash(value: unknown): string | null {
  return typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value) && !/^0x0+$/.test(value) ? value.toLowerCase() : null;
}

/** Whoever takes a liquidated position over (`Liquidated Cross Long`) has the same label: a long is sold by the account that is liquidated, a short bought. */
const isLiquidated = (dir: string, is_buy: boolean): boolean => dir.startsWith(LIQUIDATED) && !dir.endsWith(is_buy ? 'Long' : 'Short');

function liquidatedUser(value: unknown): string | undefined {
  const user = (value as { liquidatedUser?: unknown } | null | undefined)?.liquidatedUser;
  return typeof user === 'string' ? canonicalEvmAddress(user) : undefined;
}

/** A trade id for a record without one: negative, the same for the same record. */
function derivedTid(fill: Fill): string {
  const amounts = [fill.price, fill.size, fill.start_position].map(Number);
  const content = [fill.trader, fill.coin, fill.time, fill.oid, fill.is_buy, ...amounts, fill.tx_hash].join('|');
  const bits = crypto.createHash('sha256').update(content).digest().readBigUInt64BE() >> 12n;
  return `-${bits + 1n}`;
}

/** Whether no trade id was told of the fill. */
export const isDerived = ({ tid }: Pick<Fill, 'tid'>): boolean => tid.startsWith('-');

/** A settlement (of a coin that is taken off) is booked by the venue, one account at a time: nobody is on the other side. */
export const isSettlement = ({ dir }: Pick<Fill, 'dir'>): boolean => dir === SETTLEMENT;

/** The natural key: an account's part in one trade. */
export function keyOf(fill: Pick<Fill, 'coin' | 'trader' | 'tid' | 'oid' | 'time'>): string {
  return `${fill.coin}|${fill.trader}|${fill.tid}|${fill.oid}|${fill.time}`;
}
