import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { makeLinkLoaders } from '../loaders-links';
import type { FillRow } from '../queries/fills';
import type { RoundTripRow } from '../queries/linked-round-trips';
import { scored } from './trader';

const roundTripOf = (row: FillRow, context: GraphContext): Promise<RoundTripRow | null> =>
  context.loaders(makeLinkLoaders).tripOfFill.load(row);

/** What a row of a trade list links to. */
export const perpTrade = {
  smart_score: ((row, args, context, info) =>
    row.smart_score === undefined ? scored.smart_score(row, args, context, info) : row.smart_score) as Resolver<FillRow>,
  round_trip: ((row, _args, context) => roundTripOf(row, context)) as Resolver<FillRow>,
  position: (async (row, _args, context) => {
    if ((await roundTripOf(row, context)) !== null) return null;
    const held = await context.loaders(makeLoaders).positions.load(row.trader);
    return held.find(({ coin, direction }) => coin === row.coin && direction === row.direction) ?? null;
  }) as Resolver<FillRow>,
};
