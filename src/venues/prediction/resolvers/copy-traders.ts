import { AppError } from '../../../errors';
import { groupedBy } from '../../../lib/grouped';
import { mean } from '../../../lib/statistics';
import { type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { total } from '../exact';
import { makeLoaders } from '../loaders';
import { narrowToNewest } from '../queries/copy-trades';
import { type KnownPosition, listTokenPositions } from '../queries/known-positions';
import { type Copier, scanCopiers } from '../scoring/copy-scan';
import type { CopyTrade } from '../scoring/copying';
import { MACHINE_TAGS } from '../scoring/tiers';
import { unrealizedOf } from './position';
import { nameRun, unknownWallet, walletsScope } from './wallets';

/** Fills of a leader looked at: enough to tell who copies it, few enough to look everybody's trades after them up. */
const MOST_FILLS = 2_000;

interface CopyTradersArgs {
  wallet: string;
  max_lag_minutes: number;
  timeframe: Timeframe;
  min_overlap_trades: number;
  limit: number;
}

/** wallets/copy-traders: wallets that copy one wallet, machines left out; of a leader that traded much, in the part of the window that holds its newest fills. Throws not_found for a leader that never traded, empty_result without a follower. */
export const walletsCopyTraders: Resolver<unknown, CopyTradersArgs> = async (_, args, context) => {
  const asked = windowOf(args.timeframe, context.now);
  context.meta.timeframe = args.timeframe;
  const loaders = context.loaders(makeLoaders);
  const [record] = await Promise.all([loaders.wallet.load(args.wallet), nameRun(context)]);
  const first = record?.first_trade_at ?? null;
  if (first === null || first >= context.now) throw unknownWallet(args.wallet);
  const window = await narrowToNewest(context.sql, args.wallet, asked, first, MOST_FILLS);
  context.meta.window = window;
  if (window.from > asked.from)
    context.meta.warnings.push(
      `The wallet traded more than ${MOST_FILLS} times in the timeframe: only its newest trades, and those of others since, are compared.`,
    );
  const scope = { leader: args.wallet, window, max_lag_ms: args.max_lag_minutes * 60_000, min_overlap: args.min_overlap_trades };
  const copiers = await scanCopiers(context.sql, scope);
  const scores = new Map(await Promise.all(copiers.map(async ({ wallet }) => [wallet, await loaders.score.load(wallet)] as const)));
  const people = copiers.filter(
    ({ wallet }) => !(scores.get(wallet)?.tags ?? []).some((tag) => (MACHINE_TAGS as readonly string[]).includes(tag)),
  );
  if (people.length === 0)
    throw new AppError('empty_result', { suggestion: args.timeframe === 'all' ? { min_overlap_trades: 1 } : { timeframe: 'all' } });
  const shown = people.slice(0, args.limit);
  context.meta.count = shown.length;
  const copied = new Map(shown.map(({ wallet, matches }) => [wallet, new Set(matches.map(({ follower }) => follower.token_id))]));
  const tokens = new Set([...copied.values()].flatMap((own) => [...own]));
  const held = await listTokenPositions(context.sql, await walletsScope([...copied.keys()], context), [...tokens]);
  const positions = groupedBy(
    held.filter(({ wallet, token_id }) => copied.get(wallet)?.has(token_id)),
    ({ wallet }) => wallet,
  );
  return Promise.all(
    shown.map((copier) => copierOf(copier, positions.get(copier.wallet) ?? [], scores.get(copier.wallet)?.score ?? null, context)),
  );
};

const priceOf = ({ usdc, size }: CopyTrade): number => usdc / size;

async function copierOf(copier: Copier, positions: readonly KnownPosition[], score: unknown, context: GraphContext) {
  const { matches } = copier;
  const bought = matches.filter(({ follower }) => follower.side === 'BUY');
  return {
    ...copier,
    copied_tokens: await tokensOf(copier, context),
    wallet_score: score,
    overlap_pct: 100 * copier.coverage,
    copied_usdc: bought.reduce((sum, { follower }) => sum + follower.usdc, 0),
    avg_slippage: mean(matches.map(({ leader, follower }) => priceOf(follower) - priceOf(leader))),
    follower_pnl_usdc: total(positions.flatMap((position) => [position.gain, unrealizedOf(position) ?? '0'])),
  };
}

/** Tokens copied, each with the lag of its first copy, oldest first. */
async function tokensOf({ matches }: Copier, context: GraphContext) {
  const loaders = context.loaders(makeLoaders);
  const firsts = [...groupedBy(matches, ({ follower }) => follower.token_id).values()].map((own) => own[0] as Copier['matches'][number]);
  return Promise.all(
    firsts.map(async ({ follower: { token_id, condition_id }, lag_seconds }) => {
      const [market, outcomes] = await Promise.all([loaders.market.load(condition_id), loaders.outcomes.load(condition_id)]);
      const outcome = outcomes.find((one) => one.token_id === token_id)?.outcome ?? null;
      return { token_id, condition_id, question: market?.question ?? null, outcome, lag_seconds };
    }),
  );
}
