import DataLoader from 'dataloader';
import type { perp_coin, perp_score } from '../../generated/prisma/client';
import type { GraphContext } from '../venue';
import { type PositionRow, listPositions } from './queries/held';
import { SMART_SCORE } from './tier';

/** The score run that an answer uses: the newest one up to its instant. */
export interface ScoreRun {
  day: Date;
  version: string;
}

/** Records of the wing by key, batched and kept for one request. */
export interface PerpsLoaders {
  /** Null before the first run. Names the run's version in the answer's meta. */
  scoreRun(): Promise<ScoreRun | null>;
  /** A trader's row of that run; null when the run does not know it. */
  score: DataLoader<string, perp_score | null>;
  /** Traders with a score of at least 85 in that run; null before the first run. */
  smartTraders(): Promise<string[] | null>;
  /** Traders with a score of at least `least` in that run, with it; null before the first run. */
  scoredFrom(least: number): Promise<Map<string, number> | null>;
  /** What a trader holds now, the largest first. */
  positions: DataLoader<string, PositionRow[]>;
  /** A coin's catalogue entry by its exact name; null when only its fills were seen. */
  coin: DataLoader<string, perp_coin | null>;
}

/** Made once a request: `context.loaders(makeLoaders)`. */
export function makeLoaders(context: GraphContext): PerpsLoaders {
  const { prisma, now, meta } = context;
  const run = once(async (): Promise<ScoreRun | null> => {
    const found = await prisma.perp_score.findFirst({
      where: { day: { lte: dayOf(now) } },
      orderBy: { day: 'desc' },
      select: { day: true, version: true },
    });
    if (found !== null) meta.score_version = found.version;
    return found;
  });
  const scoredFrom = async (least: number): Promise<Map<string, number> | null> => {
    const newest = await run();
    if (newest === null) return null;
    const rows = await prisma.perp_score.findMany({
      where: { day: newest.day, score: { gte: least } },
      select: { trader: true, score: true },
    });
    return new Map(rows.map(({ trader, score }) => [trader, Number(score)]));
  };
  return {
    scoreRun: run,
    score: new DataLoader(async (traders) => {
      const newest = await run();
      const rows = newest === null ? [] : await prisma.perp_score.findMany({ where: { day: newest.day, trader: { in: [...traders] } } });
      const byTrader = new Map(rows.map((row) => [row.trader, row]));
      return traders.map((trader) => byTrader.get(trader) ?? null);
    }),
    smartTraders: once(async () => {
      const scored = await scoredFrom(SMART_SCORE);
      return scored === null ? null : [...scored.keys()];
    }),
    scoredFrom,
    positions: new DataLoader(async (traders) => {
      const held = await listPositions(context, traders);
      return traders.map((trader) => held.get(trader) ?? []);
    }),
    coin: new DataLoader(async (coins) => {
      const rows = await prisma.perp_coin.findMany({ where: { coin: { in: [...coins] }, is_delisted: { not: null } } });
      const byCoin = new Map(rows.map((row) => [row.coin, row]));
      return coins.map((coin) => byCoin.get(coin) ?? null);
    }),
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

const dayOf = (time: Date): Date => new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()));
