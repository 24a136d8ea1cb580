import { storable } from '../../../lib/storable';
import type { Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { makeLinkLoaders } from '../loaders-links';
import { isPosition } from '../positions/figures';
import type { TradeKey } from '../queries/linked-trades';
import { marketOf, outcomeOf, walletOf } from './links';
import { loadKnown, positionRecord } from './position';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Where an exploration begins: records by their ids. */
export const entries = {
  market: ((_, args, context) => marketOf(args, context)) as Resolver<unknown, { condition_id: string }>,
  outcome: (async (_, { token_id }, context) => {
    const found = await context.loaders(makeLinkLoaders).marketOfToken.load(token_id);
    return found === null || (await marketOf(found, context)) === null ? null : outcomeOf(found.condition_id, token_id, context);
  }) as Resolver<unknown, { token_id: string }>,
  wallet: (async (_, { address }, context) => {
    const found = await context.loaders(makeLoaders).wallet.load(address);
    return found !== null && found.first_seen_at < context.now ? walletOf(found) : null;
  }) as Resolver<unknown, { address: string }>,
  trade: ((_, key, context) => (UUID.test(key.trade_id) ? context.loaders(makeLinkLoaders).trade.load(key) : null)) as Resolver<
    unknown,
    TradeKey
  >,
  position: (async (_, { wallet, token_id }, context) => {
    const rows = await context.loaders(makeLinkLoaders).held.load(wallet);
    const [known] = await loadKnown(
      rows.filter((row) => row.token_id === token_id && isPosition(row)),
      context,
    );
    return known === undefined ? null : positionRecord(known);
  }) as Resolver<unknown, { wallet: string; token_id: string }>,
  category: ((_, { name }) => ({ name })) as Resolver<unknown, { name: string }>,
  event: ((_, { slug }, context) => context.loaders(makeLinkLoaders).event.load(storable(slug))) as Resolver<unknown, { slug: string }>,
};
