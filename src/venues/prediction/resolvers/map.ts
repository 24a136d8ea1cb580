import { tracked } from '../../../workers/track-record';
import type { Resolvers } from '../../venue';
import { RESOLUTION } from '../scoring/signal-mark';
import { marketsCapitalFlow, marketsCapitalFlowComparison } from './flows-capital';
import { marketsVolumeByGroup } from './flows-groups';
import { marketsVolumeHeatmap } from './flows-heatmap';
import { marketsPriceHistory } from './flows-price';
import { marketsSentiment } from './flows-sentiment';
import { entries } from './entries';
import { walletsAlphaCallers } from './alpha-callers';
import { walletsCopyTraders } from './copy-traders';
import { walletsNicheExperts } from './experts';
import { marketsInsiders, walletsInsiders } from './insiders';
import { walletsInsidersTrend } from './insiders-trend';
import { walletsTopPerformers } from './leaderboard';
import { links } from './links';
import { Market } from './market';
import { rowLinks } from './row-links';
import { marketsCategories } from './markets-categories';
import { marketsClosingSoon } from './markets-closing';
import { marketsEarlyMovers } from './markets-movers';
import { marketsOwnership } from './markets-ownership';
import { marketsParticipants } from './markets-participants';
import { marketsResolutions } from './markets-resolutions';
import { marketsSearch } from './markets-search';
import { marketsSimilar } from './markets-similar';
import { marketsTrending } from './markets-trending';
import { platformStats } from './platform';
import { walletsPortfolio } from './portfolio';
import { walletsPnlBreakdown } from './positions';
import { PmTrade } from './trade';
import { marketsHighConviction } from './signals-conviction';
import { marketsDumbMoney } from './signals-dumb';
import { marketsDumbConsensus } from './signals-fade';
import { marketsSmartFlow } from './signals-flow';
import { marketsIntelligence } from './signals-intelligence';
import { marketsNewSmartInterest } from './signals-interest';
import { marketsOpportunities } from './signals-opportunities';
import { marketsSmartSignals } from './signals-smart';
import { marketsTrades, tradesWhales } from './trades';
import { PmWallet } from './wallet';
import { walletsActivity, walletsProfile } from './wallets';
import { walletsCompare } from './wallets-compare';

/** Resolver map of the wing: root fields that answer, and the types they are made of. */
export const resolvers: Resolvers = {
  Query: {
    marketsTrades,
    tradesWhales,
    platformStats,
    marketsCategories,
    marketsTrending,
    marketsVolumeByGroup,
    marketsVolumeHeatmap,
    marketsCapitalFlow,
    marketsCapitalFlowComparison,
    marketsPriceHistory,
    marketsSentiment,
    marketsParticipants,
    marketsSmartFlow,
    marketsSearch,
    marketsClosingSoon,
    marketsResolutions,
    marketsEarlyMovers,
    marketsOwnership,
    marketsSmartSignals: tracked('markets/smart-signals', [RESOLUTION], marketsSmartSignals),
    marketsNewSmartInterest: tracked('markets/new-smart-interest', [RESOLUTION], marketsNewSmartInterest),
    marketsIntelligence,
    marketsDumbMoney,
    marketsHighConviction: tracked('markets/high-conviction', [RESOLUTION], marketsHighConviction),
    marketsDumbConsensus: tracked('markets/dumb-consensus', [RESOLUTION], marketsDumbConsensus),
    marketsOpportunities: tracked('markets/opportunities', [RESOLUTION], marketsOpportunities),
    marketsSimilar,
    walletsProfile,
    walletsActivity,
    walletsPnlBreakdown,
    walletsCompare,
    walletsPortfolio,
    walletsTopPerformers,
    walletsNicheExperts,
    marketsInsiders: tracked('markets/insiders', [RESOLUTION], marketsInsiders),
    walletsInsiders: tracked('wallets/insiders', [RESOLUTION], walletsInsiders),
    walletsInsidersTrend,
    walletsCopyTraders,
    walletsAlphaCallers: tracked('wallets/alpha-callers', [RESOLUTION], walletsAlphaCallers),
    ...entries,
  },
  ...rowLinks,
  ...links,
  PmTrade: { ...PmTrade, ...links.PmTrade },
  Market: { ...Market, ...links.Market },
  PmWallet: { ...PmWallet, ...links.PmWallet },
};
