import type { GraphContext } from '../../venue';
import { isResolved } from '../market-state';
import { type TokenAt, listPricesBefore } from '../queries/trade-surroundings';
import type { TradedMarket } from '../queries/traded-markets';
import { type WalletMarket, listConverters, listHistories } from '../queries/wallet-history';
import type { ConvertedShares } from '../rollups/positions-book';
import { keyOf, listConverted } from '../rollups/positions-compute';
import { type HistoryRow, type MarketFacts, realizedGains, setPrices } from './average-cost';

/** The look-up this needs, of whoever batches it. */
interface MarketLookup {
  tradedMarket: { load(condition_id: string): Promise<TradedMarket | null> };
}

type SetPrices = MarketFacts['set_prices'];

/** A history, and the market it is of. */
interface MarketHistory {
  market: TradedMarket | null;
  rows: readonly HistoryRow[];
}

/** Gains of SELL and REDEEM rows before the context's instant, by trade_id, for each wallet on each market asked. */
export async function loadGains(
  context: GraphContext,
  { tradedMarket }: MarketLookup,
  pairs: readonly WalletMarket[],
): Promise<Map<string, string>[]> {
  const [rows, markets] = await Promise.all([
    listHistories(context.sql, pairs, context.now),
    Promise.all(pairs.map(({ condition_id }) => tradedMarket.load(condition_id))),
  ]);
  const histories = await withConversions(
    context,
    pairs,
    rows.map((own, index): MarketHistory => ({ market: markets[index] ?? null, rows: own })),
  );
  const set_prices = await loadSetPrices(context, histories);
  return histories.map(({ market, rows: own }) =>
    realizedGains(own, { tokens: tokensOf(market), payouts: payoutsOf(market, context.now), set_prices }),
  );
}

/** The histories, in which the shares that conversions took and brought stand for the conversions: what they cost, other markets of the group tell too. */
async function withConversions(
  { sql, now }: GraphContext,
  pairs: readonly WalletMarket[],
  histories: readonly MarketHistory[],
): Promise<readonly MarketHistory[]> {
  const isReached = ({ market, rows }: MarketHistory): boolean => market?.is_grouped === true || rows.some(isConversion);
  const reached = pairs.filter((_, index) => isReached(histories[index] as MarketHistory));
  if (reached.length === 0) return histories;
  const converters = await listConverters(sql, [...new Set(reached.map(({ wallet }) => wallet))], now);
  const converted = await listConverted(sql, reached.filter(({ wallet }) => converters.has(wallet)), now); // prettier-ignore
  return histories.map(({ market, rows }, index) => ({
    market,
    rows: [...rows.filter((row) => !isConversion(row)), ...(converted.get(keyOf(pairs[index] as WalletMarket)) ?? []).map(rowOf)],
  }));
}

const isConversion = ({ side }: HistoryRow): boolean => side === 'CONVERSION';

const rowOf = ({ trade_id, token_id, came, size, cost, timestamp }: ConvertedShares): HistoryRow => ({
  trade_id,
  side: came ? 'BUY' : 'CONVERSION',
  token_id,
  size,
  usdc_size: cost,
  timestamp,
});

const tokensOf = (market: TradedMarket | null): string[] => (market?.outcomes ?? []).map(({ token_id }) => token_id);

function payoutsOf(market: TradedMarket | null, now: Date): Map<string, string> | null {
  if (market === null || !isResolved(market, now)) return null;
  return new Map(market.outcomes.flatMap(({ token_id, payout }) => (payout === null ? [] : [[token_id, payout]])));
}

/** Prices of full sets at each split and merge, by trade_id. */
async function loadSetPrices({ sql, now }: GraphContext, histories: readonly MarketHistory[]): Promise<SetPrices> {
  const moves = histories.flatMap(({ market, rows }) =>
    rows
      .filter(({ side }) => side === 'SPLIT' || side === 'MERGE')
      .map(({ trade_id, timestamp }) => ({ trade_id, market, timestamp, tokens: tokensOf(market) })),
  );
  const wanted = moves.flatMap(({ market, timestamp, tokens }) =>
    tokens.map((token_id): TokenAt => ({ condition_id: market?.condition_id as string, token_id, at: timestamp })),
  );
  const prices = wanted.length === 0 ? [] : await listPricesBefore(sql, wanted);
  let place = 0;
  return new Map(
    moves.map(({ trade_id, market, timestamp, tokens }) => {
      const last = new Map(
        tokens.flatMap((token) => {
          const price = prices[place++] ?? null;
          return price === null ? [] : [[token, price] as const];
        }),
      );
      // Once the market is resolved its outcomes are worth what they pay.
      const paid = market?.resolved_at && market.resolved_at < timestamp ? payoutsOf(market, now) : null;
      return [trade_id, setPrices(tokens, paid ?? last)];
    }),
  );
}
