import { AppError } from '../../../errors';
import type { Resolver } from '../../venue';
import { type Stance, byMoney, byScore, consensusOf } from '../consensus';
import { meanScore, total } from '../exact';
import { makeMarketLoaders } from '../market-loaders';
import { statusOf } from '../market-state';
import { loadLifetimes } from '../queries/stances';
import { getKnownMarket } from './markets-known';
import { byCost, entryOf, moneyByOutcome } from './signals-money';
import { asOf, dumbBand, loadStances, smartBand } from './signals-views';

interface Args {
  condition_id: string;
  max_score: number;
  min_trades: number;
  limit: number;
}

/** markets/dumb-money: what low-score wallets hold of a market. Throws not_found for an unknown market, empty_result when none holds any. */
export const marketsDumbMoney: Resolver<unknown, Args> = async (_, args, context) => {
  const { market } = await getKnownMarket(context, args.condition_id);
  const of = async (band: Awaited<ReturnType<typeof smartBand>>): Promise<Stance[]> =>
    (await loadStances(context, [args.condition_id], band)).get(args.condition_id) ?? [];
  const [low, smart, prices] = await Promise.all([
    dumbBand(context, args.max_score).then(of),
    smartBand(context).then(of),
    context.loaders(makeMarketLoaders).prices.load({ condition_id: args.condition_id, at: context.now }),
  ]);
  const lifetime = await loadLifetimes(context.sql, [...new Set(low.map((stance) => stance.wallet))], await asOf(context)); // prettier-ignore
  const stances = low.filter((stance) => lifetime(stance.wallet).trades >= args.min_trades).sort(byCost);
  if (stances.length === 0)
    throw new AppError('empty_result', {
      suggestion: low.length > 0 ? { min_trades: 1 } : { max_score: Math.min(100, Math.max(args.max_score + 10, 59)) },
    });
  const shown = stances.slice(0, args.limit);
  context.meta.count = shown.length;
  const [foolish, wise] = [consensusOf(stances, byMoney), consensusOf(smart, byScore)];
  const wallets = new Map(stances.map((stance) => [stance.wallet, stance.score]));
  const open = statusOf(market, context.now) === 'active' || statusOf(market, context.now) === 'closed';
  return {
    ...market,
    summary: {
      total_wallets: wallets.size,
      total_usdc: total(stances.map((stance) => stance.cost)),
      avg_score: meanScore([...wallets.values()]),
      consensus_outcome: prices.find((outcome) => outcome.token_id === foolish.token_id)?.outcome ?? null,
      consensus_strength: foolish.strength,
      contrarian_to_smart: foolish.token_id === null || wise.strength === null ? null : foolish.token_id !== wise.token_id,
    },
    positions: shown.map((stance) => {
      const outcome = prices.find((one) => one.token_id === stance.token_id);
      const price = outcome?.price ?? null;
      const { trades, gain } = lifetime(stance.wallet);
      return {
        wallet: stance.wallet,
        score: stance.score,
        outcome: outcome?.outcome ?? stance.token_id,
        usdc_invested: stance.cost,
        token_id: stance.token_id,
        net_position: stance.shares,
        avg_buy_price: entryOf(stance),
        unrealized_pnl_usdc: open && price !== null ? Number(stance.shares) * price - Number(stance.cost) : null,
        lifetime_trades: trades,
        lifetime_pnl_usdc: gain,
      };
    }),
    by_outcome: moneyByOutcome(stances, prices),
  };
};
