import { median } from '../../../lib/statistics';
import { less, total } from '../exact';
import { groupedBy } from '../grouped';
import type { KnownPosition } from '../queries/known-positions';
import type { WalletReach } from '../queries/wallet-overlap';
import { unrealizedOf } from './position';

/** A wallet's side of a market: the outcome it put most into. */
interface Side {
  wallet: string;
  top: KnownPosition;
  all: KnownPosition[];
  /** USDC put in, and of it that in the first outcome less that in others. */
  paid: number;
  net: number;
}

/** Sides of one wallet by market. */
type Sides = ReadonlyMap<string, Side>;

const paidFor = ({ paid_usdc }: KnownPosition): number => Number(paid_usdc);
const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0);

function sidesOf(wallet: string, shared: readonly KnownPosition[]): Sides {
  const own = shared.filter((position) => position.wallet === wallet);
  const markets = [...groupedBy(own, ({ condition_id }) => condition_id)];
  return new Map(markets.map(([condition_id, positions]) => [condition_id, sideOf(wallet, positions)]));
}

function sideOf(wallet: string, positions: KnownPosition[]): Side {
  const all = positions.sort((a, b) => paidFor(b) - paidFor(a) || (a.token_id < b.token_id ? -1 : 1));
  const net = sum(all.map((position) => ((position.outcome_index ?? 0) === 0 ? paidFor(position) : -paidFor(position))));
  return { wallet, top: all[0] as KnownPosition, all, paid: sum(all.map(paidFor)), net };
}

/** Markets on which two of the wallets at least have positions, those of most wallets first, then of most USDC; `shared` holds all positions on such. */
export function sharedPositions(wallets: readonly string[], shared: readonly KnownPosition[]) {
  const sides = wallets.flatMap((wallet) => [...sidesOf(wallet, shared).values()]);
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

/** How alike each two of the wallets are, in the order of the wallets. */
export function pairsOf(
  wallets: readonly string[],
  { reaches, shared }: { reaches: readonly WalletReach[]; shared: readonly KnownPosition[] },
) {
  const all = wallets.map((wallet) => ({
    ...(reaches.find((reach) => reach.wallet === wallet) ?? { wallet, markets: 0, norm: 0 }),
    sides: sidesOf(wallet, shared),
  }));
  return all.flatMap((a, index) => all.slice(index + 1).map((b) => pairOf(a, b)));
}

type Reached = WalletReach & { sides: Sides };

function pairOf(a: Reached, b: Reached) {
  const both = [...a.sides.keys()].filter((id) => b.sides.has(id));
  const agreeing = both.filter((id) => a.sides.get(id)?.top.token_id === b.sides.get(id)?.top.token_id).length;
  const union = a.markets + b.markets - both.length;
  const product = sum(both.map((id) => (a.sides.get(id) as Side).net * (b.sides.get(id) as Side).net));
  return {
    a: a.wallet,
    b: b.wallet,
    jaccard: union === 0 ? 0 : both.length / union,
    position_cosine: a.norm * b.norm === 0 ? null : Math.min(1, Math.max(-1, product / (a.norm * b.norm))),
    shared_markets: both.length,
    agree_pct: both.length === 0 ? null : (100 * agreeing) / both.length,
    median_lag_seconds: median(lagsOf(a.sides, b.sides)),
  };
}

/** Seconds from the first one's opening of a position to the other's, of each token both held. */
function lagsOf(a: Sides, b: Sides): number[] {
  const opened = new Map([...a.values()].flatMap(({ all }) => all.map(({ token_id, opened_at }) => [token_id, opened_at.getTime()])));
  return [...b.values()].flatMap(({ all }) =>
    all.flatMap(({ token_id, opened_at }) => {
      const first = opened.get(token_id);
      return first === undefined ? [] : [(opened_at.getTime() - first) / 1_000];
    }),
  );
}
