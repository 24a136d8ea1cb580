import type DataLoader from 'dataloader';
import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { isResolved } from '../market-state';
import { fixed, plain } from '../positions/fixed';
import type { Judgement } from '../queries/judgements';
import type { TradeRow } from '../queries/trade-row';
import type { TradedMarket, TradedOutcome } from '../queries/traded-markets';

type Field = Resolver<TradeRow, Record<string, never>>;

/** What a row is shown with besides itself. */
interface TradeWords {
  market: TradedMarket | null;
  /** The outcome it is about: its token's; for a redemption that paid, the winner. */
  outcome: TradedOutcome | undefined;
  token_id: string | null;
  /** Of a share; for a redemption what it paid. */
  price: number | string;
  judgement: Judgement | null;
}

/** What was before a fill: USDC taken on its market in a day, and the price of its token. */
interface Surroundings {
  volume: string | null;
  price: string | null;
}

/** What was told of rows together: their fields then need no promise each, and tell what was as of the list, not as of the page. */
const TOLD = {
  words: new WeakMap<TradeRow, TradeWords>(),
  gains: new WeakMap<TradeRow, string | null>(),
  surroundings: new WeakMap<TradeRow, Surroundings>(),
};

async function wordsOf(row: TradeRow, context: GraphContext): Promise<TradeWords> {
  const loaders = context.loaders(makeLoaders);
  const [market, judgement] = await Promise.all([loaders.tradedMarket.load(row.condition_id), loaders.judgement.load(row.wallet)]);
  return wordsWith(row, market, judgement, context.now);
}

const wordsWith = (row: TradeRow, market: TradedMarket | null, judgement: Judgement | null, now: Date): TradeWords => {
  const outcome = outcomeIn(row, market, now);
  const price = row.price ?? redemptionPrice(row, market, now);
  return { market, outcome, token_id: row.token_id ?? outcome?.token_id ?? null, price, judgement };
};

function outcomeIn(row: TradeRow, market: TradedMarket | null, now: Date): TradedOutcome | undefined {
  if (row.side !== 'REDEEM') return market?.outcomes.find((outcome) => outcome.token_id === row.token_id);
  if (Number(row.size) === 0 || market === null || !isResolved(market, now) || market.is_voided) return undefined;
  return market.outcomes.find((outcome) => outcome.outcome === market.winning_outcome);
}

/** What a redeemed share paid: nothing for shares that lost, the refund of a refunded market, else one dollar; as the row says until the result is known. */
function redemptionPrice(row: TradeRow, market: TradedMarket | null, now: Date): number | string {
  if (Number(row.size) === 0) return 0;
  if (market === null || !isResolved(market, now)) return Math.min(1, Number(row.usdc_size) / Number(row.size));
  if (!market.is_voided) return 1;
  return market.outcomes[0]?.payout ?? 1 / market.named_outcomes;
}

/** Gain of a SELL or REDEEM row. */
async function gainOf({ wallet, condition_id, trade_id, parts }: TradeRow, context: GraphContext): Promise<string | null> {
  const gains = await context.loaders(makeLoaders).gains.load({ wallet, condition_id });
  return sumOf((parts ?? [trade_id]).map((id) => gains.get(id)));
}

/** Sum of exact amounts; null when one of them is unknown. */
function sumOf(amounts: readonly (string | undefined)[]): string | null {
  return amounts.some((amount) => amount === undefined) ? null : plain(amounts.reduce((sum, amount) => sum + fixed(amount as string), 0n));
}

/** Tells rows together: all that is shown with them is looked up at once. */
export async function tellTrades(rows: TradeRow[], context: GraphContext): Promise<TradeRow[]> {
  const loaders = context.loaders(makeLoaders);
  const [markets, judgements] = await Promise.all([
    loadAll(loaders.tradedMarket, rows.map(({ condition_id }) => condition_id)), // prettier-ignore
    loadAll(loaders.judgement, rows.map(({ wallet }) => wallet)), // prettier-ignore
    Promise.all(rows.filter(({ side }) => side !== 'BUY').map(async (row) => TOLD.gains.set(row, await gainOf(row, context)))),
  ]);
  for (const row of rows) {
    const { condition_id, wallet } = row;
    TOLD.words.set(row, wordsWith(row, markets.get(condition_id) ?? null, judgements.get(wallet) ?? null, context.now));
  }
  return rows;
}

/** Looks up together what was before each of these rows. */
export async function tellSurroundings(rows: readonly TradeRow[], context: GraphContext): Promise<void> {
  const { volumeBefore, priceBefore } = context.loaders(makeLoaders);
  await Promise.all(
    rows
      .filter(({ side }) => side !== 'REDEEM')
      .map(async (row) => {
        const [volume, price] = await Promise.all([volumeBefore.load(row), priceBefore.load(row)]);
        TOLD.surroundings.set(row, { volume, price });
      }),
  );
}

/** Part of what was taken on the market in the day before, in percent. */
const partOfVolume = ({ usdc_size }: TradeRow, before: string | null): number | null =>
  Number(before) > 0 ? (100 * Number(usdc_size)) / Number(before) : null;

const impactOf = ({ last_price, price }: TradeRow, before: string | null): number | null =>
  before === null ? null : Number(last_price ?? price) - Number(before);

/** What a loader has for these keys, each asked once. */
async function loadAll<Value>(loader: DataLoader<string, Value>, keys: Iterable<string>): Promise<Map<string, Value>> {
  const distinct = [...new Set(keys)];
  const values = await Promise.all(distinct.map((key) => loader.load(key)));
  return new Map(distinct.map((key, index) => [key, values[index] as Value]));
}

const told =
  (read: (words: TradeWords) => unknown): Field =>
  (row, _, context) => {
    const words = TOLD.words.get(row);
    return words === undefined ? wordsOf(row, context).then(read) : read(words);
  };

/** The outcome a row is about. */
export async function tradedOutcome(row: TradeRow, context: GraphContext): Promise<TradedOutcome | undefined> {
  return outcomeIn(row, await context.loaders(makeLoaders).tradedMarket.load(row.condition_id), context.now);
}

/** Fields of PmTrade that the row itself does not hold. */
export const PmTrade: Record<string, Field> = {
  question: told(({ market }) => market?.question ?? null),
  category: told(({ market }) => market?.category ?? 'Other'),
  token_id: told(({ token_id }) => token_id),
  outcome: told(({ outcome }) => outcome?.outcome ?? null),
  outcome_index: told(({ outcome }) => outcome?.outcome_index ?? null),
  price: told(({ price }) => price),
  wallet_score: told(({ judgement }) => judgement?.score ?? null),
  win_rate: told(({ judgement }) => judgement?.win_rate ?? null),
  wallet_tags: told(({ judgement }) => judgement?.tags ?? []),
  fills: ({ fills }) => fills ?? 1,
  pct_of_market_volume_24h: (row, _, context) => {
    if (row.side === 'REDEEM') return null;
    const known = TOLD.surroundings.get(row);
    if (known !== undefined) return partOfVolume(row, known.volume);
    return context.loaders(makeLoaders).volumeBefore.load(row).then((before) => partOfVolume(row, before)); // prettier-ignore
  },
  price_impact: (row, _, context) => {
    if (row.side === 'REDEEM') return null;
    const known = TOLD.surroundings.get(row);
    if (known !== undefined) return impactOf(row, known.price);
    return context.loaders(makeLoaders).priceBefore.load(row).then((before) => impactOf(row, before)); // prettier-ignore
  },
  // The upstream does not tell fees.
  fee_usdc: () => null,
  realized_pnl_usdc: (row, _, context) => {
    if (row.side === 'BUY') return null;
    const gain = TOLD.gains.get(row);
    return gain === undefined ? gainOf(row, context) : gain;
  },
  market: (row, _, context) => context.loaders(makeLoaders).market.load(row.condition_id),
  wallet_profile: (row) => ({ wallet: row.wallet }),
};
