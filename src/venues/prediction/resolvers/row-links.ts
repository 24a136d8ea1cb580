import type { Resolvers, Resolver } from '../../venue';
import { marketOf, walletOf } from './links';

/** Rows of answers that name a market by its condition id. */
const OF_MARKETS = [
  'VolumeShare',
  'MarketPriceHistory',
  'MarketSentiment',
  'MarketParticipants',
  'EarlyMovers',
  'MarketOwnership',
  'MarketInsiders',
  'FlaggedMarket',
  'InsiderTrendMarket',
  'AlphaCall',
  'TrendingMarket',
  'MarketMatch',
  'SimilarMarket',
  'ResolvedMarket',
  'ClosingMarket',
  'PmPositionPnl',
  'PortfolioPosition',
  'PortfolioConsensus',
  'PortfolioConflict',
  'MarketIntelligence',
  'ConvictionMarket',
  'Opportunity',
  'MarketDumbMoney',
  'SmartSignal',
  'MarketSmartFlow',
  'NewInterestMarket',
  'DumbConsensus',
  'MarketTrades',
  'SharedPosition',
  'CopiedToken',
];

/** Rows of answers that name a wallet. */
const OF_WALLETS = [
  'EarlyMover',
  'OutcomeHolder',
  'MarketInsider',
  'InsiderCandidate',
  'TopPerformer',
  'NicheExpert',
  'AlphaCall',
  'PnlBreakdown',
  'PortfolioWallet',
  'TopWallet',
  'DumbPosition',
  'SignalWallet',
  'FirstEntry',
  'PmWalletDossier',
  'PmWalletActivity',
  'ComparedWallet',
  'SharedHolder',
  'CopyTrader',
];

const market: Resolver<{ condition_id: string | null }> = (source, _args, context) => marketOf(source, context);

/** What rows of answers lead to: the market and the wallet they are about. */
export const rowLinks: Resolvers = {
  ...Object.fromEntries(OF_WALLETS.map((name) => [name, { wallet_profile: walletOf }])),
  ...Object.fromEntries(OF_MARKETS.map((name) => [name, { market, ...(OF_WALLETS.includes(name) && { wallet_profile: walletOf }) }])),
};
