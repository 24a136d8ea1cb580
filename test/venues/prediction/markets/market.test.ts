import { type Timeframe, windowOf } from '../../../../src/lib/timeframe';
import { gini, median, pearson } from '../../../../src/lib/statistics';
import { call, callForError } from './call';
import {
  type Fact,
  type ToldMarket,
  type World,
  buys,
  distinct,
  isFill,
  isSmart,
  iso,
  loadWorld,
  over,
  pct,
  scoreAt,
  scoreNow,
  sells,
  sum,
  usd,
  usdc,
} from './world';

/** Questions about one market computed a second time from what the upstream told: no rollups, no SQL. */

const HOUR = 3_600_000;
const SIZES: Record<string, number> = { '5m': HOUR / 12, '15m': HOUR / 4, '1h': HOUR, '4h': 4 * HOUR, '12h': 12 * HOUR, '1d': 24 * HOUR };
const TIMEFRAMES: Timeframe[] = ['1h', '24h', 'today', '7d', 'all'];

type Row = Record<string, number | string | null>;

describe('one market', () => {
  let world: World;
  let markets: ToldMarket[];
  let now: number;

  beforeAll(async () => {
    world = await loadWorld(12, 5_000);
    now = world.now.getTime();
    const counts = new Map<string, number>();
    for (const fact of world.facts) if (fact.time < now) counts.set(fact.market, (counts.get(fact.market) ?? 0) + 1);
    // The busiest, one that was resolved, and one with few fills.
    const known = [...counts].sort(([, a], [, b]) => b - a).map(([id]) => world.markets.get(id) as ToldMarket);
    markets = [
      known[0],
      known.find((market) => market.resolved !== null && market.resolved < now),
      known.at(-1),
      known.find((market) => market.resolved === null || market.resolved > now),
    ] as ToldMarket[];
  });
  afterAll(() => world.db.drop());

  const own = (market: ToldMarket): Fact[] => world.facts.filter((fact) => fact.market === market.id && fact.time < now);
  const fills = (market: ToldMarket, from = 0, to = now): Fact[] =>
    own(market).filter((fact) => isFill(fact) && fact.time >= from && fact.time < to);
  const firstOf = (market: ToldMarket): number => Math.min(...fills(market).map((fact) => fact.time));
  /** Start of a series; `all` begins with the first fill. */
  const begin = (market: ToldMarket, timeframe: Timeframe): number =>
    timeframe === 'all' ? firstOf(market) : windowOf(timeframe, world.now).from.getTime();
  const bucketsFrom = (from: number, to: number, size: number): number[] => {
    const first = Math.floor(from / size) * size;
    return Array.from({ length: Math.ceil((to - first) / size) }, (_, index) => first + index * size);
  };
  /** Prices of the newest fills before an instant: fills of one second are told apart by the store alone. */
  const lastPrices = (facts: Fact[], until: number): number[] => {
    const before = facts.filter((fact) => fact.time < until);
    const newest = Math.max(...before.map((fact) => fact.time));
    return before.filter((fact) => fact.time === newest).map((fact) => fact.price);
  };
  const firstPrices = (facts: Fact[]): number[] => {
    const oldest = Math.min(...facts.map((fact) => fact.time));
    return facts.filter((fact) => fact.time === oldest).map((fact) => fact.price);
  };

  test('markets/price-history', async () => {
    let filled = 0;
    for (const market of markets) {
      for (const [timeframe, bucket_size] of [['1h', '5m'], ['24h', '15m'], ['today', '1h'], ['7d', '1h'], ['7d', '4h'], ['all', '12h'], ['all', '1d']] as const) {
        const { data } = await call<{ candles_by_outcome: { outcome: string; token_id: string; outcome_index: number; candles: Row[] }[]; smart_vwap_by_outcome: Row[] }>(world.db, 'markets/price-history', world.now, { condition_id: market.id, timeframe, bucket_size });
        const from = begin(market, timeframe);
        const to = timeframe === 'all' && market.resolved !== null && market.resolved <= now ? Math.max(...fills(market).map((fact) => fact.time)) + 1 : now;
        const size = SIZES[bucket_size] as number;
        expect(data.candles_by_outcome.map((one) => [one.outcome, one.token_id, one.outcome_index])).toEqual(market.outcomes.map((outcome, index) => [outcome, market.tokens[index], index]));
        for (const { token_id, outcome, candles } of data.candles_by_outcome) {
          const traded = fills(market).filter((fact) => fact.token === token_id);
          const buckets = bucketsFrom(from, to, size).filter((bucket) => traded.some((fact) => fact.time < Math.min(bucket + size, to)));
          expect(candles.map((candle) => candle.bucket)).toEqual(buckets.map(iso));
          for (const [index, candle] of candles.entries()) {
            const bucket = buckets[index] as number;
            const inside = traded.filter((fact) => fact.time >= Math.max(bucket, from) && fact.time < Math.min(bucket + size, to));
            const taken = inside.filter((fact) => fact.taker);
            expect([candle.outcome, candle.volume, candle.trade_count, candle.filled]).toEqual([outcome, usd(usdc(taken)), taken.length, inside.length === 0]);
            if (inside.length === 0) {
              filled += 1;
              expect([candle.open, candle.high, candle.low, candle.vwap]).toEqual(Array(4).fill(candle.close));
              expect(lastPrices(traded, bucket)).toContain(candle.close);
              continue;
            }
            const weighed = taken.length > 0 ? taken : inside;
            expect([candle.high, candle.low]).toEqual([Math.max(...inside.map((fact) => fact.price)), Math.min(...inside.map((fact) => fact.price))]);
            expect(firstPrices(inside)).toContain(candle.open);
            expect(lastPrices(inside, now)).toContain(candle.close);
            expect(candle.vwap).toBe(over(usdc(weighed) / 1_000, sum(weighed.map((fact) => fact.shares))));
          }
        }
        const smart = buys(fills(market, from, to)).filter((fact) => isSmart(world, fact));
        expect(data.smart_vwap_by_outcome.map((row) => row.vwap)).toEqual(market.tokens.map((token) => {
          const bought = smart.filter((fact) => fact.token === token);
          return over(usdc(bought) / 1_000, sum(bought.map((fact) => fact.shares)));
        }));
      }
    } // prettier-ignore
    expect(filled).toBeGreaterThan(100);
  });

  test('markets/price-history: one outcome, too many candles, unknown market', async () => {
    const [market] = markets as [ToldMarket];
    const { data } = await call<{ candles_by_outcome: { outcome: string }[] }>(world.db, 'markets/price-history', world.now, {
      condition_id: market.id,
      outcome: (market.outcomes[1] as string).toUpperCase(),
    });
    expect(data.candles_by_outcome.map((one) => one.outcome)).toEqual([market.outcomes[1]]);
    const wide = await callForError(world.db, 'markets/price-history', world.now, {
      condition_id: market.id,
      timeframe: '30d',
      bucket_size: '5m',
    });
    expect([wide.code, wide.context.suggestion]).toEqual(['range_too_large', { bucket_size: '1h' }]);
    await call(world.db, 'markets/price-history', world.now, { condition_id: market.id, timeframe: '7d', bucket_size: '5m' });
    expect((await callForError(world.db, 'markets/price-history', world.now, { condition_id: market.id, outcome: 'Nobody' })).code).toBe(
      'invalid_parameter',
    );
    expect((await callForError(world.db, 'markets/price-history', world.now, { condition_id: `0x${'0'.repeat(64)}` })).code).toBe(
      'not_found',
    );
  });

  test('markets/sentiment', async () => {
    for (const market of markets) {
      for (const timeframe of TIMEFRAMES) {
        const bucket_size = timeframe === 'all' ? '12h' : timeframe === '7d' ? '4h' : '1h';
        const [from, size] = [begin(market, timeframe), SIZES[bucket_size] as number];
        const taken = fills(market, from).filter((fact) => fact.taker);
        const smart = fills(market, from).filter((fact) => isSmart(world, fact));
        const sent = { condition_id: market.id, timeframe, bucket_size };
        if (taken.length === 0) {
          expect((await callForError(world.db, 'markets/sentiment', world.now, sent)).code).toBe('empty_result');
          continue;
        }
        const toward = (facts: Fact[]): number => sum(facts.map((fact) => ((fact.side === 'BUY') === (fact.token === market.tokens[0]) ? fact.usdc : -fact.usdc)));
        const score = (facts: Fact[]): number | null => over(toward(facts), usdc(facts));
        const { data } = await call<{ overall_sentiment: Row; by_outcome: Row[]; time_series: Row[]; momentum: Row; reference_outcome: string }>(world.db, 'markets/sentiment', world.now, sent);
        const [all, clever] = [score(taken), score(smart)];
        expect(data.overall_sentiment).toMatchObject({ score: all, buy_volume: usd(usdc(buys(taken))), sell_volume: usd(usdc(sells(taken))), buy_sell_ratio: over(usdc(buys(taken)), usdc(sells(taken))), smart_sentiment: clever });
        if (clever === null) expect(data.overall_sentiment.divergence).toBeNull();
        else expect(data.overall_sentiment.divergence).toBeCloseTo(clever - (all as number), 5);
        expect(data.by_outcome).toEqual(market.tokens.map((token_id, outcome_index) => {
          const [mine, wise] = [taken.filter((fact) => fact.token === token_id), smart.filter((fact) => fact.token === token_id)];
          return {
            outcome: market.outcomes[outcome_index], token_id, outcome_index, buy_volume: usd(usdc(buys(mine))), sell_volume: usd(usdc(sells(mine))), net_flow: usd(usdc(buys(mine)) - usdc(sells(mine))), buy_count: buys(mine).length,
            sell_count: sells(mine).length, unique_buyers: distinct(buys(mine)), unique_sellers: distinct(sells(mine)), smart_net_flow: usd(usdc(buys(wise)) - usdc(sells(wise))),
          };
        }));
        const buckets = bucketsFrom(from, now, size);
        const scores = buckets.map((bucket) => score(taken.filter((fact) => Math.floor(fact.time / size) * size === bucket)));
        expect(data.time_series.map(({ price: _p, ...point }) => point)).toEqual(buckets.map((bucket, index) => {
          const [inside, wise] = [taken, smart].map((facts) => facts.filter((fact) => Math.floor(fact.time / size) * size === bucket)) as [Fact[], Fact[]];
          return {
            bucket: iso(bucket), score: scores[index], buy_volume: usd(usdc(buys(inside))), sell_volume: usd(usdc(sells(inside))), net_flow: usd(toward(inside)), trade_count: inside.length, smart_sentiment: score(wise), smart_net_flow: usd(toward(wise)),
          };
        }));
        for (const [index, point] of data.time_series.entries()) {
          expect(toldPrices(market, market.tokens[0] as string, (buckets[index] as number) + size)).toContain(point.price);
        }
        const third = Math.max(1, Math.floor(buckets.length / 3));
        const mean = (part: (number | null)[]): number => sum(part.filter((one) => one !== null) as number[]) / part.filter((one) => one !== null).length;
        const moved = mean(scores.slice(-third)) - mean(scores.slice(0, third));
        if (Number.isNaN(moved)) expect(data.momentum).toEqual({ direction: null, strength: null, change: null });
        else {
          expect(data.momentum.change).toBeCloseTo(moved, 5);
          expect(data.momentum.direction).toBe(moved > 0.05 ? 'rising' : moved < -0.05 ? 'falling' : 'flat');
        }
        expect(data.reference_outcome).toBe(market.outcomes[0]);
      }
    } // prettier-ignore
  });

  test('markets/smart-flow', async () => {
    let compared = 0;
    for (const market of markets) {
      for (const [timeframe, bucket_size, min_score, place] of [['24h', '1h', 60, null], ['7d', '4h', 60, null], ['all', '1d', 75, null], ['all', '12h', 0, 1]] as const) {
        const [from, size] = [begin(market, timeframe), SIZES[bucket_size] as number];
        const tokens = place === null ? market.tokens : [market.tokens[place] as string];
        const smart = fills(market, from).filter((fact) => isSmart(world, fact, min_score) && tokens.includes(fact.token as string));
        const sent = { condition_id: market.id, timeframe, bucket_size, min_score, ...(place === null ? {} : { outcome: tokens[0] }) };
        if (smart.length === 0) {
          expect((await callForError(world.db, 'markets/smart-flow', world.now, sent)).code).toBe('empty_result');
          continue;
        }
        compared += smart.length;
        const phase = (buy: number, sell: number): string => (buy + sell === 0 || Math.abs(buy - sell) / (buy + sell) < 0.15 ? 'neutral' : buy > sell ? 'accumulation' : 'distribution');
        const sides = (facts: Fact[]): Row => ({ phase: phase(usdc(buys(facts)), usdc(sells(facts))), net_flow: usd(usdc(buys(facts)) - usdc(sells(facts))), buy_volume: usd(usdc(buys(facts))), sell_volume: usd(usdc(sells(facts))) });
        const { data } = await call<{ overall: Row; by_outcome: Row[]; time_series: Row[] }>(world.db, 'markets/smart-flow', world.now, sent);
        const { flow_price_correlation, outcome, ...overall } = data.overall;
        expect(overall).toEqual({ ...sides(smart), smart_wallet_count: distinct(smart) });
        const nets = tokens.map((token) => Number(sides(smart.filter((fact) => fact.token === token)).net_flow));
        expect(outcome).toBe(Math.max(...nets) > 0 ? market.outcomes[market.tokens.indexOf(tokens[nets.indexOf(Math.max(...nets))] as string)] : null);
        expect(data.by_outcome).toEqual(tokens.map((token_id) => {
          const mine = smart.filter((fact) => fact.token === token_id);
          return {
            outcome: market.outcomes[market.tokens.indexOf(token_id)], token_id, outcome_index: market.tokens.indexOf(token_id), ...sides(mine), holders_start: holders(market, token_id, from, min_score), holders_end: holders(market, token_id, now, min_score),
            avg_entry_price: over(usdc(buys(mine)) / 1_000, sum(buys(mine).map((fact) => fact.shares))),
          };
        }));
        const buckets = bucketsFrom(from, now, size);
        const running = new Map(tokens.map((token) => [token, 0]));
        const expected = buckets.flatMap((bucket) => tokens.map((token) => {
          const inside = smart.filter((fact) => fact.token === token && Math.floor(fact.time / size) * size === bucket);
          running.set(token, (running.get(token) as number) + usdc(buys(inside)) - usdc(sells(inside)));
          return { bucket: iso(bucket), outcome: market.outcomes[market.tokens.indexOf(token)], ...sides(inside), cumulative_net_flow: usd(running.get(token) as number), buyers: distinct(buys(inside)), sellers: distinct(sells(inside)) };
        }));
        expect(data.time_series.map(({ price: _p, ...point }) => point)).toEqual(expected);
        for (const [index, { price }] of data.time_series.entries())
          expect(toldPrices(market, tokens[index % tokens.length] as string, (buckets[Math.floor(index / tokens.length)] as number) + size)).toContain(price);
        // The correlation rests on the prices just answered, and on the one before the window.
        const own = data.time_series.filter((point) => point.outcome === data.by_outcome[0]?.outcome);
        const others = data.time_series.filter((point) => point.outcome !== data.by_outcome[0]?.outcome);
        const before = toldPrices(market, tokens[0] as string, from)[0] ?? null;
        const pairs = own.map((point, index) => ({ flow: Number(point.net_flow) - Number(others[index]?.net_flow ?? 0), price: point.price as number | null, last: index === 0 ? before : (own[index - 1]?.price as number | null) })).filter((pair) => pair.price !== null && pair.last !== null);
        const correlation = pearson(pairs.map((pair) => pair.flow), pairs.map((pair) => (pair.price as number) - (pair.last as number)));
        if (correlation === null) expect(flow_price_correlation).toBeNull();
        else expect(flow_price_correlation).toBeCloseTo(correlation, 4);
      }
    } // prettier-ignore
    expect(compared).toBeGreaterThan(50);
  });

  /** What fills before `at` tell of an outcome's price, one of several where the last came together: its own, else what the other one leaves. */
  function toldPrices(market: ToldMarket, token: string, at: number): (number | null)[] {
    const [own, left] = [true, false].map((is) => lastPrices(fills(market).filter((fact) => (fact.token === token) === is), at)) as [number[], number[]];
    return own.length > 0 ? own : left.length > 0 && market.tokens.length === 2 ? left.map((price) => Math.round(1e6 * (1 - price)) / 1e6) : [null];
  } // prettier-ignore

  /** Smart wallets with shares left at an instant: bought less sold, and full sets; who redeemed has none. */
  function holders(market: ToldMarket, token: string, at: number, min_score: number): number {
    const past = own(market).filter((fact) => fact.time < at);
    const wallets = [...new Set(past.map((fact) => fact.wallet))].filter(
      (wallet) => (scoreAt(world, wallet, at - (at === now ? 1 : 0)) ?? -1) >= min_score,
    );
    return wallets.filter((wallet) => {
      const mine = past.filter((fact) => fact.wallet === wallet);
      if (mine.some((fact) => fact.side === 'REDEEM')) return false;
      const signs: Record<string, number> = { BUY: 1, SELL: -1, SPLIT: 1, MERGE: -1 };
      return (
        sum(mine.filter((fact) => fact.token === null || fact.token === token).map((fact) => (signs[fact.side] ?? 0) * fact.shares)) > 0
      );
    }).length;
  }

  test('markets/participants', async () => {
    for (const market of markets) {
      const traded = fills(market);
      const { data } = await call<Record<string, unknown> & { by_outcome: Row[]; tier_distribution: Row[] }>(world.db, 'markets/participants', world.now, { condition_id: market.id });
      const wallets = [...new Set(traded.map((fact) => fact.wallet))];
      const money = (wallet: string): number => usdc(traded.filter((fact) => fact.wallet === wallet));
      const tier = (wallet: string): string => {
        const score = scoreNow(world, wallet);
        return score === null ? 'unscored' : score >= 80 ? 'elite' : score >= 60 ? 'smart' : score >= 40 ? 'average' : 'novice';
      };
      const TIERS = ['elite', 'smart', 'average', 'novice', 'unscored'];
      expect(data.by_outcome).toEqual(market.tokens.map((token_id, outcome_index) => {
        const mine = traded.filter((fact) => fact.token === token_id);
        const holders = [...new Set(mine.map((fact) => fact.wallet))];
        const scores = holders.map((wallet) => scoreNow(world, wallet)).filter((score) => score !== null) as number[];
        return {
          outcome: market.outcomes[outcome_index], token_id, outcome_index, wallet_count: holders.length, total_usdc: usd(usdc(mine)), percentage: pct(usdc(mine), usdc(traded)), avg_score: scores.length === 0 ? null : Math.round((10 * sum(scores)) / scores.length) / 10,
          avg_entry_price: over(usdc(buys(mine)) / 1_000, sum(buys(mine).map((fact) => fact.shares))),
          tiers: TIERS.map((name) => ({ tier: name, wallet_count: holders.filter((wallet) => tier(wallet) === name).length, total_usdc: usd(usdc(mine.filter((fact) => tier(fact.wallet) === name))) })),
        };
      }));
      expect(data.tier_distribution).toEqual(TIERS.map((name) => {
        const members = wallets.filter((wallet) => tier(wallet) === name);
        return { tier: name, wallet_count: members.length, total_usdc: usd(sum(members.map(money))), pct_wallets: pct(members.length, wallets.length), pct_usdc: pct(sum(members.map(money)), usdc(traded)) };
      }));
      const firsts = new Map<string, number>();
      for (const fact of world.facts) if (isFill(fact)) firsts.set(fact.wallet, Math.min(firsts.get(fact.wallet) ?? Number.POSITIVE_INFINITY, fact.time));
      const fresh = wallets.filter((wallet) => Math.min(...traded.filter((fact) => fact.wallet === wallet).map((fact) => fact.time)) === firsts.get(wallet));
      expect([data.total_wallets, data.total_usdc, data.new_wallets]).toEqual([wallets.length, usd(usdc(traded)), fresh.length]);
      expect(data.median_bet_usdc).toBeCloseTo((median(wallets.map(money)) as number) / 1e5, 5);
      expect(data.gini).toBeCloseTo(gini(wallets.map(money)) as number, 5);
    } // prettier-ignore
    expect((await callForError(world.db, 'markets/participants', world.now, { condition_id: `0x${'1'.repeat(64)}` })).code).toBe(
      'not_found',
    );
  });

  test('markets/early-movers', async () => {
    for (const market of markets) {
      for (const [min_usdc, limit, place, smart_money_only, exclude_market_makers] of [[10, 25, null, false, true], [500, 5, 0, false, false], [0, 100, 1, true, false]] as const) {
        const { rows } = await world.db.pool.query<{ wallet: string }>("SELECT wallet FROM pm_wallet_score WHERE day = $1 AND 'market_maker' = ANY (tags)", [world.runs.at(-1)?.day]);
        const makers = new Set(rows.map((row) => row.wallet));
        const bought = buys(fills(market)).filter((fact) => (place === null || fact.token === market.tokens[place]) && (!smart_money_only || (scoreNow(world, fact.wallet) ?? -1) >= 60) && !(exclude_market_makers && makers.has(fact.wallet)));
        const keys = [...new Set(bought.map((fact) => `${fact.wallet}|${fact.token}`))];
        const movers = keys.map((key) => {
          const mine = bought.filter((fact) => `${fact.wallet}|${fact.token}` === key);
          return { key, first: Math.min(...mine.map((fact) => fact.time)), mine };
        });
        const sent = { condition_id: market.id, min_usdc, limit, smart_money_only, exclude_market_makers, ...(place === null ? {} : { outcome: market.outcomes[place] }) };
        // The first transaction is known by its second here.
        const large = movers.filter(({ first, mine }) => usdc(mine.filter((fact) => fact.time === first)) >= min_usdc * 1e5).sort((a, b) => a.first - b.first || (a.key < b.key ? -1 : 1)).slice(0, limit);
        if (large.length === 0) {
          expect((await callForError(world.db, 'markets/early-movers', world.now, sent)).code).toBe('empty_result');
          continue;
        }
        const { data } = await call<{ opened_at: string; movers: Row[]; summary: Row }>(world.db, 'markets/early-movers', world.now, sent);
        expect(data.opened_at).toBe(iso(Math.min(market.created, firstOf(market))));
        expect(data.movers.map((row) => [row.rank, `${row.wallet}|${row.token_id}`, row.first_buy_at, row.buy_usdc, row.shares, row.avg_buy_price, row.wallet_score])).toEqual(large.map(({ key, first, mine }, index) => [
          index + 1, key, iso(first), usd(usdc(mine)), sum(mine.map((fact) => fact.shares)) / 100, over(usdc(mine) / 1_000, sum(mine.map((fact) => fact.shares))), scoreNow(world, key.split('|')[0] as string),
        ]));
        expect(data.summary.early_buy_usdc).toBe(usd(sum(large.map(({ mine }) => usdc(mine)))));
        const members = [...new Set(large.map(({ key }) => key.split('|')[0] as string))];
        expect(data.summary.smart_share_pct).toBe(pct(members.filter((wallet) => (scoreNow(world, wallet) ?? -1) >= 60).length, members.length));
      }
    } // prettier-ignore
  });
});
