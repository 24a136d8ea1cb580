import type { Counted, Told, ToldMarket } from '../wallets/told-world';
import { call } from './call';
import {
  type ScoredWorld,
  NOW,
  dumbOn,
  heldOf,
  isResolved,
  leaderOf,
  loadScoredWorld,
  near,
  priceOf,
  scoreNow,
  scoredOn,
  statusOf,
  sumOf,
} from './scored-world';
import { type Held, byScore, consensusOf, independent, iso, median, usdcOf } from './signal-reckoning';

/** Reports of one market by every parameter, all money in them, a second time from what the upstream told. */

const DAY = 86_400_000;
type Row = Record<string, unknown>;

describe('one market, counted again', () => {
  let world: ScoredWorld;
  let markets: ToldMarket[];

  beforeAll(async () => {
    world = await loadScoredWorld(22, 6_000);
    const held = (market: ToldMarket): number => scoredOn(world, market, (score) => score >= 60).length;
    const known = [...world.told.markets.values()].filter(({ created }) => created <= NOW);
    const busy = [...known].sort((a, b) => held(b) - held(a) || (a.id < b.id ? -1 : 1));
    const open = busy.filter((market) => !isResolved(market));
    markets = [...open.slice(0, 5), ...busy.filter(isResolved).slice(0, 3), open.at(-1) as ToldMarket];
  });
  afterAll(() => world.db.drop());

  const any = expect.anything() as unknown;
  const tagsOf = (wallet: string): string[] => world.tags.get(wallet) ?? [];
  const buysOf = (market: ToldMarket, wallet: string, token: string): Told[] =>
    world.book.fills(market.id).filter((fact) => fact.wallet === wallet && fact.token === token && fact.side === 'BUY');
  const firstBuy = (market: ToldMarket, wallet: string, token: string): string | null => {
    const times = buysOf(market, wallet, token).map(({ time }) => time);
    return times.length === 0 ? null : iso(Math.min(...times));
  };
  const rounded = (score: number): unknown => expect.closeTo(score, 1);
  const outcomeOf = (market: ToldMarket, token: string): Row => ({ outcome: world.book.nameOf(market, token), token_id: token, outcome_index: market.tokens.indexOf(token) }); // prettier-ignore
  const ask = (path: string, sent: Row): Promise<unknown> =>
    call<Row>(world.db, path, world.now, sent).then(({ data }) => data, (error: { code: string }) => error.code); // prettier-ignore
  const ratio = (part: number, whole: number): unknown => (whole === 0 ? null : near(part / whole));

  test('markets/intelligence', async () => {
    let seen = 0;
    for (const market of markets) {
      for (const [min_score, exclude_market_makers, top_n_wallets] of [[60, true, 10], [60, false, 2], [75, false, 50], [0, true, 3], [100, true, 10]] as const) {
        const sent = { condition_id: market.id, min_score, exclude_market_makers, top_n_wallets };
        const all = scoredOn(world, market, () => true);
        if (all.length === 0) {
          expect([sent, await ask('markets/intelligence', sent)]).toEqual([sent, 'empty_result']);
          continue;
        }
        const smart = all.filter(({ score, wallet }) => score >= min_score && !(exclude_market_makers && tagsOf(wallet).includes('market_maker')));
        const low = all.filter(({ score }) => score <= 30);
        const [wise, foolish, leader] = [consensusOf(smart, byScore), dumbOn(world, market), leaderOf(world, market)];
        const weight = sumOf(wise.wallets, (one) => one.weight);
        const favoured = wise.strength === null ? null : (wise.token as string);
        const fools = foolish.strength === null ? null : (foolish.token as string);
        const price = favoured === null ? undefined : priceOf(world, market, favoured);
        const day = world.book.fills(market.id).filter(({ time }) => time >= NOW - DAY);
        const [taken, before] = [day.filter(({ taker }) => taker), world.book.fills(market.id).filter(({ taker, time }) => taker && time >= NOW - 2 * DAY && time < NOW - DAY)];
        const clever = day.filter(({ wallet, time }) => (world.book.scoreAt(wallet, time) ?? -1) >= min_score);
        const [now, then] = [sumOf(taken, ({ usdc }) => usdc), sumOf(before, ({ usdc }) => usdc)];
        const moved = then === 0 ? (now > 0 ? Infinity : 0) : (100 * (now - then)) / then;
        const alone = weight > 0 ? independent(wise.wallets) : null;
        const money = (stances: Held[], token: string): Row => {
          const own = stances.filter((one) => one.token === token);
          return { ...outcomeOf(market, token), wallet_count: own.length, total_usdc: near(sumOf(own, ({ cost }) => cost)), percentage: stances.length === 0 ? 0 : near((100 * sumOf(own, ({ cost }) => cost)) / sumOf(stances, ({ cost }) => cost)) };
        };
        const top = (token: string): unknown[] => {
          const own = smart.filter((one) => one.token === token).sort((a, b) => b.cost - a.cost || (a.wallet < b.wallet ? -1 : 1));
          return own.slice(0, top_n_wallets).map((one) => {
            const worth = priceOf(world, market, token);
            return {
              wallet: one.wallet, score: rounded(one.score), tags: tagsOf(one.wallet), usdc_invested: near(one.cost), net_position: near(one.shares), avg_buy_price: near(one.paid / one.paidShares), entry_edge: worth === undefined ? any : near(worth - one.paid / one.paidShares),
              first_buy_at: firstBuy(market, one.wallet, token), also_on_other_side: smart.some((other) => other.wallet === one.wallet && other.token !== token),
            };
          });
        };
        const strong = (wallets: number, strength: number): boolean => (alone ?? 0) >= wallets && (wise.strength ?? 0) >= strength;
        const paid = (token: string): number => sumOf(smart.filter((one) => one.token === token), (one) => one.paid);
        expect([sent, await ask('markets/intelligence', sent)]).toEqual([sent, {
          condition_id: market.id, question: market.question, category: market.category, end_date: iso(market.end),
          outcomes: market.tokens.map((token) => { const worth = priceOf(world, market, token); return { ...outcomeOf(market, token), price: worth === undefined ? any : near(worth), volume_24h: near(sumOf(taken.filter((one) => one.token === token), ({ usdc }) => usdc)) }; }),
          smart_money: {
            consensus_outcome: favoured === null ? null : world.book.nameOf(market, favoured), consensus_strength: near(wise.strength), independent_wallets: near(alone),
            by_outcome: market.tokens.map((token) => ({ ...money(smart, token), top_wallets: top(token), avg_entry_price: ratio(paid(token), sumOf(smart.filter((one) => one.token === token), (one) => one.paidShares)) })),
          },
          dumb_money: {
            consensus_outcome: fools === null ? null : world.book.nameOf(market, fools), contrarian_to_smart: favoured === null || fools === null ? null : favoured !== fools, by_outcome: market.tokens.map((token) => money(low, token)),
          },
          signal_analysis: {
            smart_vs_price_aligned: favoured === null ? null : leader === undefined ? any : world.book.nameOf(market, favoured) === leader.outcome, contrarian_signal: isResolved(market) || (wise.strength ?? 0) < 0.6 ? false : price === undefined ? any : price < 0.5,
            smart_bias: weight === 0 ? null : leader === undefined ? any : near((100 * (2 * sumOf(wise.wallets.filter((one) => world.book.nameOf(market, one.token) === leader.outcome), (one) => one.weight) - weight)) / weight),
            confidence: strong(10, 0.7) ? 'high' : strong(5, 0.6) ? 'medium' : 'low', signal_summary: expect.any(String) as unknown, reasons: expect.any(Array) as unknown,
          },
          recent_activity: {
            volume_24h: near(now), trade_count_24h: taken.length, buy_sell_ratio: ratio(usdcOf(taken, 'BUY'), usdcOf(taken, 'SELL')), volume_trend: moved > 5 ? 'rising' : moved < -5 ? 'falling' : 'flat',
            smart_net_flow_24h: near(usdcOf(clever, 'BUY') - usdcOf(clever, 'SELL')),
          },
        }]);
        seen += smart.length;
      }
    } // prettier-ignore
    expect(seen).toBeGreaterThan(50);
  });

  /** Nobody has redeemed anything of a market that is open. */
  const open = (): ToldMarket[] => markets.filter((market) => !isResolved(market)).slice(0, 5);

  test('markets/ownership', async () => {
    const sizes = [['<10', 0, 10], ['10-100', 10, 100], ['100-1k', 100, 1_000], ['1k-10k', 1_000, 10_000], ['10k+', 10_000, Infinity]] as const; // prettier-ignore
    let seen = 0;
    for (const market of open()) {
      for (const [place, limit, min_shares] of [[null, 20, 1], [0, 2, 0], [1, 100, 50], [null, 5, 5_000]] as const) {
        const sent = { condition_id: market.id, limit, min_shares, ...(place === null ? {} : { outcome: limit > 50 ? market.tokens[place] : market.outcomes[place] }) };
        const holders = heldOf(world, market).filter(({ shares }) => shares >= min_shares);
        const tokens = place === null ? market.tokens : [market.tokens[place] as string];
        const outcomes = tokens.map((token) => {
          const own = holders.filter((one) => one.token === token).sort((a, b) => b.shares - a.shares || (a.wallet < b.wallet ? -1 : 1));
          const [whole, price] = [sumOf(own, ({ shares }) => shares), priceOf(world, market, token)];
          const part = (some: Counted[]): unknown => (whole === 0 ? 0 : near((100 * sumOf(some, ({ shares }) => shares)) / whole));
          const scored = (test: (score: number) => boolean): Counted[] => own.filter(({ wallet }) => { const score = scoreNow(world, wallet); return score !== null && test(score); });
          const ascending = own.map(({ shares }) => shares).sort((a, b) => a - b);
          const lorenz = sumOf(ascending.map((shares, at) => (2 * (at + 1) - own.length - 1) * shares), (one) => one);
          const value = (one: Counted): unknown => (price === undefined ? any : near(one.shares * price));
          return {
            ...outcomeOf(market, token), price: price === undefined ? any : near(price), holder_count: own.length, total_shares: near(whole), total_value_usdc: price === undefined ? any : near(whole * price),
            top1_pct: part(own.slice(0, 1)), top5_pct: part(own.slice(0, 5)), top10_pct: part(own.slice(0, 10)), hhi: near(whole === 0 ? 0 : sumOf(own, ({ shares }) => (shares / whole) ** 2)), gini: near(whole === 0 ? 0 : lorenz / (own.length * whole)),
            smart_share_pct: part(scored((score) => score >= 60)), dumb_share_pct: part(scored((score) => score <= 30)),
            holders: own.slice(0, limit).map((one, at) => {
              const score = scoreNow(world, one.wallet);
              return {
                rank: at + 1, wallet: one.wallet, wallet_score: score === null ? null : rounded(score), wallet_tags: tagsOf(one.wallet), shares: near(one.shares), pct_of_outcome: part([one]), value_usdc: value(one), avg_buy_price: near(one.paid / one.paidShares),
                unrealized_pnl_usdc: one.status !== 'open' ? null : price === undefined ? any : near(one.shares * price - one.cost), first_buy_at: firstBuy(market, one.wallet, token),
              };
            }),
            distribution: sizes.map(([size_bucket, from, below]) => {
              const inside = own.filter(({ shares }) => price !== undefined && shares * price >= from && shares * price < below);
              return price === undefined ? any : { size_bucket, holder_count: inside.length, shares: near(sumOf(inside, ({ shares }) => shares)), pct_of_outcome: part(inside) };
            }),
          };
        });
        const answer = await ask('markets/ownership', sent);
        if (outcomes.every(({ holder_count }) => holder_count === 0)) {
          expect([sent, answer]).toEqual([sent, 'empty_result']);
          continue;
        }
        const sides = holders.filter((one) => holders.some((other) => other.wallet === one.wallet && other.token < one.token));
        expect([sent, answer]).toEqual([sent, { condition_id: market.id, question: market.question, category: market.category, outcomes, overlap_holders: sides.length }]);
        seen += sumOf(outcomes, ({ holders: shown }) => shown.length);
      }
    } // prettier-ignore
    expect(seen).toBeGreaterThan(20);
  });

  test('markets/early-movers', async () => {
    let seen = 0;
    for (const market of open()) {
      for (const [place, min_usdc, limit, exclude_market_makers, smart_money_only] of [[null, 10, 25, true, false], [0, 200, 5, false, false], [1, 0, 100, true, true], [null, 0, 100, false, false]] as const) {
        const sent = { condition_id: market.id, min_usdc, limit, exclude_market_makers, smart_money_only, ...(place === null ? {} : { outcome: market.outcomes[place] }) };
        const opened = Math.min(market.created, ...world.book.fills(market.id).map(({ time }) => time));
        const bought = world.book.fills(market.id).filter(({ side, token }) => side === 'BUY' && (place === null || token === market.tokens[place]));
        const pairs = [...new Set(bought.map(({ wallet, token }) => `${wallet}|${token}`))].map((key) => key.split('|') as [string, string]);
        const movers = pairs.flatMap(([wallet, token]) => {
          const own = buysOf(market, wallet, token);
          const first = Math.min(...own.map(({ time }) => time));
          const opening = own.filter(({ time }) => time === first);
          const score = scoreNow(world, wallet);
          if ((exclude_market_makers && tagsOf(wallet).includes('market_maker')) || (smart_money_only && (score ?? -1) < 60)) return [];
          // Transactions of one second have no order that was told.
          const single = new Set(opening.map(({ tx }) => tx)).size === 1;
          return [{ wallet, token, own, first, score, single, usdc: sumOf(opening, ({ usdc }) => usdc), entry: sumOf(opening, ({ usdc }) => usdc) / sumOf(opening, ({ size }) => size) }];
        });
        const large = movers.filter(({ usdc }) => usdc >= min_usdc - 1e-9).sort((a, b) => a.first - b.first || (`${a.wallet}|${a.token}` < `${b.wallet}|${b.token}` ? -1 : 1)).slice(0, limit);
        const answer = await ask('markets/early-movers', sent);
        if (large.length === 0) {
          expect([sent, answer]).toEqual([sent, 'empty_result']);
          continue;
        }
        const wallets = [...new Set(large.map(({ wallet }) => wallet))];
        expect([sent, answer]).toEqual([sent, {
          condition_id: market.id, question: market.question, category: market.category, opened_at: iso(opened), status: statusOf(market),
          movers: large.map(({ wallet, token, own, first, score, single, entry }, at) => {
            const [usdc, size, price] = [sumOf(own, (one) => one.usdc), sumOf(own, (one) => one.size), priceOf(world, market, token)];
            const position = world.book.positions.find((one) => one.wallet === wallet && one.token === token) as Counted;
            const has = position.status === 'open' && position.shares > 0;
            return {
              rank: at + 1, wallet, wallet_score: score === null ? null : rounded(score), wallet_tags: tagsOf(wallet), outcome: world.book.nameOf(market, token), token_id: token, first_buy_at: iso(first), minutes_after_open: near((first - opened) / 60_000),
              entry_price: single ? near(entry) : any, avg_buy_price: near(usdc / size), buy_usdc: near(usdc), shares: near(size), current_price: price === undefined ? any : near(price), price_multiple: price === undefined ? any : near((price * size) / usdc),
              still_holding: heldOf(world, market).some((one) => one.wallet === wallet && one.token === token), realized_pnl_usdc: near(position.gain), unrealized_pnl_usdc: !has ? null : price === undefined ? any : near(position.shares * price - position.cost),
            };
          }),
          summary: {
            smart_share_pct: near((100 * wallets.filter((wallet) => (scoreNow(world, wallet) ?? -1) >= 60).length) / wallets.length), median_entry_price: large.every(({ single }) => single) ? near(median(large.map(({ entry }) => entry))) : any,
            early_buy_usdc: near(sumOf(large, ({ own }) => sumOf(own, ({ usdc }) => usdc))),
          },
        }]);
        seen += large.length;
      }
    } // prettier-ignore
    expect(seen).toBeGreaterThan(20);
  });
});
