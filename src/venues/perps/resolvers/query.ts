import type { Timeframe } from '../../../lib/timeframe';
import { tracked } from '../../../workers/track-record';
import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { coinsList } from '../queries/coins-list';
import { coinsTrending } from '../queries/coins-trending';
import { coinsVolumeHeatmap } from '../queries/coins-volume-heatmap';
import { freshWhales } from '../queries/fresh-whales';
import { leaderboard } from '../queries/leaderboard';
import { longShortRatio } from '../queries/long-short-ratio';
import { platformStats } from '../queries/platform-stats';
import { pressurePairs } from '../queries/pressure-pairs';
import { pressureSummary } from '../queries/pressure-summary';
import { withoutEmpty } from '../queries/segments';
import { smartActivity } from '../queries/smart-wallets-activity';
import { smartSignals } from '../queries/smart-wallets-signals';
import { smartWalletsList } from '../queries/smart-wallets-list';
import { compareTraders } from '../queries/trader-compare';
import { dailyPnl } from '../queries/trader-days';
import { pnlByCoin } from '../queries/trader-coins';
import { traderProfile } from '../queries/trader-profile';
import { tradesFeed } from '../queries/trades-feed';
import { tradesWhales } from '../queries/trades-whales';
import { SIGNALS_ENDPOINT, SIGNAL_HORIZONS } from '../signals';

/** The request, as of whichever instant, with statements that are sent without what is empty. */
const cutting = (context: GraphContext): GraphContext => ({
  ...context,
  sql: withoutEmpty(context.sql, () => context.loaders(makeLoaders).newestFill()),
  at: (instant, scored_until) => cutting(context.at(instant, scored_until)),
});

/** A question as a resolver: nothing comes from above a root field. */
const root =
  <Args, Answer>(question: (args: Args, context: GraphContext) => Promise<Answer>): Resolver<unknown, Args> =>
  (_root, args, context) =>
    question(args, cutting(context));

/** Root fields of the wing that answer. */
export const query = {
  perpsPlatformStats: root<{ timeframe: Timeframe }, unknown>(platformStats),
  perpsCoinsTrending: root(coinsTrending),
  perpsCoinsList: root(coinsList),
  perpsCoinsVolumeHeatmap: root(coinsVolumeHeatmap),
  perpsTradersLeaderboard: root(leaderboard),
  perpsTradersProfile: root(traderProfile),
  perpsTradersCompare: root(compareTraders),
  perpsTradersDailyPnl: root(dailyPnl),
  perpsTradersPnlByCoin: root(pnlByCoin),
  perpsTradersFreshWhales: root(freshWhales),
  perpsTradesWhales: root(tradesWhales),
  perpsTradesFeed: root(tradesFeed),
  perpsTradesLongShortRatio: root(longShortRatio),
  perpsPressurePairs: root(pressurePairs),
  perpsPressureSummary: root(pressureSummary),
  perpsSmartWalletsList: root(smartWalletsList),
  perpsSmartWalletsActivity: root(smartActivity),
  perpsSmartWalletsSignals: tracked(SIGNALS_ENDPOINT, SIGNAL_HORIZONS, root(smartSignals)),
};
