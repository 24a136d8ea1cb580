import { testDatabase } from '../../../support/database';
import { call, callForError } from '../markets/call';
import { type Counted, type ToldWorld, PriceBook, countPositions, loadTold } from './told-world';

/** wallets/portfolio, every figure of it, a second time: from what the upstream told, in plain TypeScript. */

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const now = new Date(start.getTime() + 22 * DAY + 43_211_000);
const NOW = now.getTime();

type Row = Record<string, unknown>;
interface Portfolio { wallets: Row[]; totals: Row; by_category: Row[]; positions: Row[] | null; consensus: Row[]; conflicts: Row[] } // prettier-ignore
/** An open position with what a share of it is worth. */
interface Held extends Counted { price: number; value: number } // prettier-ignore

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const near = (value: number): unknown => expect.closeTo(value, 5);
const iso = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;
const groups = <Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] =>
  [...new Set(items.map(keyOf))].map((key) => items.filter((item) => keyOf(item) === key));

describe('a portfolio, counted again', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let told: ToldWorld;
  let counted: Counted[];
  let prices: PriceBook;
  let watched: string[];
  const scores = new Map<string, number>();
  const stranger = `0x${'5'.repeat(40)}`;

  beforeAll(async () => {
    db = await testDatabase();
    // Two days more than now: what is still to come must not show.
    told = await loadTold(db.pool, 11, 7_000, start, new Date(NOW + 2 * DAY));
    counted = countPositions(told, NOW);
    prices = new PriceBook(told.facts.filter(({ time }) => time < NOW));
    const trades = new Map<string, number>();
    for (const { wallet, token, time } of told.facts) if (token !== null && time < NOW) trades.set(wallet, (trades.get(wallet) ?? 0) + 1);
    watched = [...trades].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, 14).map(([wallet]) => wallet); // prettier-ignore
    for (const [index, wallet] of watched.slice(0, 5).entries()) {
      scores.set(wallet, 20 + 15 * index);
      await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, $2, $3, '{}', 'v')", [wallet, iso(NOW).slice(0, 10), 20 + 15 * index]); // prettier-ignore
    }
  });
  afterAll(() => db.drop());

  const ask = async (sent: Row): Promise<Portfolio> => (await call<Portfolio>(db, 'wallets/portfolio', now, sent)).data;

  /** Prices a token may have now: fills of its last second; else what the other outcome's leave. */
  function possible(one: Counted): number[] {
    const own = prices.last(one.token, NOW);
    const other = one.market.tokens.find((token) => token !== one.token) as string;
    return own.length > 0 ? own : prices.last(other, NOW).map((price) => 1 - price);
  }

  /** Prices as answered, each of them a possible one: fills of one second have no order that was told. */
  async function pricesOf(wallets: string[]): Promise<Map<string, number>> {
    const { positions } = await ask({ wallets, min_position_usdc: 0, limit: 200 });
    const answered = new Map((positions ?? []).map((row) => [row.token_id as string, row.current_price as number]));
    for (const [token, price] of answered) {
      const [one] = counted.filter((other) => other.token === token) as [Counted];
      expect(possible(one)).toContainEqual(near(price));
    }
    return answered;
  }

  interface Sent { wallets: string[]; include_positions?: boolean; min_position_usdc?: number; category?: string; sort_by?: string; limit?: number } // prettier-ignore

  function expected(sent: Sent, known: Map<string, number>): Portfolio {
    const own = counted.filter(
      (one) => sent.wallets.includes(one.wallet) && (sent.category === undefined || one.market.category === sent.category),
    );
    const open = own.filter(({ status }) => status === 'open').map((one): Held => ({ ...one, price: known.get(one.token) as number, value: one.shares * (known.get(one.token) as number) })); // prettier-ignore
    const ended = own.filter(({ status }) => status !== 'open');
    const sums = (held: readonly Held[]): Row => ({
      value_usdc: near(sum(held.map(({ value }) => value))),
      cost_usdc: near(sum(held.map(({ cost }) => cost))),
      unrealized_pnl_usdc: near(sum(held.map(({ value, cost }) => value - cost))),
      open_positions: held.length,
    });
    const whole = sum(open.map(({ value }) => value));
    const found = sent.wallets.filter((wallet) => told.facts.some((fact) => fact.wallet === wallet && fact.token !== null && fact.time < NOW)); // prettier-ignore
    const heavy = open.filter(({ value }) => value >= (sent.min_position_usdc ?? 10));
    const byToken = groups(heavy, ({ token }) => token);
    return {
      wallets: sent.wallets.map((wallet) => ({
        wallet,
        found: found.includes(wallet),
        score: scores.get(wallet) ?? null,
        ...sums(open.filter((one) => one.wallet === wallet)),
        realized_pnl_30d_usdc: near(sum(ended.filter((one) => one.wallet === wallet && (one.closed as number) >= NOW - 30 * DAY).map(({ gain }) => gain))), // prettier-ignore
      })),
      totals: {
        wallet_count: found.length,
        ...sums(open),
        realized_pnl_usdc: near(sum(ended.map(({ gain }) => gain))),
        markets: new Set(open.map(({ market }) => market.id)).size,
        // Nothing is not concentrated anywhere.
        hhi: whole === 0 ? null : near(sum(groups(open, ({ token }) => token).map((held) => (sum(held.map(({ value }) => value)) / whole) ** 2))), // prettier-ignore
      },
      by_category: groups(open, ({ market }) => market.category)
        .map((held) => ({ category: held[0]?.market.category, value: sum(held.map(({ value }) => value)), count: held.length }))
        .sort((a, b) => b.value - a.value)
        .map(({ category, value, count }) => ({ category, value_usdc: near(value), pct_of_value: near((100 * value) / whole), position_count: count })), // prettier-ignore
      positions: sent.include_positions === false ? null : positionsOf(byToken, sent),
      consensus: byToken
        .filter((held) => held.length >= 2)
        .sort((a, b) => b.length - a.length || costOf(b) - costOf(a))
        .map((held) => ({ condition_id: held[0]?.market.id, outcome: nameOf(held), wallet_count: held.length, usdc: near(costOf(held)) })),
      conflicts: groups(heavy, ({ market }) => market.id)
        .filter((held) => new Set(held.map(({ token }) => token)).size === 2 && new Set(held.map(({ wallet }) => wallet)).size >= 2)
        .sort((a, b) => costOf(b) - costOf(a))
        .map((held) => ({
          condition_id: held[0]?.market.id,
          outcomes: groups(held, ({ token }) => token)
            .sort((a, b) => costOf(b) - costOf(a))
            // prettier-ignore
            .map((side) => ({
              outcome: nameOf(side),
              token_id: side[0]?.token,
              outcome_index: side[0]?.market.tokens.indexOf(side[0].token),
              wallet_count: side.length,
              usdc: near(costOf(side)),
            })),
        })),
    };
  }

  const costOf = (held: readonly Counted[]): number => sum(held.map(({ cost }) => cost));
  const nameOf = ([one]: readonly Counted[]): string => one?.market.outcomes[one.market.tokens.indexOf(one.token)] as string;

  function positionsOf(byToken: readonly Held[][], { sort_by = 'value', limit = 50 }: Sent): Row[] {
    const rows = byToken.map((held) => {
      const [{ market, token, price }] = held as [Held];
      const value = sum(held.map((one) => one.value));
      const inMarket = groups(byToken.flat().filter((one) => one.market.id === market.id), (one) => one.token).map(costOf); // prettier-ignore
      const gain = value - costOf(held);
      const row = {
        condition_id: market.id,
        question: market.question,
        category: market.category,
        outcome: nameOf(held),
        token_id: token,
        wallet_count: held.length,
        wallets: held.map(({ wallet }) => wallet).sort(),
        shares: near(sum(held.map(({ shares }) => shares))),
        cost_usdc: near(costOf(held)),
        value_usdc: near(value),
        avg_buy_price: near(sum(held.map(({ paid }) => paid)) / sum(held.map(({ paidShares }) => paidShares))),
        current_price: near(price),
        unrealized_pnl_usdc: near(gain),
        // The larger side less the others, of all that was put into the market.
        agreement: near((2 * Math.max(...inMarket) - sum(inMarket)) / sum(inMarket)),
        end_date: iso(market.end),
      };
      return { row, token, key: { value, wallet_count: held.length, pnl: gain, end_date: -market.end }[sort_by] as number };
    });
    rows.sort((a, b) => (Math.abs(b.key - a.key) > 1e-7 ? b.key - a.key : a.token < b.token ? -1 : 1));
    return rows.slice(0, limit).map(({ row }) => row);
  }

  test('every parameter', async () => {
    const all = [...watched, stranger];
    const variations: Sent[] = [
      { wallets: all },
      ...['value', 'wallet_count', 'pnl', 'end_date'].map((sort_by) => ({ wallets: all, sort_by, min_position_usdc: 0, limit: 200 })),
      ...['value', 'wallet_count', 'pnl', 'end_date'].map((sort_by) => ({ wallets: all, sort_by, min_position_usdc: 40, limit: 4 })),
      ...['Sports', 'Crypto', 'Politics'].flatMap((category) => [
        { wallets: all, category, min_position_usdc: 0 },
        { wallets: watched.slice(0, 3), category, sort_by: 'pnl', min_position_usdc: 25 },
      ]),
      { wallets: all, include_positions: false, min_position_usdc: 200 },
      { wallets: watched.slice(4, 6), min_position_usdc: 0 },
      { wallets: [watched[0] as string], limit: 1 },
    ];
    let [agreed, opposed] = [0, 0];
    for (const sent of variations) {
      const answer = await ask(sent as unknown as Row);
      expect(answer).toEqual(expected(sent, await pricesOf(sent.wallets)));
      agreed += answer.consensus.length;
      opposed += answer.conflicts.length;
    }
    expect([agreed > 40, opposed > 15]).toEqual([true, true]);
  });

  test('any few wallets, not only the busiest', async () => {
    const everyone = [...new Set(counted.map(({ wallet }) => wallet))].sort();
    for (let first = 0; first < 60; first += 10) {
      const wallets = everyone.slice(first * 5, first * 5 + 50);
      const sent = { wallets, min_position_usdc: first, sort_by: 'pnl', limit: 200 };
      expect(await ask(sent)).toEqual(expected(sent, await pricesOf(wallets)));
    }
  });

  test('nobody, and nothing', async () => {
    expect((await callForError(db, 'wallets/portfolio', now, { wallets: [stranger] })).code).toBe('not_found');
    const categories = new Set(counted.filter(({ wallet }) => wallet === watched[0]).map(({ market }) => market.category));
    const unknown = ['Weather', 'Tech', 'World', 'Finance', 'Other'].find((category) => !categories.has(category));
    expect((await callForError(db, 'wallets/portfolio', now, { wallets: [watched[0]], category: unknown })).code).toBe('empty_result');
  });
});
