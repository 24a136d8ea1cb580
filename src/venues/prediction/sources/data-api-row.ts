import { canonicalConditionId, canonicalEvmAddress, isTokenId } from '../../../lib/address';
import { amountText, decimalText } from './decimal-text';
import { decodeInstant } from './instant';
import { type Unusable, isFields, textOf, wordOf } from './record';

/** What changes a wallet's shares. */
type TradeSide = 'BUY' | 'SELL' | 'REDEEM' | 'SPLIT' | 'MERGE' | 'CONVERSION';

/** A row of the Data API (`/trades`, `/activity`) in our own words; amounts are exact decimal texts. */
export interface DataApiRow {
  wallet: string;
  condition_id: string;
  token_id: string | null;
  side: TradeSide;
  /** Of BUY and SELL. */
  price: string | null;
  size: string;
  /** As stated by the upstream, null where it only gives price and size. */
  usdc_size: string | null;
  timestamp: Date;
  tx_hash: string | null;
  title: string | null;
  slug: string | null;
  event_slug: string | null;
  outcome: string | null;
  outcome_index: number | null;
}

/** Activity types that change shares without a trade. */
const MOVES = new Set<string>(['REDEEM', 'SPLIT', 'MERGE', 'CONVERSION']);
/** Cash of a wallet that no question asks for: counted as skipped under their own name. */
const CASH = new Set(['MAKER_REBATE', 'TAKER_REBATE', 'REWARD', 'REFERRAL_REWARD', 'YIELD', 'DEPOSIT', 'WITHDRAWAL', 'TIP', 'MIGRATION']);

/** Reasons for rows that no question asks for. */
export const CASH_REASONS: readonly string[] = [...CASH].map((type) => type.toLowerCase());

/** Whether an object has the columns of a Data API trade or activity row. */
export function looksLikeDataApiRow(record: unknown): boolean {
  return (
    isFields(record) && 'proxyWallet' in record && 'conditionId' in record && 'timestamp' in record && 'size' in record && 'side' in record
  );
}

/** Decodes one row; a CSV row has texts for numbers. Rows without `type` are trades. */
export function decodeDataApiRow(record: unknown): DataApiRow | Unusable {
  if (!isFields(record)) return { skip: 'not_an_object' };
  const type = textOf(record.type)?.toUpperCase() ?? 'TRADE';
  if (CASH.has(type)) return { skip: type.toLowerCase() };
  const side = type === 'TRADE' ? textOf(record.side)?.toUpperCase() : type;
  if (type === 'TRADE' && side !== 'BUY' && side !== 'SELL') return { skip: 'bad_side' };
  if (type !== 'TRADE' && !MOVES.has(type)) return { skip: 'unknown_type' };
  const wallet = canonicalEvmAddress(wordOf(record.proxyWallet));
  if (wallet === undefined) return { skip: 'bad_wallet' };
  const condition_id = canonicalConditionId(wordOf(record.conditionId));
  if (condition_id === undefined) return { skip: 'bad_condition_id' };
  const timestamp = decodeInstant(record.timestamp);
  if (timestamp === undefined) return { skip: 'bad_timestamp' };
  const size = amountText(record.size);
  // Redeeming shares that lost pays nothing: a row of size 0.
  if (size === undefined || (size === '0' && side !== 'REDEEM')) return { skip: 'bad_size' };
  const trade = type === 'TRADE' ? decodeTrade(record) : { price: null, token_id: null };
  if ('skip' in trade) return trade;
  return {
    wallet,
    condition_id,
    side: side as TradeSide,
    timestamp,
    size,
    ...trade,
    usdc_size: amountText(record.usdcSize) ?? null,
    tx_hash: textOf(record.transactionHash)?.toLowerCase() ?? null,
    title: textOf(record.title) ?? null,
    slug: textOf(record.slug) ?? null,
    event_slug: textOf(record.eventSlug) ?? null,
    outcome: textOf(record.outcome) ?? null,
    outcome_index: indexOf(record.outcomeIndex),
  };
}

function decodeTrade(record: Record<string, unknown>): { price: string; token_id: string } | Unusable {
  const token_id = wordOf(record.asset).trim();
  if (!isTokenId(token_id)) return { skip: 'bad_token_id' };
  const price = amountText(record.price);
  if (price === undefined || Number(price) === 0 || Number(price) > 1) return { skip: 'bad_price' };
  return { price, token_id };
}

// 999 stands for "none" in rows that are no trades.
function indexOf(value: unknown): number | null {
  const text = decimalText(value);
  const index = text === undefined ? Number.NaN : Number(text);
  return Number.isInteger(index) && index >= 0 && index < 999 ? index : null;
}
