import DataLoader from 'dataloader';
import { groupedBy } from '../../lib/grouped';
import type { GraphContext } from '../venue';
import { makeLoaders } from './loaders';
import { type PricedOutcome, pricesAt } from './market-prices';
import { type ShownMarket, listShownMarkets } from './queries/market-lists';
import { type MarketInstant, listFillPrices } from './queries/market-prices';
import { loadOverlay } from './rollups/positions-as-of';

/** A market at an instant; with `opening`, a market that had no fill by then has the prices of its first ones; with `traded`, only fills tell prices. */
interface MarketAt extends MarketInstant {
  opening?: boolean;
  traded?: boolean;
}

/** What market questions of one request share; made by `context.loaders(makeMarketLoaders)`. */
export interface MarketLoaders {
  /** What the kept positions tell wrong as of the context's instant (loadOverlay). */
  overlay(): Promise<string>;
  /** What lists show of a market. Throws Error for one that is not in the store. */
  shown: DataLoader<string, ShownMarket>;
  /** Outcomes of a market with their prices, in the venue's order. */
  prices: DataLoader<MarketAt, PricedOutcome[], string>;
}

/** The market questions' loaders for one request. */
export function makeMarketLoaders(context: GraphContext): MarketLoaders {
  const { state } = context.loaders(makeLoaders);
  let overlay: Promise<string> | undefined;
  return {
    overlay: () => (overlay ??= state().then(({ any_later }) => loadOverlay(context.sql, context.now, any_later))),
    shown: new DataLoader(async (ids) => {
      const found = new Map((await listShownMarkets(context.sql, ids)).map((market) => [market.condition_id, market]));
      return ids.map((id) => found.get(id) ?? new Error(`Market ${id} is not in the store.`));
    }),
    prices: new DataLoader((keys) => loadPrices(context, keys), {
      cacheKeyFn: (key) => `${instantOf(key)}${key.opening ? '+' : ''}${key.traded ? '!' : ''}`,
    }),
  };
}

const instantOf = ({ condition_id, at }: MarketInstant): string => `${condition_id}@${at.getTime()}`;

async function loadPrices(context: GraphContext, keys: readonly MarketAt[]): Promise<PricedOutcome[][]> {
  const asked = new Map(keys.map((key) => [instantOf(key), key]));
  const first_before = keys.some(({ opening }) => opening) ? context.now : null;
  const found = groupedBy(await listFillPrices(context.sql, [...asked.values()], first_before), instantOf);
  return keys.map((key) => {
    const rows = found.get(instantOf(key)) ?? [];
    const outcomes = key.traded ? rows.map((row) => ({ ...row, price: null })) : rows;
    return pricesAt(rows[0] ?? null, outcomes, rows, key.at, key.opening ?? false);
  });
}
