import DataLoader from 'dataloader';
import type { pm_market as MarketRecord, pm_outcome as OutcomeRecord, pm_wallet as WalletRecord, pm_wallet_score as ScoreRecord } from '../../generated/prisma/client';
import type { GraphContext } from '../venue';
import { listPricesBefore, listVolumesBefore } from './queries/trade-surroundings';
import type { TradeRow } from './queries/trade-row';

/** A daily run of the scores. */
export interface ScoreRun {
  day: Date;
  version: string;
}

/** One request's batched look-ups; made by `context.loaders(makeLoaders)`. */
export interface Loaders {
  market: DataLoader<string, MarketRecord | null>;
  /** Outcome tokens of a market, in the venue's order. */
  outcomes: DataLoader<string, OutcomeRecord[]>;
  wallet: DataLoader<string, WalletRecord | null>;
  /** A wallet in the newest run. */
  score: DataLoader<string, ScoreRecord | null>;
  /** The newest run up to the context's day, or null. */
  scoreRun(): Promise<ScoreRun | null>;
  /** USDC taken on the row's market in the 24 hours up to its second, or null. */
  volumeBefore: DataLoader<TradeRow, string | null, string>;
  /** Price of the row's token before its second, or null. */
  priceBefore: DataLoader<TradeRow, string | null, string>;
}

/** The wing's loaders for one request. */
export function makeLoaders(context: GraphContext): Loaders {
  const { prisma, now } = context;
  let run: Promise<ScoreRun | null> | undefined;
  const scoreRun = (): Promise<ScoreRun | null> => (run ??= prisma.pm_wallet_score.findFirst({ where: { day: { lte: now } }, orderBy: { day: 'desc' }, select: { day: true, version: true } }));
  return {
    market: byKey((ids) => prisma.pm_market.findMany({ where: { condition_id: { in: ids } } }), (row) => row.condition_id),
    outcomes: new DataLoader(async (ids) => {
      const rows = await prisma.pm_outcome.findMany({ where: { condition_id: { in: [...ids] } }, orderBy: [{ outcome_index: 'asc' }, { token_id: 'asc' }] });
      const groups = Map.groupBy(rows, (row) => row.condition_id);
      return ids.map((id) => groups.get(id) ?? []);
    }),
    wallet: byKey((ids) => prisma.pm_wallet.findMany({ where: { wallet: { in: ids } } }), (row) => row.wallet),
    score: byKey(async (wallets) => {
      const latest = await scoreRun();
      return latest === null ? [] : prisma.pm_wallet_score.findMany({ where: { day: latest.day, wallet: { in: wallets } } });
    }, (row) => row.wallet),
    scoreRun,
    volumeBefore: byRow((rows) => listVolumesBefore(context.sql, rows)),
    priceBefore: byRow((rows) => listPricesBefore(context.sql, rows)),
  };
}

function byKey<Row>(list: (keys: string[]) => Promise<Row[]>, keyOf: (row: Row) => string): DataLoader<string, Row | null> {
  return new DataLoader(async (keys) => {
    const found = new Map((await list([...keys])).map((row) => [keyOf(row), row]));
    return keys.map((key) => found.get(key) ?? null);
  });
}

/** Figures about rows of one answer, told apart by their id. */
function byRow(list: (rows: readonly TradeRow[]) => Promise<Map<string, string>>): DataLoader<TradeRow, string | null, string> {
  return new DataLoader(
    async (rows) => {
      const found = await list(rows);
      return rows.map((row) => found.get(row.trade_id) ?? null);
    },
    { cacheKeyFn: (row) => row.trade_id },
  );
}
