import { AppError } from '../../../errors';
import type { GraphContext, Resolver } from '../../venue';
import { byScore, consensusOf } from '../consensus';
import { over, total } from '../exact';
import { makeMarketLoaders } from '../market-loaders';
import { statusOf } from '../market-state';
import { type MarketCrowd, loadMarketCrowd } from '../queries/market-crowd';
import { SMART_SCORE } from '../scoring/tiers';
import { looser } from './looser';
import { getKnownMarket } from './markets-known';
import { crowdView, entryOf } from './signals-money';
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
  const [crowd, smart, prices] = await Promise.all([
    loadCrowd(context, args),
    smartBand(context).then((band) => loadStances(context, [args.condition_id], band)),
    context.loaders(makeMarketLoaders).prices.load({ condition_id: args.condition_id, at: context.now }),
  ]);
  if (crowd.wallets === 0) throw new AppError('empty_result', { suggestion: await wider(args, context) });
  context.meta.count = crowd.largest.length;
  const [foolish, wise] = [crowdView(crowd, prices), consensusOf(smart.get(args.condition_id) ?? [], byScore)];
  const open = statusOf(market, context.now) === 'active' || statusOf(market, context.now) === 'closed';
  return {
    ...market,
    summary: {
      total_wallets: crowd.wallets,
      total_usdc: total(crowd.outcomes.map(({ total_usdc }) => total_usdc)),
      avg_score: over(crowd.scores ?? '0', crowd.wallets),
      consensus_outcome: prices.find((outcome) => outcome.token_id === foolish.token_id)?.outcome ?? null,
      consensus_strength: foolish.strength,
      contrarian_to_smart: foolish.token_id === null || wise.strength === null ? null : foolish.token_id !== wise.token_id,
    },
    positions: crowd.largest.map((member) => {
      const outcome = prices.find((one) => one.token_id === member.token_id);
      const price = outcome?.price ?? null;
      return {
        wallet: member.wallet,
        score: member.score,
        outcome: outcome?.outcome ?? member.token_id,
        usdc_invested: member.cost,
        token_id: member.token_id,
        net_position: member.shares,
        avg_buy_price: entryOf(member),
        unrealized_pnl_usdc: open && price !== null ? Number(member.shares) * price - Number(member.cost) : null,
        lifetime_trades: member.trades,
        lifetime_pnl_usdc: member.gain,
      };
    }),
    by_outcome: foolish.by_outcome,
  };
};

/** Whoever traded less, whoever is not smart, whoever is. */
const wider = (args: Args, context: GraphContext): Promise<Record<string, unknown>> =>
  looser(args, [{ min_trades: 1 }, { max_score: Math.max(args.max_score, SMART_SCORE - 1) }, { max_score: 100 }], async (asked) =>
    (await loadCrowd(context, asked)).wallets > 0 ? {} : undefined,
  );

async function loadCrowd(context: GraphContext, args: Args): Promise<MarketCrowd> {
  const [band, as_of] = await Promise.all([dumbBand(context, args.max_score), asOf(context)]);
  return loadMarketCrowd(context.sql, args.condition_id, band, args, as_of);
}
