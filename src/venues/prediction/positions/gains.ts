import type { pm_market as MarketRecord, pm_outcome as OutcomeRecord } from '../../../generated/prisma/client';
import type { GraphContext } from '../../venue';
import { groupedBy } from '../grouped';
import { isResolved } from '../market-state';
import { type TokenAt, listPricesBefore } from '../queries/trade-surroundings';
import { type WalletMarket, type WalletMarketRow, listHistories } from '../queries/wallet-history';
import { type MarketFacts, realizedGains, setPrices } from './average-cost';

/** The look-ups this needs, of whoever batches them. */
interface MarketLookups {
  market: { load(condition_id: string): Promise<MarketRecord | null> };
  outcomes: { load(condition_id: string): Promise<OutcomeRecord[]> };
}

type SetPrices = MarketFacts['set_prices'];

/** Gains of SELL and REDEEM rows before the context's instant, by trade_id, for each wallet on each market asked. */
export async function loadGains(
  context: GraphContext,
  loaders: MarketLookups,
  pairs: readonly WalletMarket[],
): Promise<Map<string, string>[]> {
  const rows = await listHistories(context.sql, pairs, context.now);
  const prices = await loadSetPrices(context, loaders, rows);
  const histories = groupedBy(rows, ({ wallet, condition_id }) => `${wallet}|${condition_id}`);
  return Promise.all(
    pairs.map(async ({ wallet, condition_id }) => {
      const [market, outcomes] = await Promise.all([loaders.market.load(condition_id), loaders.outcomes.load(condition_id)]);
      return realizedGains(histories.get(`${wallet}|${condition_id}`) ?? [], {
        tokens: outcomes.map((outcome) => outcome.token_id),
        payouts: payoutsOf(market, outcomes, context.now),
        set_prices: prices,
      });
    }),
  );
}

function payoutsOf(market: MarketRecord | null, outcomes: readonly OutcomeRecord[], now: Date): Map<string, string> | null {
  if (market === null || !isResolved(market, now)) return null;
  return new Map(outcomes.flatMap((outcome) => (outcome.payout === null ? [] : [[outcome.token_id, outcome.payout.toString()]])));
}

async function loadSetPrices(
  context: GraphContext,
  loaders: Pick<MarketLookups, 'outcomes'>,
  rows: readonly WalletMarketRow[],
): Promise<SetPrices> {
  const moves = rows.filter((row) => row.side === 'SPLIT' || row.side === 'MERGE');
  const wanted = await Promise.all(
    moves.map(async ({ condition_id, timestamp }) =>
      (await loaders.outcomes.load(condition_id)).map(({ token_id }): TokenAt => ({ condition_id, token_id, at: timestamp })),
    ),
  );
  const prices = moves.length === 0 ? [] : await listPricesBefore(context.sql, wanted.flat());
  const found = new Map(wanted.flat().map((token, index) => [token, prices[index] ?? null]));
  return new Map(
    moves.map((row, index) => {
      const tokens = wanted[index] as TokenAt[];
      const last = new Map(tokens.flatMap((token) => (found.get(token) ? [[token.token_id, found.get(token) as string] as const] : [])));
      return [
        row.trade_id,
        setPrices(
          tokens.map((token) => token.token_id),
          last,
        ),
      ];
    }),
  );
}
