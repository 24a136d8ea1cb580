import { canonicalConditionId, isTokenId } from '../../../lib/address';
import { storable } from '../../../lib/storable';
import { categoryOf } from '../categories';
import { amountText } from './decimal-text';
import { decodeInstant } from './instant';
import { type Fields, type Unusable, flagOf, isFields, listOf, textOf, wordOf } from './record';
import { settle } from './settlement';

/** An outcome token as the catalogue describes it. */
interface CatalogueOutcome {
  token_id: string;
  outcome_index: number;
  outcome: string;
  price: string | null;
  payout: string | null;
}

/** A market object of the catalogue in our own words. */
export interface CatalogueMarket {
  condition_id: string;
  question: string | null;
  slug: string | null;
  event_slug: string | null;
  category: string;
  tags: string[];
  outcomes: string[];
  tokens: CatalogueOutcome[];
  neg_risk: boolean | null;
  neg_risk_id: string | null;
  end_date: Date | null;
  created_at: Date | null;
  closed_at: Date | null;
  resolved_at: Date | null;
  winning_outcome: string | null;
  is_voided: boolean;
  upstream_volume: string | null;
  upstream_liquidity: string | null;
  updated_at: Date | null;
}

/** Whether an object is a market of the catalogue, a page of them, or an event with its markets. */
export function looksLikeGamma(record: unknown): boolean {
  if (!isFields(record) || 'proxyWallet' in record) return false;
  if (isMarket(record)) return true;
  const inner = pageItems(record);
  return (
    inner !== undefined && (inner.length === 0 || inner.some((item) => isFields(item) && (isMarket(item) || Array.isArray(item.markets))))
  );
}

const isMarket = (record: Fields): boolean =>
  'conditionId' in record && ('outcomes' in record || 'clobTokenIds' in record || 'question' in record);

const pageItems = (record: Fields): unknown[] | undefined =>
  [record.markets, record.events, record.data].find((value): value is unknown[] => Array.isArray(value));

/** A market stands in an event, an event in a page. What is wrapped deeper than this is handed on as it is. */
const DEEPEST = 4;

/** The market objects inside a record (a market, an event with `markets`, a page `{markets|events|data: […]}`), each with its event's fields at hand. */
export function* marketsWithin(
  record: unknown,
  event: Fields | null = null,
  depth = 0,
): Generator<{ market: unknown; event: Fields | null }> {
  const inner = isFields(record) && !isMarket(record) && depth < DEEPEST ? pageItems(record) : undefined;
  if (inner === undefined) {
    yield { market: record, event };
    return;
  }
  // An event tells its markets' tags and slug; a page tells nothing.
  const around = isFields(record) && ('slug' in record || 'tags' in record) ? record : event;
  for (const item of inner) yield* marketsWithin(item, around, depth + 1);
}

/** Decodes one market object. `event` is the event it was found in, if not embedded in the market itself. */
export function decodeGammaMarket(record: unknown, event: Fields | null): CatalogueMarket | Unusable {
  if (!isFields(record)) return { skip: 'not_an_object' };
  const condition_id = canonicalConditionId(wordOf(record.conditionId));
  if (condition_id === undefined) return { skip: 'bad_condition_id' };
  // Some names of teams have blanks around them, which are cut off in trades as well: by its name a token is paid.
  const outcomes = (listOf(record.outcomes) ?? []).map((outcome) => storable(wordOf(outcome)).trim());
  if (outcomes.length < 2) return { skip: 'no_outcomes' };
  const embedded = listOf(record.events)?.find(isFields) ?? event;
  const prices = decodePrices(record, outcomes.length);
  // What only tells when it closed is closed: of an open market there is no such time.
  const closed = flagOf(record.closed) ?? decodeInstant(record.closedTime) !== undefined;
  const settlement = closed && prices ? settle(prices, isFinal(record)) : null;
  const closed_at = closed ? closingTime(record) : null;
  return {
    condition_id,
    question: textOf(record.question) ?? null,
    slug: textOf(record.slug) ?? null,
    event_slug: textOf(embedded?.slug) ?? null,
    ...classify(record, embedded),
    outcomes,
    tokens: decodeTokens(record, outcomes, prices, settlement?.payouts ?? null),
    neg_risk: flagOf(record.negRisk) ?? null,
    neg_risk_id: textOf(record.negRiskMarketID) ?? null,
    end_date: decodeInstant(record.endDate) ?? null,
    created_at: decodeInstant(record.createdAt) ?? decodeInstant(record.startDate) ?? null,
    closed_at,
    resolved_at: settlement ? closed_at : null,
    winning_outcome: settlement?.winner === undefined || settlement.winner === null ? null : (outcomes[settlement.winner] ?? null),
    is_voided: settlement !== null && settlement.winner === null,
    upstream_volume: amountText(record.volume) ?? amountText(record.volumeNum) ?? null,
    upstream_liquidity: amountText(record.liquidity) ?? amountText(record.liquidityNum) ?? null,
    // A record that only tells when the market closed is from then, or later.
    updated_at: decodeInstant(record.updatedAt) ?? decodeInstant(record.closedTime) ?? null,
  };
}

function classify(record: Fields, event: Fields | null | undefined): { category: string; tags: string[] } {
  const tags = [...new Set([...tagSlugs(record.tags), ...tagSlugs(event?.tags)])];
  const series = listOf(event?.series)?.find(isFields);
  const slugs = [record.slug, event?.slug, event?.seriesSlug, series?.slug].flatMap((slug) => textOf(slug) ?? []);
  const evidence = slugs.length > 0 ? slugs : [textOf(record.question) ?? ''];
  return {
    tags,
    category: categoryOf({
      tags,
      old_category: textOf(record.category),
      is_game: textOf(record.sportsMarketType) !== undefined,
      slugs: evidence,
    }),
  };
}

function tagSlugs(value: unknown): string[] {
  return (listOf(value) ?? []).flatMap((tag) => textOf(isFields(tag) ? tag.slug : tag) ?? []).map((tag) => tag.toLowerCase());
}

function decodePrices(record: Fields, count: number): string[] | null {
  const prices = (listOf(record.outcomePrices) ?? []).map(amountText);
  return prices.length === count && prices.every((price) => price !== undefined) ? (prices as string[]) : null;
}

function decodeTokens(record: Fields, outcomes: string[], prices: string[] | null, payouts: string[] | null): CatalogueOutcome[] {
  const tokens = (listOf(record.clobTokenIds) ?? []).map(wordOf);
  if (new Set(tokens).size !== outcomes.length || tokens.length !== outcomes.length || !tokens.every(isTokenId)) return [];
  return tokens.map((token_id, index) => ({
    token_id,
    outcome_index: index,
    outcome: outcomes[index] as string,
    price: prices?.[index] ?? null,
    payout: payouts?.[index] ?? null,
  }));
}

// Markets of the automated market maker (to 2022) name it and have no order book; their last prices stand beside 1 and 0. Of others the oracle has the last word.
const isFinal = (record: Fields): boolean =>
  textOf(record.umaResolutionStatus) === 'resolved' ||
  (textOf(record.marketMakerAddress) !== undefined && flagOf(record.enableOrderBook) !== true);

function closingTime(record: Fields): Date | null {
  for (const field of ['closedTime', 'umaEndDate', 'endDate', 'updatedAt']) {
    const time = decodeInstant(record[field]);
    if (time !== undefined) return time;
  }
  return null;
}
