import { CATEGORIES } from '../../../../src/lib/category';
import { groupedBy } from '../../../../src/lib/grouped';
import { type Timeframe, lengthOf } from '../../../../src/lib/timeframe';
import { flowTrend, momentumOf } from '../../../../src/venues/prediction/resolvers/flows-capital';
import { explore } from '../ask';
import { call, callForError } from './call';
import {
  type Fact,
  type World,
  between,
  buys,
  distinct,
  isActive,
  isSmart,
  iso,
  loadWorld,
  over,
  pct,
  sells,
  six,
  sum,
  usd,
  usdc,
  windowsOf,
} from './world';

/** Questions about flows computed a second time from what the upstream told: no rollups, no SQL. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TIMEFRAMES: Timeframe[] = ['1h', '12h', '24h', 'today', '7d', '30d', 'all'];

type Row = Record<string, number | string | null>;

describe('flows', () => {
  let world: World;
  let takers: (facts: readonly Fact[] | null) => Fact[];
  const categoryOf = (fact: Fact): string => world.markets.get(fact.market)?.category as string;
  const trend = (now: number, before: number | null): string | null =>
    before === null
      ? null
      : before === 0
        ? now > 0
          ? 'rising'
          : 'flat'
        : now > before * 1.05
          ? 'rising'
          : now < before * 0.95
            ? 'falling'
            : 'flat';
  const change = (now: number, before: number | null): number | null => (before === null ? null : pct(now - before, before));

  beforeAll(async () => {
    world = await loadWorld(11, 6_000);
    takers = (facts) => (facts ?? []).filter((fact) => fact.taker);
  });
  afterAll(() => world.db.drop());

  /** Takers' fills, or smart wallets' own. */
  const chosen = (facts: readonly Fact[] | null, smart: boolean): Fact[] =>
    smart ? (facts ?? []).filter((fact) => isSmart(world, fact)) : takers(facts);

  test.each(TIMEFRAMES)('markets/categories %s', async (timeframe) => {
    const { fills, known: before } = windowsOf(world, timeframe);
    const whole = usdc(takers(fills));
    const { data, meta } = await call<Row[]>(world.db, 'markets/categories', world.now, { timeframe });
    expect(data).toEqual(
      CATEGORIES.map((name) => {
        const own = fills.filter((fact) => categoryOf(fact) === name);
        const earlier = before && usdc(takers(before).filter((fact) => categoryOf(fact) === name));
        return {
          name, active_markets: [...world.markets.values()].filter((market) => market.category === name && isActive(market, world.now.getTime())).length,
          period_volume: usd(usdc(takers(own))), period_trades: takers(own).length, unique_traders: distinct(takers(own)), smart_wallets: distinct(chosen(own, true)),
          share_of_volume_pct: pct(usdc(takers(own)), whole), volume_change_pct: change(usdc(takers(own)), earlier),
        }; // prettier-ignore
      }),
    );
    expect(meta).toMatchObject({ timeframe, window: { to: world.now }, score_version: 'v', count: null });
    const bare = await call<Row[]>(world.db, 'markets/categories', world.now, { include_stats: false, timeframe });
    expect(bare.data).toEqual(
      data.map(({ name, active_markets }) => ({
        name,
        active_markets,
        period_volume: null,
        period_trades: null,
        unique_traders: null,
        smart_wallets: null,
        share_of_volume_pct: null,
        volume_change_pct: null,
      })),
    );
    expect([meta.ineffective, bare.meta.ineffective]).toEqual([{}, { timeframe: 'include_stats=false' }]);
  });

  test('the same volume everywhere (contract test 9)', async () => {
    for (const timeframe of TIMEFRAMES) {
      const [stats, categories, heatmap, groups] = await Promise.all([
        call<{ total_volume_usdc: number }>(world.db, 'platform/stats', world.now, { timeframe }),
        call<{ period_volume: number }[]>(world.db, 'markets/categories', world.now, { timeframe }),
        call<{ total_volume: number }>(world.db, 'markets/volume-heatmap', world.now, { timeframe }),
        call<{ total_volume: number }>(world.db, 'markets/volume-by-group', world.now, { timeframe, group_by: 'hour', limit: 400 }),
      ]);
      expect([six(sum(categories.data.map((row) => row.period_volume))), heatmap.data.total_volume, groups.data.total_volume]).toEqual(
        Array(3).fill(stats.data.total_volume_usdc),
      );
    }
  });

  test.each(TIMEFRAMES)('markets/volume-by-group %s', async (timeframe) => {
    const { from, to, fills, before } = windowsOf(world, timeframe);
    for (const [group_by, smart_money_only, category, sort_by] of [
      ['category', false, null, 'volume'], ['category', true, null, 'volume_change_pct'], ['hour', false, null, 'group'], ['hour', true, 'Sports', 'volume'], ['day', false, 'Crypto', 'group'], ['day', true, null, 'volume_change_pct'],
    ] as const) {
      const scope = (facts: readonly Fact[] | null): Fact[] => chosen(facts, smart_money_only).filter((fact) => category === null || categoryOf(fact) === category);
      const size = group_by === 'hour' ? HOUR : DAY;
      const labelOf = (fact: Fact): string => (group_by === 'category' ? categoryOf(fact) : iso(Math.floor((fact.time < from ? fact.time + to - from : fact.time) / size) * size));
      const [now, earlier] = [scope(fills), before && scope(before)];
      const sent = { timeframe, group_by, smart_money_only, sort_by, limit: 400, ...(category === null ? {} : { category }) };
      if (now.length + (earlier ?? []).length === 0) {
        expect((await callForError(world.db, 'markets/volume-by-group', world.now, sent)).code).toBe('empty_result');
        continue;
      }
      const [inside, outside] = [groupedBy(now, labelOf), groupedBy(earlier ?? [], labelOf)];
      const groups = [...new Set([...inside.keys(), ...outside.keys()])].map((group) => {
        const [own, past] = [inside.get(group) ?? [], earlier && (outside.get(group) ?? [])];
        return {
          group, volume: usd(usdc(own)), previous_volume: past && usd(usdc(past)), volume_change_pct: change(usdc(own), past && usdc(past)), trade_count: own.length, previous_trade_count: past && past.length,
          buy_volume: usd(usdc(buys(own))), sell_volume: usd(usdc(sells(own))), unique_traders: distinct(own), pct_of_total: pct(usdc(own), usdc(now)) ?? 0, trend: trend(usdc(own), past && usdc(past)),
        }; // prettier-ignore
      });
      const byGroup = (a: { group: string }, b: { group: string }): number => (a.group < b.group ? -1 : 1);
      groups.sort((a, b) => (sort_by === 'volume' ? b.volume - a.volume : sort_by === 'group' ? 0 : (b.volume_change_pct ?? -1e9) - (a.volume_change_pct ?? -1e9)) || byGroup(a, b));
      const { data, meta } = await call<{ groups: unknown[] }>(world.db, 'markets/volume-by-group', world.now, sent);
      expect(data).toEqual({ timeframe, group_by, total_volume: usd(usdc(now)), previous_total_volume: earlier && usd(usdc(earlier)), volume_change_pct: change(usdc(now), earlier && usdc(earlier)), groups: groups.slice(0, 400) });
      expect(meta.count).toBe(Math.min(400, groups.length));
    } // prettier-ignore
  });

  // Three days on nothing comes after: lives are told as they stand.
  const heatmaps = [...TIMEFRAMES.map((timeframe) => [timeframe, 0] as const), ['all', 3] as const];
  test.each(heatmaps)('markets/volume-heatmap %s, %i days on', async (timeframe, days) => {
    const asked = { ...world, now: new Date(world.now.getTime() + days * DAY) };
    const { fills, known: before } = windowsOf(asked, timeframe);
    for (const [group_by, smart_money_only, category, limit, bucket_size] of [
      ['market', false, null, 5, 'auto'], ['category', true, null, 3, '4h'], ['hour_of_day', false, 'Sports', 20, '1d'], ['day_of_week', true, null, 20, 'auto'],
    ] as const) {
      const scope = (facts: readonly Fact[] | null): Fact[] => chosen(facts, smart_money_only).filter((fact) => category === null || categoryOf(fact) === category);
      const keyOf = (fact: Fact): string =>
        group_by === 'market' ? fact.market : group_by === 'category' ? categoryOf(fact) : group_by === 'hour_of_day' ? new Date(fact.time).toISOString().slice(11, 13) : String((new Date(fact.time).getUTCDay() + 6) % 7);
      const labelOf = (key: string): string => (group_by === 'market' ? (world.markets.get(key)?.question as string) : group_by === 'day_of_week' ? (['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'][Number(key)] as string) : key);
      const [now, earlier] = [scope(fills), before && scope(before)];
      const sent = { timeframe, group_by, smart_money_only, limit, bucket_size, ...(category === null ? {} : { category }) };
      if (now.length === 0) {
        expect((await callForError(world.db, 'markets/volume-heatmap', asked.now, sent)).code).toBe('empty_result');
        continue;
      }
      const rows = [...new Set(now.map(keyOf))].map((key) => {
        const [own, past] = [now.filter((fact) => keyOf(fact) === key), earlier && earlier.filter((fact) => keyOf(fact) === key)];
        return { key, own, raw: usdc(own), change: change(usdc(own), past && usdc(past)), trend: trend(usdc(own), past && usdc(past)) };
      });
      rows.sort((a, b) => b.raw - a.raw || (a.key < b.key ? -1 : 1));
      const shown = group_by === 'market' || group_by === 'category' ? rows.slice(0, limit) : rows;
      const size = bucket_size === '4h' ? 4 * HOUR : bucket_size === '1d' ? DAY : lengthOf(timeframe) <= 86_400 ? HOUR : timeframe === '7d' ? 4 * HOUR : DAY;
      const cells = shown.flatMap(({ key, own }) =>
        [...new Set(own.map((fact) => Math.floor(fact.time / size) * size))].map((bucket) => {
          const inside = own.filter((fact) => Math.floor(fact.time / size) * size === bucket);
          return { label: labelOf(key), bucket: iso(bucket), volume: usd(usdc(inside)), trade_count: inside.length, condition_id: group_by === 'market' ? key : null };
        }),
      );
      const { data } = await call<{ breakdown: unknown[]; cells: Row[]; hhi: number } & Row>(world.db, 'markets/volume-heatmap', asked.now, sent);
      expect(data.breakdown).toEqual(
        shown.map(({ key, own, raw, ...row }) => ({ label: labelOf(key), volume: usd(raw), trade_count: own.length, pct_of_total: pct(raw, usdc(now)), volume_change_pct: row.change, trend: row.trend, condition_id: group_by === 'market' ? key : null })),
      );
      const order = (a: Row, b: Row): number => (JSON.stringify([a.bucket, a.label]) < JSON.stringify([b.bucket, b.label]) ? -1 : 1);
      expect([...data.cells].sort(order)).toEqual(cells.sort(order));
      const changed = rows.filter((row) => row.change !== null) as { key: string; change: number }[];
      const extreme = (sign: number): string | null => {
        const [top] = changed.filter((row) => sign * row.change > 0).sort((a, b) => sign * (b.change - a.change));
        return top === undefined ? null : labelOf(top.key);
      };
      expect([data.total_volume, data.total_trades, data.biggest_gainer, data.biggest_loser]).toEqual([usd(usdc(now)), now.length, extreme(1), extreme(-1)]);
      expect(data.hhi).toBeCloseTo(sum(rows.map((row) => (row.raw / usdc(now)) ** 2)), 6);
    } // prettier-ignore
  });

  test('markets/volume-heatmap refuses too many cells of markets, and names a size that fits; hours of the day are few', async () => {
    const month = { timeframe: '30d', bucket_size: '1h', limit: 100 };
    const refused = await callForError(world.db, 'markets/volume-heatmap', world.now, month);
    expect([refused.code, refused.context.suggestion]).toEqual(['range_too_large', { bucket_size: '4h' }]);
    for (const sent of [{ limit: 20 }, { bucket_size: '4h' }, { group_by: 'hour_of_day' }])
      expect(
        (await call<{ cells: Row[] }>(world.db, 'markets/volume-heatmap', world.now, { ...month, ...sent })).data.cells.length,
      ).toBeGreaterThan(10);
  });

  test.each(TIMEFRAMES)('markets/capital-flow %s', async (timeframe) => {
    const { fills, before } = windowsOf(world, timeframe);
    for (const [smart_money_only, top_n_categories, category] of [[false, 20, null], [true, 3, null], [false, 20, 'Sports']] as const) {
      const scope = (facts: readonly Fact[] | null): Fact[] => chosen(facts, smart_money_only).filter((fact) => category === null || categoryOf(fact) === category);
      const [now, earlier] = [scope(fills), before && scope(before)];
      const flows = [...new Set([...now, ...(earlier ?? [])].map(categoryOf))].map((name) => {
        const of = (facts: Fact[]): { buy: number; sell: number; net: number } => {
          const own = facts.filter((fact) => categoryOf(fact) === name);
          return { buy: usdc(buys(own)), sell: usdc(sells(own)), net: usdc(buys(own)) - usdc(sells(own)) };
        };
        return { name, ...of(now), past: earlier && of(earlier), smart: of(chosen(fills, true)).net };
      });
      flows.sort((a, b) => b.buy + b.sell - a.buy - a.sell || (a.name < b.name ? -1 : 1));
      const ranked = [...flows].sort((a, b) => b.net - a.net);
      const { data } = await call(world.db, 'markets/capital-flow', world.now, { timeframe, smart_money_only, top_n_categories, ...(category === null ? {} : { category }) });
      expect(data).toEqual({
        timeframe, total_net_flow: usd(sum(flows.map((flow) => flow.net))),
        categories: flows.slice(0, top_n_categories).map(({ name, buy, sell, net, past, smart }) => ({
          category: name, current_buy_volume: usd(buy), current_sell_volume: usd(sell), current_net_flow: usd(net), previous_buy_volume: past && usd(past.buy), previous_sell_volume: past && usd(past.sell),
          previous_net_flow: past && usd(past.net), net_flow_change: past && usd(net - past.net), flow_trend: past && flowTrend(net / 1e5, past.net / 1e5), smart_net_flow: usd(smart), net_flow_pct_of_volume: pct(net, buy + sell),
        })),
        biggest_inflow: (ranked[0]?.net ?? 0) > 0 ? ranked[0]?.name : null, biggest_outflow: (ranked.at(-1)?.net ?? 0) < 0 ? ranked.at(-1)?.name : null,
      });
    } // prettier-ignore
  });

  test('how flows compare, word by word', () => {
    const words = [[100, 104], [100, 98], [0.01, 0], [150, 100], [60, 100], [50, -100], [-150, -100], [-60, -100], [-50, 100], [0, 100], [0, -100]] as const; // prettier-ignore
    expect(words.map(([c, p]) => flowTrend(c, p))).toEqual(['flat', 'flat', 'flat', 'accelerating_in', 'decelerating_in', 'reversing_in', 'accelerating_out', 'decelerating_out', 'reversing_out', 'decelerating_in', 'decelerating_out']); // prettier-ignore
    const days = [[3, 2], [2, 2], [1, 2], [-1, 2], [-3, -2], [-1, -2], [1, 0], [0, 0], [0, 5]] as const; // prettier-ignore
    expect(days.map(([short, long]) => momentumOf(short, long))).toEqual([
      'accelerating',
      'steady',
      'fading',
      'reversing',
      'accelerating',
      'fading',
      'accelerating',
      'steady',
      'fading',
    ]);
    // 1.65 on a day, 7.7 in a week: 1.5 times 1.1 by their decimals.
    expect(1.65 / (7.7 / 7)).toBeLessThan(1.5);
    expect(momentumOf(1.65, 7.7 / 7)).toBe('accelerating');
  });

  test.each([
    ['', ['24h', '7d', '30d']],
    ['(timeframe: "7d")', ['12h', '24h', '7d']],
    ['(timeframes: ["4h", "1h"])', ['1h', '4h']],
    ['(timeframes: ["24h", "today"])', ['today', '24h']],
    ['(timeframe: "24h", timeframes: ["24h", "today"])', ['today', '24h']],
    ['(timeframe: "today", timeframes: ["today", "24h"])', ['today', '24h']],
  ])('a free question about flows%s compares %j', async (args, timeframes) => {
    const asked = explore(world.db, world.now, `{ marketsCapitalFlowComparison${args} { timeframes } }`);
    expect(await asked).toEqual({ marketsCapitalFlowComparison: { timeframes } });
  });

  test('markets/capital-flow-comparison', async () => {
    const first = Math.min(...world.facts.filter((fact) => fact.side === 'BUY' || fact.side === 'SELL').map((fact) => fact.time));
    for (const [timeframes, smart_money_only, category, top_n_categories] of [
      [['24h', '7d', '30d'], false, null, 20], [['today', '7d', 'all'], true, null, 2], [['1h', '4h'], false, null, 3], [['12h', '30d'], false, 'Sports', 1], [['24h', '7d', '30d', 'all'], true, 'Crypto', 20],
    ] as [Timeframe[], boolean, string | null, number][]) {
      const scope = (facts: readonly Fact[]): Fact[] => chosen(facts, smart_money_only).filter((fact) => category === null || categoryOf(fact) === category);
      const columns = timeframes.map((timeframe) => {
        const { from, to, fills, before } = windowsOf(world, timeframe);
        return { timeframe, days: (to - (timeframe === 'all' ? first : from)) / DAY, now: scope(fills), before: before && scope(before) };
      });
      const names = [...new Set(columns.flatMap((column) => [...column.now, ...(column.before ?? [])].map(categoryOf)))];
      const net = (facts: Fact[], name: string): number => usdc(buys(facts).filter((fact) => categoryOf(fact) === name)) - usdc(sells(facts).filter((fact) => categoryOf(fact) === name));
      const rank = (column: (typeof columns)[number], name: string): number => [...names].sort((a, b) => net(column.now, b) - net(column.now, a) || (a < b ? -1 : 1)).indexOf(name) + 1;
      const last = columns.at(-1) as (typeof columns)[number];
      const volume = (name: string): number => usdc(last.now.filter((fact) => categoryOf(fact) === name));
      const expected = [...names].sort((a, b) => volume(b) - volume(a) || (a < b ? -1 : 1)).map((name) => {
        const flows = columns.map((column) => {
          const own = column.now.filter((fact) => categoryOf(fact) === name);
          const previous = column.before && net(column.before, name);
          return {
            timeframe: column.timeframe, buy_volume: usd(usdc(buys(own))), sell_volume: usd(usdc(sells(own))), net_flow: usd(net(own, name)), previous_net_flow: previous && usd(previous) , net_flow_change: previous === null ? null : usd(net(own, name) - previous),
            net_flow_per_day: six(net(own, name) / 1e5 / column.days), rank: rank(column, name),
          };
        });
        const [short, long] = [flows[0], flows.at(-1)] as [(typeof flows)[number], (typeof flows)[number]];
        return { category: name, flows, momentum: momentumOf(short.net_flow_per_day, long.net_flow_per_day), rank_change: long.rank - short.rank };
      });
      const sent = { timeframes: timeframes.join(','), smart_money_only, top_n_categories, ...(category === null ? {} : { category }) };
      const { data, meta } = await call<{ timeframes: string[]; categories: unknown[]; totals: unknown[]; biggest_inflow: unknown; biggest_outflow: unknown }>(world.db, 'markets/capital-flow-comparison', world.now, sent);
      expect(data.timeframes).toEqual(timeframes);
      expect(data.categories).toEqual(expected.slice(0, top_n_categories));
      expect(meta.count).toBe(Math.min(top_n_categories, expected.length));
      const extreme = (sign: 1 | -1) => columns.map((column) => {
        const [most] = [...names].sort((a, b) => sign * (net(column.now, b) - net(column.now, a)) || (a < b ? -1 : 1));
        return { timeframe: column.timeframe, category: most !== undefined && sign * net(column.now, most) > 0 ? most : null };
      });
      expect([data.biggest_inflow, data.biggest_outflow]).toEqual([extreme(1), extreme(-1)]);
      expect(data.totals).toEqual(columns.map((column) => ({ timeframe: column.timeframe, net_flow: usd(usdc(buys(column.now)) - usdc(sells(column.now))), volume: usd(usdc(column.now)) })));
      expect(meta.timeframe).toBe(timeframes.at(-1));
    } // prettier-ignore
  });

  test.each(TIMEFRAMES)('markets/trending %s', async (timeframe) => {
    const { from, to, fills, known: before } = windowsOf(world, timeframe);
    const active = [...world.markets.values()].filter((market) => isActive(market, to));
    const rows = active.flatMap((market) => {
      const own = takers(fills).filter((fact) => fact.market === market.id);
      if (own.length === 0) return [];
      const smart = chosen(fills, true).filter((fact) => fact.market === market.id);
      const firstFill = Math.min(...world.facts.filter((fact) => fact.market === market.id && fact.token !== null).map((fact) => fact.time));
      const length = to - from;
      const windows = timeframe === 'all' ? [] : [1, 2, 3, 4, 5, 6, 7].map((k) => [from - k * length, from - (k - 1) * length] as const).filter(([, end]) => end > firstFill);
      const mean = sum(windows.map(([begin, end]) => usdc(takers(between(world, begin, end)).filter((fact) => fact.market === market.id)))) / windows.length / 1e5;
      const previous = before && usdc(takers(before).filter((fact) => fact.market === market.id));
      const net = (token: string): number => usdc(buys(smart).filter((fact) => fact.token === token)) - usdc(sells(smart).filter((fact) => fact.token === token));
      const favoured = market.tokens.map((token, index) => ({ outcome: market.outcomes[index] as string, net: net(token) })).filter((one) => one.net > 0).sort((a, b) => b.net - a.net)[0];
      return [{
        condition_id: market.id, question: market.question, category: market.category, period_volume_usdc: usd(usdc(own)), period_trade_count: own.length, volume_spike_multiplier: windows.length < 3 ? null : six((usdc(own) / 1e5 + 1_000) / (mean + 1_000)),
        smart_money_wallets_active: distinct(smart), smart_money_net_direction: favoured?.outcome ?? null, buy_sell_ratio: over(usdc(buys(own)), usdc(sells(own))), previous_volume_usdc: previous === null ? null : usd(previous),
        volume_change_pct: change(usdc(own), previous), smart_money_net_flow_usdc: usd(usdc(buys(smart)) - usdc(sells(smart))), unique_traders: distinct(own), slug: market.slug, end_date: iso(market.end),
      }];
    });
    for (const [sort_by, limit, category] of [['volume', 100, null], ['volume_spike', 4, null], ['trade_count', 100, 'Sports'], ['smart_money_inflow', 3, null]] as const) {
      const scope = rows.filter((row) => category === null || row.category === category);
      const sent = { timeframe, sort_by, limit, ...(category === null ? {} : { category }) };
      if (scope.length === 0) {
        expect((await callForError(world.db, 'markets/trending', world.now, sent)).code).toBe('empty_result');
        continue;
      }
      const byVolume = (a: (typeof rows)[number], b: (typeof rows)[number]): number => b.period_volume_usdc - a.period_volume_usdc || (a.condition_id < b.condition_id ? -1 : 1);
      const key = { volume: 'period_volume_usdc', volume_spike: 'volume_spike_multiplier', trade_count: 'period_trade_count', smart_money_inflow: 'smart_money_net_flow_usdc' } as const;
      const ordered = [...scope].sort((a, b) => (b[key[sort_by]] ?? -1) - (a[key[sort_by]] ?? -1) || byVolume(a, b)).slice(0, limit);
      const { data } = await call<Row[]>(world.db, 'markets/trending', world.now, sent);
      expect(data.map(({ leader_price: _p, leader_outcome: _o, price_change: _c, ...row }) => row)).toEqual(ordered);
      for (const row of data) expect([row.leader_price, row.leader_outcome, row.price_change]).toEqual(leader(row.condition_id as string, from));
    }
  }); // prettier-ignore

  /** Price, name and change of the leading outcome, by the last fill; fills of one second are told apart by the store alone, so those are left out. */
  function leader(id: string, from: number): unknown[] {
    const market = world.markets.get(id) as NonNullable<ReturnType<World['markets']['get']>>;
    const own = world.facts.filter((fact) => fact.market === id && fact.token !== null && fact.time < world.now.getTime());
    const last = (token: string | undefined, until: number): number | null => {
      const before = own.filter((fact) => fact.token === token && fact.time < until);
      const newest = Math.max(...before.map((fact) => fact.time));
      const prices = [...new Set(before.filter((fact) => fact.time === newest).map((fact) => fact.price))];
      return prices.length === 0 ? null : prices.length === 1 ? (prices[0] as number) : Number.NaN;
    };
    const first = (token: string | undefined): number | null =>
      own.filter((fact) => fact.token === token).sort((a, b) => a.time - b.time)[0]?.price ?? null;
    const complement = (price: number | null): number | null => (price === null ? null : six(1 - price));
    const now = market.tokens.map(
      (token, index) => last(token, world.now.getTime()) ?? complement(last(market.tokens[1 - index], world.now.getTime())) ?? 0.5,
    );
    if (now.some(Number.isNaN)) return expect.anything() as unknown as unknown[];
    const best = (now[1] as number) > (now[0] as number) ? 1 : 0;
    const told = (price: (token: string | undefined) => number | null): number | null =>
      price(market.tokens[best]) ?? complement(price(market.tokens[1 - best]));
    const start = told((token) => last(token, from)) ?? told(first);
    return [
      now[best],
      market.outcomes[best],
      start === null || Number.isNaN(start) ? (expect.anything() as unknown) : six((now[best] as number) - start),
    ];
  }
});
