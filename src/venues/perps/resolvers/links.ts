import type { perp_coin } from '../../../generated/prisma/client';
import type { PageArgs } from '../../../lib/connection';
import type { GraphContext, Resolver, Resolvers } from '../../venue';
import { makeLoaders } from '../loaders';
import { makeLinkLoaders } from '../loaders-links';
import type { PositionRow } from '../queries/held';
import type { FillParent } from '../queries/linked-fills';
import type { RoundTripRow } from '../queries/linked-round-trips';
import type { ScoreRow } from '../queries/linked-scores';
import { tierOf } from '../tier';

type FillsArgs = PageArgs & { side?: string | null };

/** The earliest instant a millisecond of JavaScript and the store agree on. */
const EVER = 0;

const fills =
  <Source>(of: FillParent, keyOf: (source: Source, context: GraphContext) => string): Resolver<Source, FillsArgs> =>
  (source, { first, after, side }, context) =>
    context.loaders(makeLinkLoaders).fills[of].load({ parent: keyOf(source, context), first, after, filter: { side: side ?? null } });

const ofPosition = ({ trader, coin, direction, opened_at, last_trade }: PositionRow): string =>
  [trader, coin, direction, opened_at?.getTime() ?? EVER, last_trade.getTime()].join('|');
const ofTrip = ({ trader, coin, direction, first_at, closed_at, tid, oid }: RoundTripRow): string =>
  [trader, coin, direction, first_at.getTime(), closed_at.getTime(), tid, oid].join('|');

const profile = ({ trader }: { trader: string }): { trader: string } => ({ trader });
const coinInfo: Resolver<{ coin: string }> = ({ coin }, _args, context) => context.loaders(makeLoaders).coin.load(coin);

const roundTrips: Resolver<{ trader: string }, PageArgs & { coin?: string | null }> = async (
  { trader },
  { first, after, coin },
  context,
) => {
  const name = coin == null ? null : ((await context.loaders(makeLoaders).spelling.load(coin)) ?? coin);
  return context.loaders(makeLinkLoaders).roundTrips.load({ parent: trader, first, after, filter: { coin: name } });
};

const scoreHistory: Resolver<{ trader: string }, PageArgs> = ({ trader }, { first, after }, context) =>
  context.loaders(makeLinkLoaders).scores.load({ parent: trader, first, after, filter: null });

const holders: Resolver<perp_coin, PageArgs> = ({ coin }, { first, after }, context) =>
  context.loaders(makeLinkLoaders).holders.load({ parent: coin, first, after, filter: null });

/** Records and rows of answers that name an account, and those that name a coin. */
const OF_TRADERS = [
  'PerpTrade',
  'PerpPosition',
  'PerpRoundTrip',
  'PerpScore',
  'PerpLeaderboardRow',
  'PerpFreshWhale',
  'PerpSmartWallet',
  'PerpSmartPosition',
  'PerpSignalTrader',
  'TraderDossier',
  'TraderCompared',
  'TraderInSharedCoin',
];
const OF_COINS = [
  'PerpTrade',
  'PerpPosition',
  'PerpRoundTrip',
  'PerpTrendingCoin',
  'PerpListedCoin',
  'PerpHeatmapCell',
  'PerpCoinPressure',
  'PerpPressureRow',
  'PerpSmartCoin',
  'PerpSignal',
  'TraderCoinSummary',
  'TraderCoinPnl',
  'TraderSharedCoin',
];

/** Fields of the wing's records that lead to lists of others. */
export const links = {
  PerpCoin: { fills: fills('coin', ({ coin }: perp_coin) => coin), holders },
  Trader: { fills: fills('trader', ({ trader }: { trader: string }) => trader), round_trips: roundTrips, score_history: scoreHistory },
  PerpPosition: { fills: fills('trip', ofPosition) },
  PerpRoundTrip: { fill_rows: fills('trip', ofTrip) },
  PerpScore: {
    date: ({ day }: ScoreRow) => day,
    tier: ({ score }: ScoreRow) => tierOf(score === null ? null : Number(score)),
  },
};

/** The account and the coin that a record or row is about. */
export const rowLinks: Resolvers = Object.fromEntries(
  [...new Set([...OF_TRADERS, ...OF_COINS])].map((name) => [
    name,
    {
      ...(OF_TRADERS.includes(name) && { trader_profile: profile }),
      ...(OF_COINS.includes(name) && { coin_info: coinInfo }),
    },
  ]),
);

/** Where an exploration begins. */
export const entries = {
  coin: (async (_, { coin }, context) => {
    const loaders = context.loaders(makeLoaders);
    const name = await loaders.spelling.load(coin);
    return name === null ? null : loaders.coin.load(name);
  }) as Resolver<unknown, { coin: string }>,
  trader: (async (_, { address }, context) => {
    const found = await context.prisma.perp_trader.findUnique({ where: { trader: address } });
    return found !== null && found.first_at < context.now ? profile(found) : null;
  }) as Resolver<unknown, { address: string }>,
};
