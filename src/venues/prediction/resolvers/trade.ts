import type DataLoader from 'dataloader';
import type { pm_market as MarketRecord, pm_outcome as OutcomeRecord } from '../../../generated/prisma/client';
import type { GraphContext, Resolver } from '../../venue';
import { type Judgement, makeLoaders } from '../loaders';
import { isResolved } from '../market-state';
import { fixed, plain } from '../positions/fixed';
import type { TradeRow } from '../queries/trade-row';

type Field = Resolver<TradeRow, Record<string, never>>;

/** What a row is shown with besides itself. */
interface TradeWords {
  market: MarketRecord | null;
  /** The outcome it is about: its token's; for a redemption that paid, the winner. */
  outcome: OutcomeRecord | undefined;
  token_id: string | null;
  /** Of a share; for a redemption what it paid. */
  price: number | string;
  judgement: Judgement | null;
}

/** Words and gains of rows that were told together: their fields then need no promise each. */
const makeTold = () => ({ words: new WeakMap<TradeRow, TradeWords>(), gains: new WeakMap<TradeRow, string | null>() });

async function wordsOf(row: TradeRow, context: GraphContext): Promise<TradeWords> {
  const loaders = context.loaders(makeLoaders);
  const [market, outcomes, judgement] = await Promise.all([
    loaders.market.load(row.condition_id),
    loaders.outcomes.load(row.condition_id),
    loaders.judgement.load(row.wallet),
  ]);
  return wordsWith(row, market, outcomes, judgement, context.now);
}

const wordsWith = (
  row: TradeRow,
  market: MarketRecord | null,
  outcomes: readonly OutcomeRecord[],
  judgement: Judgement | null,
  now: Date,
): TradeWords => {
  const outcome = outcomeIn(row, market, outcomes, now);
  const price = row.price ?? redemptionPrice(row, market, outcomes, now);
  return { market, outcome, token_id: row.token_id ?? outcome?.token_id ?? null, price, judgement };
};

function outcomeIn(row: TradeRow, market: MarketRecord | null, outcomes: readonly OutcomeRecord[], now: Date): OutcomeRecord | undefined {
  if (row.side !== 'REDEEM') return outcomes.find((outcome) => outcome.token_id === row.token_id);
  if (Number(row.size) === 0 || market === null || !isResolved(market, now) || market.is_voided) return undefined;
  return outcomes.find((outcome) => outcome.outcome === market.winning_outcome);
}

/** What a redeemed share paid: nothing for shares that lost, the refund of a refunded market, else one dollar. */
function redemptionPrice(row: TradeRow, market: MarketRecord | null, outcomes: readonly OutcomeRecord[], now: Date): number | string {
  if (Number(row.size) === 0) return 0;
  if (market === null || !isResolved(market, now) || !market.is_voided) return 1;
  return outcomes[0]?.payout?.toString() ?? 1 / market.outcomes.length;
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
  const told = context.loaders(makeTold);
  const ids = rows.map(({ condition_id }) => condition_id);
  const [markets, outcomes, judgements] = await Promise.all([
    loadAll(loaders.market, ids),
    loadAll(loaders.outcomes, ids),
    loadAll(loaders.judgement, rows.map(({ wallet }) => wallet)), // prettier-ignore
    Promise.all(rows.filter(({ side }) => side !== 'BUY').map(async (row) => told.gains.set(row, await gainOf(row, context)))),
  ]);
  for (const row of rows) {
    const { condition_id, wallet } = row;
    told.words.set(row, wordsWith(row, markets.get(condition_id) ?? null, outcomes.get(condition_id) ?? [], judgements.get(wallet) ?? null, context.now)); // prettier-ignore
  }
  return rows;
}

/** What a loader has for these keys, each asked once. */
async function loadAll<Value>(loader: DataLoader<string, Value>, keys: Iterable<string>): Promise<Map<string, Value>> {
  const distinct = [...new Set(keys)];
  const values = await Promise.all(distinct.map((key) => loader.load(key)));
  return new Map(distinct.map((key, index) => [key, values[index] as Value]));
}

const told =
  (read: (words: TradeWords) => unknown): Field =>
  (row, _, context) => {
    const words = context.loaders(makeTold).words.get(row);
    return words === undefined ? wordsOf(row, context).then(read) : read(words);
  };

/** The outcome a row is about. */
export async function tradedOutcome(row: TradeRow, context: GraphContext): Promise<OutcomeRecord | undefined> {
  const { market, outcomes } = context.loaders(makeLoaders);
  const [known, tokens] = await Promise.all([market.load(row.condition_id), outcomes.load(row.condition_id)]);
  return outcomeIn(row, known, tokens, context.now);
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
  pct_of_market_volume_24h: async (row, _, context) => {
    if (row.side === 'REDEEM') return null;
    const volume = Number(await context.loaders(makeLoaders).volumeBefore.load(row));
    return volume > 0 ? (100 * Number(row.usdc_size)) / volume : null;
  },
  price_impact: async (row, _, context) => {
    if (row.side === 'REDEEM') return null;
    const before = await context.loaders(makeLoaders).priceBefore.load(row);
    return before === null ? null : Number(row.last_price ?? row.price) - Number(before);
  },
  // The upstream does not tell fees.
  fee_usdc: () => null,
  realized_pnl_usdc: (row, _, context) => {
    if (row.side === 'BUY') return null;
    const gain = context.loaders(makeTold).gains.get(row);
    return gain === undefined ? gainOf(row, context) : gain;
  },
  market: (row, _, context) => context.loaders(makeLoaders).market.load(row.condition_id),
  wallet_profile: (row) => ({ wallet: row.wallet }),
};
