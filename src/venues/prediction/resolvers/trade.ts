import type { pm_market as MarketRecord, pm_outcome as OutcomeRecord } from '../../../generated/prisma/client';
import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { isResolved } from '../market-state';
import { fixed, plain } from '../positions/fixed';
import type { TradeRow } from '../queries/trade-row';

type Field = Resolver<TradeRow, Record<string, never>>;

/** The outcome a row is about: its token's; for a redemption that paid, the winner. */
export async function tradedOutcome(row: TradeRow, context: GraphContext): Promise<OutcomeRecord | undefined> {
  const loaders = context.loaders(makeLoaders);
  const outcomes = await loaders.outcomes.load(row.condition_id);
  if (row.side !== 'REDEEM') return outcomes.find((outcome) => outcome.token_id === row.token_id);
  const market = await loaders.market.load(row.condition_id);
  if (Number(row.size) === 0 || market === null || !isResolved(market, context.now) || market.is_voided) return undefined;
  return outcomes.find((outcome) => outcome.outcome === market.winning_outcome);
}

/** What a redeemed share paid: nothing for shares that lost, the refund of a refunded market, else one dollar. */
async function redemptionPrice(row: TradeRow, context: GraphContext): Promise<number | string> {
  if (Number(row.size) === 0) return 0;
  const loaders = context.loaders(makeLoaders);
  const market = await loaders.market.load(row.condition_id);
  if (market === null || !isResolved(market, context.now) || !market.is_voided) return 1;
  const [first] = await loaders.outcomes.load(row.condition_id);
  return first?.payout?.toString() ?? 1 / market.outcomes.length;
}

const market = (row: TradeRow, context: GraphContext): Promise<MarketRecord | null> =>
  context.loaders(makeLoaders).market.load(row.condition_id);
const judgement = (row: TradeRow, context: GraphContext) => context.loaders(makeLoaders).judgement.load(row.wallet);

/** Sum of exact amounts; null when one of them is unknown. */
function sumOf(amounts: readonly (string | undefined)[]): string | null {
  return amounts.some((amount) => amount === undefined) ? null : plain(amounts.reduce((sum, amount) => sum + fixed(amount as string), 0n));
}

/** Fields of PmTrade that the row itself does not hold. */
export const PmTrade: Record<string, Field> = {
  question: async (row, _, context) => (await market(row, context))?.question ?? null,
  category: async (row, _, context) => (await market(row, context))?.category ?? 'Other',
  token_id: async (row, _, context) => row.token_id ?? (await tradedOutcome(row, context))?.token_id ?? null,
  outcome: async (row, _, context) => (await tradedOutcome(row, context))?.outcome ?? null,
  outcome_index: async (row, _, context) => (await tradedOutcome(row, context))?.outcome_index ?? null,
  price: (row, _, context) => row.price ?? redemptionPrice(row, context),
  wallet_score: async (row, _, context) => (await judgement(row, context))?.score ?? null,
  win_rate: async (row, _, context) => (await judgement(row, context))?.win_rate ?? null,
  wallet_tags: async (row, _, context) => (await judgement(row, context))?.tags ?? [],
  pct_of_market_volume_24h: async (row, _, context) => {
    if (row.side === 'REDEEM') return null;
    const volume = Number(await context.loaders(makeLoaders).volumeBefore.load(row));
    return volume > 0 ? (100 * Number(row.usdc_size)) / volume : null;
  },
  price_impact: async (row, _, context) => {
    if (row.side === 'REDEEM') return null;
    const before = await context.loaders(makeLoaders).priceBefore.load(row);
    return before === null ? null : Number(row.last_price) - Number(before);
  },
  // The upstream does not tell fees.
  fee_usdc: () => null,
  realized_pnl_usdc: async (row, _, context) => {
    if (row.side === 'BUY') return null;
    const gains = await context.loaders(makeLoaders).gains.load({ wallet: row.wallet, condition_id: row.condition_id });
    return sumOf(row.parts.map((id) => gains.get(id)));
  },
  market: (row, _, context) => market(row, context),
  wallet_profile: (row) => ({ wallet: row.wallet }),
};
