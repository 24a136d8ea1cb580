import { median } from '../../../lib/statistics';
import { less, total } from '../exact';
import { groupedBy } from '../grouped';
import type { SharedPosition, WalletReach } from '../queries/wallet-overlap';
import { unrealizedOf } from './position';

/** A wallet's side of a market: the outcome it put most into. */
interface Side {
  wallet: string;
  top: SharedPosition;
  all: SharedPosition[];
  /** USDC put in, and of it that in the first outcome less that in others. */
  paid: number;
  net: number;
}

/** A wallet's sides by market, and when it opened its positions by token. */
export interface WalletSides {
  sides: ReadonlyMap<string, Side>;
  opened: ReadonlyMap<string, number>;
}

const paidFor = ({ paid_usdc }: SharedPosition): number => Number(paid_usdc);
const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0);

/** The sides of each wallet, in the order of the wallets; `shared` holds all positions on markets of two wallets at least. */
export function sidesOf(wallets: readonly string[], shared: readonly SharedPosition[]): Map<string, WalletSides> {
  const positions = groupedBy(shared, ({ wallet }) => wallet);
  return new Map(
    wallets.map((wallet) => {
      const own = positions.get(wallet) ?? [];
      const markets = [...groupedBy(own, ({ condition_id }) => condition_id)];
      const sides = new Map(markets.map(([condition_id, held]) => [condition_id, sideOf(wallet, held)]));
      return [wallet, { sides, opened: new Map(own.map(({ token_id, opened_at }) => [token_id, opened_at.getTime()])) }];
    }),
  );
}

function sideOf(wallet: string, held: SharedPosition[]): Side {
  const all = held.sort((a, b) => paidFor(b) - paidFor(a) || (a.token_id < b.token_id ? -1 : 1));
  const net = sum(all.map((position) => ((position.outcome_index ?? 0) === 0 ? paidFor(position) : -paidFor(position))));
  return { wallet, top: all[0] as SharedPosition, all, paid: sum(all.map(paidFor)), net };
}

/** Markets on which two of the wallets at least have positions, those of most wallets first, then of most USDC. */
export function sharedPositions(all: ReadonlyMap<string, WalletSides>) {
  const sides = [...all.values()].flatMap((own) => [...own.sides.values()]);
  return [...groupedBy(sides, ({ top }) => top.condition_id)]
    .filter(([, held]) => held.length >= 2)
    .map(([condition_id, held]) => ({ condition_id, held, weight: sum(held.map(({ paid }) => paid)) }))
    .sort((a, b) => b.held.length - a.held.length || b.weight - a.weight || (a.condition_id < b.condition_id ? -1 : 1))
    .map(({ condition_id, held }) => ({
      condition_id,
      question: held[0]?.top.question ?? null,
      holders: held.map(({ wallet, top, all }) => ({
        wallet,
        outcome: top.outcome ?? top.token_id,
        net_shares: less(top.shares, top.redeemed_shares),
        avg_buy_price: paidFor(top) / Number(top.paid_shares),
        pnl: total(all.flatMap((position) => [position.gain, unrealizedOf(position) ?? '0'])),
      })),
      same_side: new Set(held.map(({ top }) => top.token_id)).size === 1,
    }));
}

/** How alike each two of the wallets are, in their order. */
export function pairsOf(all: ReadonlyMap<string, WalletSides>, reaches: readonly WalletReach[]) {
  const reached = [...all].map(([wallet, own]) => ({
    ...(reaches.find((reach) => reach.wallet === wallet) ?? { wallet, markets: 0, norm: 0 }),
    ...own,
  }));
  return reached.flatMap((a, index) => reached.slice(index + 1).map((b) => pairOf(a, b)));
}

type Reached = WalletReach & WalletSides;

function pairOf(a: Reached, b: Reached) {
  const both = [...a.sides.values()].flatMap((mine) => {
    const theirs = b.sides.get(mine.top.condition_id);
    return theirs === undefined ? [] : [{ mine, theirs }];
  });
  const agreeing = both.filter(({ mine, theirs }) => mine.top.token_id === theirs.top.token_id).length;
  const union = a.markets + b.markets - both.length;
  const product = sum(both.map(({ mine, theirs }) => mine.net * theirs.net));
  return {
    a: a.wallet,
    b: b.wallet,
    jaccard: union === 0 ? 0 : both.length / union,
    position_cosine: a.norm * b.norm === 0 ? null : Math.min(1, Math.max(-1, product / (a.norm * b.norm))),
    shared_markets: both.length,
    agree_pct: both.length === 0 ? null : (100 * agreeing) / both.length,
    median_lag_seconds: median(lagsOf(a, b)),
  };
}

/** Seconds from the first one's opening of a position to the other's, of each token both held. */
function lagsOf(a: WalletSides, b: WalletSides): number[] {
  const lags: number[] = [];
  for (const [token_id, opened] of b.opened) {
    const first = a.opened.get(token_id);
    if (first !== undefined) lags.push((opened - first) / 1_000);
  }
  return lags;
}
