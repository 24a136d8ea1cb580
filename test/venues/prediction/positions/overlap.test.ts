import { seededIntegers } from '../../../../src/lib/statistics';
import { type Sides, overlapOf } from '../../../../src/venues/prediction/positions/overlap';

interface Outcome {
  market: bigint;
  token: bigint;
  /** USDC, and whether the market counts it down. */
  paid: number;
  is_other: boolean;
  opened: number;
}

/** Of outcomes of a market that were paid as much the first is its top. */
const isTop = (own: readonly Outcome[], one: Outcome): boolean =>
  own.filter(({ market }) => market === one.market).reduce((top, next) => (next.paid > top.paid ? next : top)) === one;

function sidesOf(own: readonly Outcome[]): Sides {
  const ordered = [...own].sort((a, b) => (a.market < b.market ? -1 : a.market > b.market ? 1 : 0));
  return {
    markets: BigInt64Array.from(ordered, ({ market }) => market),
    tokens: BigInt64Array.from(ordered, ({ token }) => token),
    nets: Float64Array.from(ordered, ({ paid, is_other }) => (is_other ? -paid : paid)),
    tops: Uint8Array.from(ordered, (one) => Number(isTop(own, one))),
    opened: Float64Array.from(ordered, ({ opened }) => opened),
  };
}

const middle = (values: number[]): number | null => {
  const sorted = values.sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  if (sorted.length === 0) return null;
  return sorted.length % 2 === 1 ? (sorted[half] as number) : ((sorted[half - 1] as number) + (sorted[half] as number)) / 2;
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The same, market by market. */
function reckon(wallets: readonly (readonly Outcome[])[]) {
  const marketsOf = (own: readonly Outcome[]): bigint[] => [...new Set(own.map(({ market }) => market))];
  const on = (own: readonly Outcome[], market: bigint): Outcome[] => own.filter((one) => one.market === market);
  const net = (own: readonly Outcome[], market: bigint): number => sum(on(own, market).map(({ paid, is_other }) => (is_other ? -paid : paid))); // prettier-ignore
  const top = (own: readonly Outcome[], market: bigint): bigint | undefined => on(own, market).find((one) => isTop(own, one))?.token;
  const reaches = wallets.map((own) => ({ markets: marketsOf(own).length, norm: Math.hypot(...marketsOf(own).map((market) => net(own, market))) })); // prettier-ignore
  const pairs = wallets.flatMap((x, a) =>
    wallets.flatMap((y, b) => {
      const both = b > a ? marketsOf(x).filter((market) => on(y, market).length > 0) : [];
      if (both.length === 0) return [];
      const agreeing = both.filter((market) => top(x, market) === top(y, market)).length;
      const lags = x.flatMap((one) => y.filter(({ token }) => token === one.token).map(({ opened }) => (opened - one.opened) / 1e6));
      const product = sum(both.map((market) => net(x, market) * net(y, market)));
      return [{ a, b, shared: both.length, agreeing, product, median_lag: middle(lags) }];
    }),
  );
  const shared = [...new Set(wallets.flatMap(marketsOf))].flatMap((market) => {
    const holders = wallets.filter((own) => on(own, market).length > 0);
    return holders.length < 2 ? [] : [{ market, holders: holders.length, paid: sum(holders.flatMap((own) => on(own, market)).map(({ paid }) => paid)) }]; // prettier-ignore
  });
  return { reaches, pairs, shared: shared.sort((a, b) => (a.market < b.market ? -1 : 1)) };
}

const rounded = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer, (_, value: unknown) => typeof value === 'bigint' ? String(value) : typeof value === 'number' ? Number(value.toFixed(6)) : value)); // prettier-ignore

test('sides that are gone through side by side overlap as they do market by market', () => {
  const draw = new Uint32Array(1);
  const fill = seededIntegers(5);
  const below = (n: number): number => {
    fill(draw);
    return (draw[0] as number) % n;
  };
  let lags = 0;
  for (let round = 0; round < 200; round += 1) {
    const wallets = Array.from({ length: 2 + below(4) }, () => {
      const own: Outcome[] = [];
      for (let market = 0; market < 12; market += 1)
        for (let place = 0; place < 3; place += 1)
          if (below(4) === 0)
            own.push({ market: BigInt(market - 6) * 2n ** 59n, token: BigInt(3 * market + place - 18) * 2n ** 58n, paid: below(5) * 12.5, is_other: place > 0, opened: 1_000 * below(1e9) }); // prettier-ignore
      return below(10) === 0 ? [] : own;
    });
    const answer = overlapOf(wallets.map(sidesOf));
    expect(rounded(answer)).toEqual(rounded(reckon(wallets)));
    lags += answer.pairs.filter(({ median_lag }) => median_lag !== null).length;
  }
  expect(lags).toBeGreaterThan(200);
});
