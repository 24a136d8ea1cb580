import DataLoader from 'dataloader';
import type {
  pm_market as MarketRecord,
  pm_outcome as OutcomeRecord,
  pm_wallet as WalletRecord,
  pm_wallet_score as ScoreRecord,
} from '../../generated/prisma/client';
import { byKey } from '../../lib/by-key';
import { groupedBy } from '../../lib/grouped';
import type { GraphContext } from '../venue';
import { isResolved } from './market-state';
import { less } from './exact';
import { loadGains } from './positions/gains';
import { findScanDay, listInsiderScores } from './queries/insider-runs';
import { type Judgement, listJudgements } from './queries/judgements';
import { listFillPrices } from './queries/market-prices';
import { listPricesBefore, listVolumesBefore } from './queries/trade-surroundings';
import { type ScoreRun, type VenueState, loadVenueState } from './queries/venue-state';
import type { WalletMarket } from './queries/wallet-history';
import type { TradeRow } from './queries/trade-row';
import { type TradedMarket, listTradedMarkets } from './queries/traded-markets';
import { overMarkets } from './scoring/insider';

/** One request's batched look-ups; made by `context.loaders(makeLoaders)`. */
export interface Loaders {
  market: DataLoader<string, MarketRecord | null>;
  /** Outcome tokens of a market, in the venue's order. */
  outcomes: DataLoader<string, OutcomeRecord[]>;
  /** A market in short, with its outcomes: what rows of trades are told with. */
  tradedMarket: DataLoader<string, TradedMarket | null>;
  wallet: DataLoader<string, WalletRecord | null>;
  /** A wallet in the newest run. */
  score: DataLoader<string, ScoreRecord | null>;
  /** The same in short: how a score came about is most of its record. */
  judgement: DataLoader<string, Judgement | null>;
  /** The venue's state as of the context's instant. */
  state(): Promise<VenueState>;
  /** The newest run up to the context's day of scores, or null. */
  scoreRun(): Promise<ScoreRun | null>;
  /** Price of each token of a market: its payout once resolved, else its last fill, else 1 less the other's, else the catalogue's. */
  prices: DataLoader<string, ReadonlyMap<string, string>>;
  /** Insider-pattern score of a wallet in the newest scan, or null. */
  insiderScore: DataLoader<string, number | null>;
  /** USDC taken on the row's market in the 24 hours up to its second, or null. */
  volumeBefore: DataLoader<TradeRow, string | null, string>;
  /** Price of the row's token before the second of its oldest fill, or null. */
  priceBefore: DataLoader<TradeRow, string | null, string>;
  /** Gains of a wallet's SELL and REDEEM rows on a market, by trade_id. */
  gains: DataLoader<WalletMarket, ReadonlyMap<string, string>, string>;
}

/** The wing's loaders for one request. */
export function makeLoaders(context: GraphContext): Loaders {
  const { prisma } = context;
  let known: Promise<VenueState> | undefined;
  const state = (): Promise<VenueState> => (known ??= loadVenueState(context.sql, context.now, context.scored_until));
  const scoreRun = async (): Promise<ScoreRun | null> => (await state()).run;
  const loaders: Loaders = {
    market: byKey(
      (ids) => prisma.pm_market.findMany({ where: { condition_id: { in: ids } } }),
      (row) => row.condition_id,
    ),
    outcomes: new DataLoader(async (ids) => {
      const rows = await prisma.pm_outcome.findMany({
        where: { condition_id: { in: [...ids] } },
        orderBy: [{ outcome_index: 'asc' }, { token_id: 'asc' }],
      });
      const groups = new Map<string, OutcomeRecord[]>(ids.map((id) => [id, []]));
      for (const row of rows) groups.get(row.condition_id)?.push(row);
      return ids.map((id) => groups.get(id) ?? []);
    }),
    tradedMarket: byKey(
      (ids) => listTradedMarkets(context.sql, ids),
      (row) => row.condition_id,
    ),
    wallet: byKey(
      (ids) => prisma.pm_wallet.findMany({ where: { wallet: { in: ids } } }),
      (row) => row.wallet,
    ),
    score: byKey(
      async (wallets) => {
        const run = await scoreRun();
        return run === null ? [] : prisma.pm_wallet_score.findMany({ where: { day: new Date(run.day), wallet: { in: wallets } } });
      },
      (row) => row.wallet,
    ),
    judgement: byKey(
      async (wallets) => {
        const run = await scoreRun();
        return run === null ? [] : listJudgements(context.sql, wallets, run.day);
      },
      (row) => row.wallet,
    ),
    state,
    scoreRun,
    prices: new DataLoader((ids) => loadPrices(context, loaders, ids)),
    insiderScore: new DataLoader(async (wallets) =>
      loadInsiderScores(context, wallets, await findScanDay(context.sql, context.now, (await scoreRun())?.day ?? null)),
    ),
    volumeBefore: byRow((rows) => listVolumesBefore(context.sql, rows, context.now)),
    priceBefore: byRow((rows) =>
      listPricesBefore(
        context.sql,
        rows.map(({ condition_id, token_id, first_at, timestamp }) => ({
          condition_id,
          token_id: token_id as string,
          at: first_at ?? timestamp,
        })),
      ),
    ),
    gains: new DataLoader((pairs) => loadGains(context, loaders, pairs), { cacheKeyFn: (pair) => `${pair.wallet}|${pair.condition_id}` }),
  };
  return loaders;
}

/** Figures about rows of one answer, told apart by their id. */
const byRow = (list: (rows: readonly TradeRow[]) => Promise<(string | null)[]>): DataLoader<TradeRow, string | null, string> =>
  new DataLoader(list, { cacheKeyFn: (row) => row.trade_id });

async function loadPrices(
  context: GraphContext,
  loaders: Pick<Loaders, 'market' | 'outcomes'>,
  ids: readonly string[],
): Promise<Map<string, string>[]> {
  const [fills, markets, outcomes] = await Promise.all([
    listFillPrices(
      context.sql,
      ids.map((condition_id) => ({ condition_id, at: context.now })),
    ),
    loaders.market.loadMany(ids),
    loaders.outcomes.loadMany(ids),
  ]);
  const last = new Map(fills.flatMap(({ token_id, last }) => (last === null ? [] : [[token_id, last] as const])));
  return ids.map((_, index) => pricesOf(orThrow(markets[index]), orThrow(outcomes[index]) ?? [], last, context.now));
}

function pricesOf(
  market: MarketRecord | null,
  outcomes: readonly OutcomeRecord[],
  last: ReadonlyMap<string, string>,
  now: Date,
): Map<string, string> {
  const resolved = market !== null && isResolved(market, now);
  return new Map(
    outcomes.flatMap(({ token_id, outcome, payout, price, price_at }): [string, string][] => {
      if (resolved)
        return [
          [
            token_id,
            payout?.toString() ?? (market.is_voided ? (1 / outcomes.length).toFixed(6) : outcome === market.winning_outcome ? '1' : '0'),
          ],
        ];
      const other = outcomes.length === 2 ? last.get(outcomes.find((one) => one.token_id !== token_id)?.token_id ?? '') : undefined;
      const known =
        last.get(token_id) ??
        (other === undefined ? undefined : less('1', other)) ??
        (price_at === null || price_at <= now ? price?.toString() : undefined);
      return known === undefined ? [] : [[token_id, known]];
    }),
  );
}

function orThrow<Value>(value: Value | Error | undefined): Exclude<Value, Error> {
  if (value instanceof Error) throw value;
  return value as Exclude<Value, Error>;
}

async function loadInsiderScores(
  { sql, now }: GraphContext,
  wallets: readonly string[],
  run_day: string | null,
): Promise<(number | null)[]> {
  const found = groupedBy(await listInsiderScores(sql, wallets, now, run_day), ({ wallet }) => wallet);
  return wallets.map((wallet) => (found.has(wallet) ? overMarkets((found.get(wallet) ?? []).map(({ score }) => score)) : null));
}
