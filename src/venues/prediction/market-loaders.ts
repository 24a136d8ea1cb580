import DataLoader from 'dataloader';
import type { GraphContext } from '../venue';
import { groupedBy } from './grouped';
import { makeLoaders } from './loaders';
import { type PricedOutcome, pricesAt } from './market-prices';
import { type MarketInstant, listFillPrices } from './queries/market-prices';
import { listRunDays } from './queries/score-runs';
import { loadOverlay } from './rollups/positions-as-of';

/** A market at an instant; with `opening`, outcomes that had no fill by then have the price of their first one; with `traded`, only fills tell prices. */
export interface MarketAt extends MarketInstant {
  opening?: boolean;
  traded?: boolean;
}

/** What market questions of one request share; made by `context.loaders(makeMarketLoaders)`. */
export interface MarketLoaders {
  /** Days of the score runs up to the context's day, oldest first. */
  runDays(): Promise<string[]>;
  /** What the kept positions tell wrong as of the context's instant (loadOverlay). */
  overlay(): Promise<string>;
  /** Outcomes of a market with their prices, in the venue's order. */
  prices: DataLoader<MarketAt, PricedOutcome[], string>;
}

/** The market questions' loaders for one request. */
export function makeMarketLoaders(context: GraphContext): MarketLoaders {
  let days: Promise<string[]> | undefined;
  let overlay: Promise<string> | undefined;
  return {
    runDays: () => (days ??= listRunDays(context.sql, context.now)),
    overlay: () => (overlay ??= loadOverlay(context.sql, context.now)),
    prices: new DataLoader((keys) => loadPrices(context, keys), {
      cacheKeyFn: (key) => `${instantOf(key)}${key.opening ? '+' : ''}${key.traded ? '!' : ''}`,
    }),
  };
}

const instantOf = ({ condition_id, at }: MarketInstant): string => `${condition_id}@${at.getTime()}`;

async function loadPrices(context: GraphContext, keys: readonly MarketAt[]): Promise<PricedOutcome[][]> {
  const { market, outcomes } = context.loaders(makeLoaders);
  const asked = new Map(keys.map((key) => [instantOf(key), key]));
  const fills = listFillPrices(context.sql, [...asked.values()], context.now).then((found) => groupedBy(found, instantOf));
  return Promise.all(
    keys.map(async ({ condition_id, at, opening, traded }) => {
      const [record, tokens, found] = await Promise.all([market.load(condition_id), outcomes.load(condition_id), fills]);
      return pricesAt(
        record,
        traded ? tokens.map((token) => ({ ...token, price: null })) : tokens,
        found.get(instantOf({ condition_id, at })) ?? [],
        at,
        opening ?? false,
      );
    }),
  );
}
