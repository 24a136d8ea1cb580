import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import type { Judgement } from '../queries/judgements';
import { tierOf } from '../scoring/tiers';

interface WalletSource {
  wallet: string;
}

type Field = Resolver<WalletSource, Record<string, never>>;

const judgementOf = ({ wallet }: WalletSource, context: GraphContext): Promise<Judgement | null> =>
  context.loaders(makeLoaders).judgement.load(wallet);

/** Fields of PmWallet, by address: the newest score run and the first trade. */
export const PmWallet: Record<string, Field> = {
  score: async (source, _, context) => (await judgementOf(source, context))?.score ?? null,
  tier: async (source, _, context) => {
    const score = (await judgementOf(source, context))?.score ?? null;
    return tierOf(score === null ? null : Number(score));
  },
  tags: async (source, _, context) => (await judgementOf(source, context))?.tags ?? [],
  win_rate: async (source, _, context) => (await judgementOf(source, context))?.win_rate ?? null,
  first_trade: async ({ wallet }, _, context) => (await context.loaders(makeLoaders).wallet.load(wallet))?.first_trade_at ?? null,
};
