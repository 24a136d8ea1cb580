import DataLoader from 'dataloader';
import { byKey } from '../../lib/by-key';
import type { Sql, Statement } from '../../db/sql';
import type { perp_coin } from '../../generated/prisma/client';
import type { GraphContext } from '../venue';
import { type PositionRow, listPositions } from './queries/held';
import { listKnownCoins } from './queries/find-coin';
import { TIMED_UNTIL } from './rollups/timings';
import { SCORE_COLUMNS, type ScoreRow } from './queries/linked-scores';

/** The score run that an answer uses: the newest one up to its instant. */
export interface ScoreRun {
  /** YYYY-MM-DD. */
  day: string;
  version: string;
  /** Whether the rollups of smart accounts are of this run. */
  is_told: boolean;
}

const SCORE_RUN: Statement = {
  name: 'perps_score_run',
  keyed: true,
  text: 'SELECT s.day::text AS day, s.version, EXISTS (SELECT 1 FROM perp_smart_run r WHERE r.day = s.day) AS is_told FROM perp_score s WHERE s.day <= $1::date ORDER BY s.day DESC LIMIT 1',
};

const FIRST_FILL: Statement = { name: 'perps_first_fill', keyed: true, text: 'SELECT min(first_at) AS at FROM perp_trader' };
const NEWEST_FILL: Statement = { name: 'perps_newest_fill', keyed: true, text: 'SELECT max(last_at) AS at FROM perp_trader' };

const SCORES: Statement = {
  name: 'perps_scores',
  keyed: true,
  text: `SELECT ${SCORE_COLUMNS} FROM perp_score WHERE day = $1::date AND trader = ANY ($2::text[])`,
};

/** The newest run up to a UTC day (YYYY-MM-DD); null before the first. */
async function findScoreRun(sql: Sql, day: string): Promise<ScoreRun | null> {
  const [run] = await sql.query<ScoreRun>(SCORE_RUN, [day]);
  return run ?? null;
}

/** Records of the wing by key, batched and kept for one request. */
export interface PerpsLoaders {
  /** Null before the first run. Names the run's version in the answer's meta. */
  scoreRun(): Promise<ScoreRun | null>;
  /** The first fill of all; null before it. */
  firstFill(): Promise<Date | null>;
  /** When the newest fill was, in milliseconds; -Infinity before the first. */
  newestFill(): Promise<number>;
  /** Up to when perp_timing tells how well accounts timed their opens. */
  timedUntil(): Promise<Date>;
  /** A trader's row of that run; null when the run does not know it. */
  score: DataLoader<string, ScoreRow | null>;
  /** What a trader holds now, the largest first. */
  positions: DataLoader<string, PositionRow[]>;
  /** A coin by its exact name, of the catalogue or only of fills. */
  coin: DataLoader<string, perp_coin | null>;
  /** The venue's spelling of a coin; null when it has none. */
  spelling: DataLoader<string, string | null>;
}

/** Made once a request: `context.loaders(makeLoaders)`. */
export function makeLoaders(context: GraphContext): PerpsLoaders {
  const { prisma, sql, meta } = context;
  const run = once(async (): Promise<ScoreRun | null> => {
    const found = await findScoreRun(sql, context.scored_until);
    if (found !== null) meta.score_version = found.version;
    return found;
  });
  return {
    scoreRun: run,
    firstFill: once(async () => {
      const [row] = await sql.query<{ at: Date | null }>(FIRST_FILL, []);
      return row?.at ?? null;
    }),
    newestFill: once(async () => {
      const [row] = await sql.query<{ at: Date | null }>(NEWEST_FILL, []);
      return row?.at?.getTime() ?? Number.NEGATIVE_INFINITY;
    }),
    timedUntil: once(async () => {
      const [row] = await sql.query<{ until: Date }>(TIMED_UNTIL, [context.now]);
      return (row as { until: Date }).until;
    }),
    score: byKey(
      async (traders) => {
        const newest = await run();
        return newest === null ? [] : sql.query<ScoreRow>(SCORES, [newest.day, traders]);
      },
      (row) => row.trader,
    ),
    positions: new DataLoader(async (traders) => {
      const held = await listPositions(context, traders);
      return traders.map((trader) => held.get(trader) ?? []);
    }),
    coin: byKey(
      (coins) => prisma.perp_coin.findMany({ where: { coin: { in: coins } } }),
      (row) => row.coin,
    ),
    spelling: new DataLoader(async (coins) => (await listKnownCoins(sql, coins, context.now)).map((known) => known?.coin ?? null)),
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
