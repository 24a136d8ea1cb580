import { groupedBy } from '../../../lib/grouped';
import { roundTo } from '../../../lib/statistics';
import type { GraphContext } from '../../venue';
import { FEWEST_WALLETS, type Stance, byWeight, consensusStrength } from '../consensus';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { type Leaning, listLeanings } from '../queries/leanings';
import { type AsOf, type ScoreBand, listStances } from '../queries/stances';
import { SMART_SCORE } from '../scoring/tiers';

/** Highest score there is. */
const BEST_SCORE = 100;
/** Smart consensus this strong on an outcome priced below one half speaks against the price. */
export const CLEAR_STRENGTH = 0.6;

/** Wallets of the newest run with at least that score. Names the run in meta. */
export async function smartBand(context: GraphContext, min: number = SMART_SCORE): Promise<ScoreBand> {
  return bandOf(context, min, BEST_SCORE);
}

/** Wallets of the newest run with at most that score. Names the run in meta. */
export async function dumbBand(context: GraphContext, max: number): Promise<ScoreBand> {
  return bandOf(context, 0, max);
}

async function bandOf(context: GraphContext, min: number, max: number): Promise<ScoreBand> {
  const run = await context.loaders(makeLoaders).scoreRun();
  context.meta.score_version = run?.version ?? null;
  return { day: run?.day ?? null, min, max };
}

/** The instant of the context for questions about positions. */
export async function asOf(context: GraphContext): Promise<AsOf> {
  return { now: context.now, overlay: await context.loaders(makeMarketLoaders).overlay() };
}

/** What a band's wallets hold on each of these markets. */
export async function loadStances(
  context: GraphContext,
  condition_ids: readonly string[],
  band: ScoreBand,
): Promise<Map<string, Stance[]>> {
  const stances = await listStances(context.sql, condition_ids, band, await asOf(context));
  return groupedBy(stances, (stance) => stance.condition_id);
}

/** Smart money on a market in short. */
export interface SmartView {
  /** Outcome token smart wallets favour. */
  token_id: string | null;
  /** As a consensus tells it. */
  strength: number | null;
  /** Wallets net on that outcome. */
  wallets: number;
}

/** The short view of each of these markets. */
export async function loadSmartViews(
  context: GraphContext,
  condition_ids: readonly string[],
): Promise<(condition_id: string) => SmartView> {
  const leanings = await listLeanings(context.sql, condition_ids, await smartBand(context), await asOf(context));
  const views = new Map([...groupedBy(leanings, ({ condition_id }) => condition_id)].map(([id, own]) => [id, viewOf(own)]));
  return (id) => views.get(id) ?? { token_id: null, strength: null, wallets: 0 };
}

function viewOf(leanings: readonly Leaning[]): SmartView {
  const leading = [...leanings].sort(byWeight)[0] as Leaning;
  if (leading.weight <= 0) return { token_id: null, strength: null, wallets: 0 };
  const [wallets, weight] = leanings.reduce(([count, sum], one) => [count + one.wallets, sum + one.weight], [0, 0]);
  return {
    token_id: leading.token_id,
    strength: wallets < FEWEST_WALLETS ? null : consensusStrength(leading.weight, weight),
    wallets: leading.wallets,
  };
}

/** Whether a consensus speaks clearly against the price of its outcome, as that is told. */
export const isContrarian = (strength: number | null, price: number | null): boolean =>
  strength !== null && strength >= CLEAR_STRENGTH && price !== null && roundTo(price, 6) < 0.5;
