import type { pm_wallet_score as ScoreRecord } from '../../../generated/prisma/client';
import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { tierOf } from '../scoring/tiers';

interface WalletSource {
  wallet: string;
}

type Field = Resolver<WalletSource, Record<string, never>>;

const scoreOf = ({ wallet }: WalletSource, context: GraphContext): Promise<ScoreRecord | null> =>
  context.loaders(makeLoaders).score.load(wallet);

/** Fields of PmWallet, by address: the newest score run and the first trade. */
export const PmWallet: Record<string, Field> = {
  score: async (source, _, context) => (await scoreOf(source, context))?.score ?? null,
  tier: async (source, _, context) => {
    const score = (await scoreOf(source, context))?.score ?? null;
    return tierOf(score === null ? null : Number(score));
  },
  tags: async (source, _, context) => (await scoreOf(source, context))?.tags ?? [],
  win_rate: async (source, _, context) => (await scoreOf(source, context))?.win_rate ?? null,
  first_trade: async ({ wallet }, _, context) => (await context.loaders(makeLoaders).wallet.load(wallet))?.first_trade_at ?? null,
};
