import { sqlOver } from '../../../../src/db/sql';
import { type Timeframe, windowOf } from '../../../../src/lib/timeframe';
import { gini, hhi, median } from '../../../../src/lib/statistics';
import { listPositionsAsOf } from '../../../../src/venues/prediction/rollups/positions-as-of';
import type { PositionRow } from '../../../../src/venues/prediction/rollups/positions-row';
import { durationOf } from '../../../../src/venues/prediction/resolvers/signals-opportunities';
import { call, callForError, callOr } from './call';
import {
  type Fact,
  type ToldMarket,
  type World,
  buys,
  distinct,
  isActive,
  isFill,
  isSmart,
  iso,
  loadWorld,
  pct,
  scoreAt,
  scoreNow,
  sells,
  six,
  sum,
  usd,
  usdc,
} from './world';

/** Questions about what scored wallets hold, computed a second time: from facts, and from positions, which have tests of their own. */

type Row = Record<string, unknown>;

interface Held {
  market: string;
  token: string;
  wallet: string;
  score: number;
  shares: number;
  cost: number;
  paid: number;
  bought: number;
  opened: number;
  open: boolean;
}

const DAY = 86_400_000;

describe('signals', () => {
  let world: World;
  let now: number;
  let positions: PositionRow[];
  let held: Held[];
  let active: ToldMarket[];

  beforeAll(async () => {
    world = await loadWorld(13, 8_000);
    now = world.now.getTime();
    positions = await listPositionsAsOf(sqlOver(world.db), { condition_ids: [...world.markets.keys()] }, world.now);
    held = positions.filter((row) => Number(row.shares) > 0 && Number(row.paid_shares) > 0).map((row) => {
      const ended = row.status === 'resolved' || row.status === 'voided';
      return {
        market: row.condition_id, token: row.token_id, wallet: row.wallet, score: scoreNow(world, row.wallet) ?? Number.NaN, shares: Number(row.shares), paid: Number(row.paid_usdc), bought: Number(row.paid_shares),
        cost: ended ? Number(row.payout_usdc) - Number(row.gain_resolution) : Number(row.cost), opened: row.opened_at.getTime(), open: !ended,
      };
    }); // prettier-ignore
    active = [...world.markets.values()].filter((market) => isActive(market, now));
  });
  afterAll(() => world.db.drop());

  const fillsOf = (market: ToldMarket): Fact[] =>
    world.facts.filter((fact) => fact.market === market.id && isFill(fact) && fact.time < now);
  const nameOf = (market: ToldMarket, token: string): string => market.outcomes[market.tokens.indexOf(token)] as string;
  const volumeOf = (market: ToldMarket): number => usdc(fillsOf(market).filter((fact) => fact.taker));
  /** Current price as the store answers it: its rule has a test of its own below. */
  const priceOf = async (market: ToldMarket): Promise<(number | null)[]> => {
    const sent = { condition_id: market.id, min_shares: 0, limit: 1 };
    const none = { outcomes: [] };
    const { outcomes } = await callOr<{ outcomes: { price: number | null }[] }>(world.db, 'markets/ownership', world.now, sent, none);
    return outcomes.map((outcome) => outcome.price);
  };
  const near = (value: unknown, expected: number | null, digits = 5): void =>
    expected === null ? expect(value).toBeNull() : expect(value).toBeCloseTo(expected, digits);

  /** Consensus in plain words: each wallet net on its largest outcome. */
  function consensus(
    own: Held[],
    weigh: (score: number) => number,
  ): { token: string | null; strength: number | null; wallets: (Held & { net: number; weight: number })[]; independent: number | null } {
    const wallets = [...new Set(own.map((one) => one.wallet))].flatMap((wallet) => {
      const mine = own.filter((one) => one.wallet === wallet).sort((a, b) => b.cost - a.cost || (a.token < b.token ? -1 : 1));
      const [top, ...others] = mine as [Held, ...Held[]];
      const net = top.cost - sum(others.map((one) => one.cost));
      return net > 1e-12 ? [{ ...top, net, weight: net * weigh(top.score) }] : [];
    });
    const weights = new Map<string, number>();
    for (const one of wallets) weights.set(one.token, (weights.get(one.token) ?? 0) + one.weight);
    const [best] = [...weights].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    const token = best !== undefined && best[1] > 0 ? best[0] : null;
    return {
      token,
      strength: token === null || wallets.length < 3 ? null : (best as [string, number])[1] / sum(weights.values()),
      wallets,
      independent: independent(wallets),
    };
  }

  function independent(wallets: { token: string; opened: number; weight: number }[]): number | null {
    const clusters: number[] = [];
    for (const token of new Set(wallets.map((one) => one.token))) {
      const ordered = wallets.filter((one) => one.token === token).sort((a, b) => a.opened - b.opened);
      ordered.forEach((one, index) => {
        const before = ordered[index - 1];
        if (before !== undefined && one.opened - before.opened <= 60_000)
          clusters[clusters.length - 1] = (clusters.at(-1) as number) + one.weight;
        else clusters.push(one.weight);
      });
    }
    return sum(clusters) > 0 ? sum(clusters) ** 2 / sum(clusters.map((weight) => weight ** 2)) : null;
  }

  const byScore = (score: number): number => Math.max(0, (score - 50) / 50);
  const of = (market: ToldMarket, test: (score: number) => boolean): Held[] =>
    held.filter((one) => one.market === market.id && test(one.score));
  const smartOn = (market: ToldMarket): ReturnType<typeof consensus> => consensus(of(market, (score) => score >= 60), byScore); // prettier-ignore
  const favourite = (market: ToldMarket): [string | null, number] => {
    const { token, wallets } = smartOn(market);
    return [token === null ? null : nameOf(market, token), wallets.filter((one) => one.token === token).length];
  };

  test('markets/search: a listing, page by page, while fills arrive', async () => {
    const ids: string[] = [];
    const rows: Row[] = [];
    for (let cursor: string | null = null, page = 0; page === 0 || cursor !== null; page += 1) {
      const { data, meta }: { data: Row[]; meta: { next_cursor: string | null; count: number | null } } = await call<Row[]>(
        world.db,
        'markets/search',
        page === 0 ? world.now : new Date(now + 60_000),
        { status: 'all', sort_by: 'volume', limit: 7, ...(cursor === null ? {} : { cursor }) },
      );
      expect(meta.count).toBe(data.length);
      rows.push(...data);
      ids.push(...data.map((row) => row.condition_id as string));
      cursor = meta.next_cursor;
    }
    const listed = [...world.markets.values()]
      .filter((market) => market.created <= now)
      .sort((a, b) => volumeOf(b) - volumeOf(a) || (a.id < b.id ? -1 : 1));
    expect(ids).toEqual(listed.map((market) => market.id));
    for (const [index, market] of listed.entries()) {
      const [outcome, wallets] = favourite(market);
      expect(rows[index]).toMatchObject({
        question: market.question,
        category: market.category,
        total_volume_usdc: usd(volumeOf(market)),
        smart_money_outcome: outcome,
        smart_money_wallets: wallets,
        relevance: null,
      });
    }
  });

  test('markets/search: status, signal, words, slug, address', async () => {
    const list = async (sent: Row): Promise<string[]> =>
      (await call<Row[]>(world.db, 'markets/search', world.now, { limit: 100, ...sent })).data.map((row) => row.condition_id as string);
    expect((await list({})).sort()).toEqual(active.map((market) => market.id).sort());
    expect((await list({ status: 'closing_soon' })).sort()).toEqual(active.filter((market) => market.end <= now + 72 * 3_600_000).map((market) => market.id).sort()); // prettier-ignore
    expect(await list({ sort_by: 'end_date' })).toEqual(
      [...active].sort((a, b) => a.end - b.end || (a.id < b.id ? -1 : 1)).map((market) => market.id),
    );
    expect((await list({ has_smart_money_signal: true })).sort()).toEqual(active.filter((market) => favourite(market)[1] >= 3).map((market) => market.id).sort()); // prettier-ignore
    expect((await list({ has_smart_money_signal: false })).sort()).toEqual(active.filter((market) => favourite(market)[1] < 3).map((market) => market.id).sort()); // prettier-ignore
    const [market] = active as [ToldMarket];
    expect(await list({ query: market.id.toUpperCase().replace('0X', '0x') })).toEqual([market.id]);
    expect(await list({ query: `https://venue.example/event/some-event/${market.slug}?x=1` })).toEqual([market.id]);
    const word = (market.question.match(/[A-Za-z]{5,}/) as RegExpMatchArray)[0];
    expect(await list({ query: word.toUpperCase() })).toContain(market.id);
    const found = await call<Row[]>(world.db, 'markets/search', world.now, { query: market.question });
    expect(found.data[0]).toMatchObject({ condition_id: market.id, relevance: 1 });
    expect((await callForError(world.db, 'markets/search', world.now, { query: 'zzzz%_' })).code).toBe('empty_result');
  });

  test('markets/closing-soon', async () => {
    const soon = active.filter((market) => market.end <= now + 48 * 3_600_000);
    expect(soon.length).toBeGreaterThan(2);
    const { data } = await call<Row[]>(world.db, 'markets/closing-soon', world.now, { hours: 48, limit: 100 });
    const ordered = [...soon].sort((a, b) => a.end - b.end || (a.id < b.id ? -1 : 1));
    expect(data.map(({ leader_outcome: _o, leader_price: _p, ...row }) => row)).toEqual(ordered.map((market) => {
      const [smart_money_outcome, smart_money_wallets] = favourite(market);
      return {
        condition_id: market.id, question: market.question, slug: market.slug, end_date: iso(market.end), hours_until_close: Math.round((market.end - now) / 360_000) / 10, category: market.category,
        total_volume_usdc: usd(volumeOf(market)), volume_24h_usdc: usd(usdc(fillsOf(market).filter((fact) => fact.taker && fact.time >= now - DAY))), smart_money_outcome, smart_money_wallets,
      };
    })); // prettier-ignore
    const largest = await call<Row[]>(world.db, 'markets/closing-soon', world.now, {
      hours: 48,
      sort_by: 'volume',
      sort_order: 'desc',
      limit: 2,
      offset: 1,
    });
    expect(largest.data.map((row) => row.condition_id)).toEqual([...soon].sort((a, b) => volumeOf(b) - volumeOf(a) || a.end - b.end).slice(1, 3).map((market) => market.id)); // prettier-ignore
    expect((await callForError(world.db, 'markets/closing-soon', world.now, { hours: 48, offset: 500 })).context.suggestion).toEqual({
      offset: 0,
    });
    const next = Math.min(...active.map((market) => market.end));
    const quiet = new Date(next - 3 * 3_600_000);
    if (quiet > world.now) expect((await callForError(world.db, 'markets/closing-soon', quiet, { hours: 1 })).code).toBe('empty_result');
  });

  test('markets/resolutions: who was right, by the scores of then', async () => {
    const resolved = [...world.markets.values()].filter((market) => market.resolved !== null && market.resolved <= now) as (ToldMarket & {
      resolved: number;
      payouts: number[];
    })[];
    const verdicts = new Map(resolved.map((market) => {
      const day = iso(market.resolved).slice(0, 10);
      const run = world.runs.filter((one) => one.day < day).at(-1);
      const winner = market.payouts.includes(1) ? market.tokens[market.payouts.indexOf(1)] : null;
      const verdict = { correct: 0, wrong: 0 };
      for (const wallet of new Set(held.filter((one) => one.market === market.id).map((one) => one.wallet))) {
        if (winner === null || (run?.scores.get(wallet) ?? -1) < 60) continue;
        const mine = held.filter((one) => one.market === market.id && one.wallet === wallet).sort((a, b) => b.cost - a.cost);
        if ((mine[0] as Held).cost - sum(mine.slice(1).map((one) => one.cost)) < 10) continue;
        verdict[mine[0]?.token === winner ? 'correct' : 'wrong'] += 1;
      }
      return [market.id, verdict] as const;
    })); // prettier-ignore
    expect(sum([...verdicts.values()].map((verdict) => verdict.correct + verdict.wrong))).toBeGreaterThan(5);
    const accuracy = (market: ToldMarket): number | null => {
      const { correct, wrong } = verdicts.get(market.id) as { correct: number; wrong: number };
      return correct + wrong === 0 ? null : correct / (correct + wrong);
    };
    const byTime = (a: ToldMarket, b: ToldMarket): number => (b.resolved as number) - (a.resolved as number) || (a.id < b.id ? -1 : 1);
    for (const [sort_by, order] of [['resolved_recently', byTime], ['volume', (a, b) => volumeOf(b) - volumeOf(a) || byTime(a, b)], ['smart_money_accuracy', (a, b) => (accuracy(b) ?? -1) - (accuracy(a) ?? -1) || byTime(a, b)]] as [string, (a: ToldMarket, b: ToldMarket) => number][]) {
      const rows: Row[] = [];
      for (let cursor: string | null = null, page = 0; page === 0 || cursor !== null; page += 1) {
        const { data, meta }: { data: Row[]; meta: { next_cursor: string | null } } = await call<Row[]>(world.db, 'markets/resolutions', world.now, { sort_by, limit: 9, ...(cursor === null ? {} : { cursor }) });
        rows.push(...data);
        cursor = meta.next_cursor;
      }
      expect(rows.map((row) => row.condition_id)).toEqual([...resolved].sort(order).map((market) => market.id));
      for (const row of rows) {
        const market = world.markets.get(row.condition_id as string) as (typeof resolved)[number];
        const winner = market.payouts.indexOf(1);
        expect(row).toMatchObject({
          winning_outcome: winner < 0 ? 'VOID' : market.outcomes[winner], resolved_at: iso(market.resolved), total_volume_usdc: usd(volumeOf(market)), smart_money_correct: verdicts.get(market.id)?.correct, smart_money_wrong: verdicts.get(market.id)?.wrong,
          smart_money_accuracy: accuracy(market) === null ? null : six(accuracy(market) as number),
        });
        const before = fillsOf(market).filter((fact) => fact.time < market.resolved - DAY);
        const last = (token: string | undefined): number | undefined => before.filter((fact) => fact.token === token).sort((a, b) => a.time - b.time).at(-1)?.price;
        const own = last(market.tokens[winner]);
        const other = last(market.tokens[1 - winner]);
        const closing = winner < 0 ? null : (own ?? (other === undefined ? null : six(1 - other)));
        if (closing === null) expect([row.closing_price, row.market_brier]).toEqual([null, null]);
        else if (row.closing_price === closing) expect(row.market_brier).toBe(six((1 - closing) ** 2));
      }
    } // prettier-ignore
    const recent = await call<Row[]>(world.db, 'markets/resolutions', world.now, { timeframe: '24h', limit: 100 });
    expect(recent.data).toHaveLength(resolved.filter((market) => market.resolved >= now - DAY).length);
  });

  test('markets/ownership', async () => {
    for (const market of [active[0], [...world.markets.values()].find((one) => one.resolved !== null && one.resolved <= now && held.some((row) => row.market === one.id))] as ToldMarket[]) {
      const own = positions.filter((row) => row.condition_id === market.id && Number(row.paid_shares) > 0).map((row) => ({ token: row.token_id, wallet: row.wallet, shares: Number(row.shares) - Number(row.redeemed_shares) })).filter((row) => row.shares > 0 && row.shares >= 5);
      const sent = { condition_id: market.id, min_shares: 5, limit: 3 };
      if (own.length === 0) {
        expect((await callForError(world.db, 'markets/ownership', world.now, sent)).code).toBe('empty_result');
        continue;
      }
      const { data } = await call<{ outcomes: Row[]; overlap_holders: number }>(world.db, 'markets/ownership', world.now, sent);
      for (const [index, outcome] of data.outcomes.entries()) {
        const holders = own.filter((row) => row.token === market.tokens[index]).sort((a, b) => b.shares - a.shares || (a.wallet < b.wallet ? -1 : 1));
        const whole = sum(holders.map((row) => row.shares));
        near(outcome.total_shares, whole);
        expect(outcome.holder_count).toBe(holders.length);
        near(outcome.top5_pct, holders.length === 0 ? 0 : (100 * sum(holders.slice(0, 5).map((row) => row.shares))) / whole);
        near(outcome.gini, gini(holders.map((row) => row.shares)) ?? 0);
        near(outcome.hhi, hhi(holders.map((row) => row.shares)) ?? 0);
        near(outcome.smart_share_pct, whole === 0 ? 0 : (100 * sum(holders.filter((row) => (scoreNow(world, row.wallet) ?? -1) >= 60).map((row) => row.shares))) / whole);
        near(outcome.dumb_share_pct, whole === 0 ? 0 : (100 * sum(holders.filter((row) => (scoreNow(world, row.wallet) ?? 99) <= 30).map((row) => row.shares))) / whole);
        expect((outcome.holders as Row[]).map((row) => [row.rank, row.wallet])).toEqual(holders.slice(0, 3).map((row, place) => [place + 1, row.wallet]));
        for (const row of outcome.holders as Row[]) {
          const first = Math.min(...buys(fillsOf(market)).filter((fact) => fact.wallet === row.wallet && fact.token === market.tokens[index]).map((fact) => fact.time));
          expect(row.first_buy_at).toBe(Number.isFinite(first) ? iso(first) : null);
        }
        expect(sum((outcome.distribution as Row[]).map((row) => row.holder_count as number))).toBe(holders.length);
      }
      expect(data.overlap_holders).toBe([...new Set(own.map((row) => row.wallet))].filter((wallet) => own.filter((row) => row.wallet === wallet).length > 1).length);
    } // prettier-ignore
  });

  test('markets/smart-signals', async () => {
    let answered = 0;
    for (const [timeframe, min_score, min_smart_wallets, side] of [['24h', 60, 1, null], ['7d', 60, 2, null], ['all', 60, 3, 'BUY'], ['all', 75, 1, 'SELL'], ['30d', 0, 1, null]] as const) {
      const { from } = { from: windowOf(timeframe as Timeframe, world.now).from.getTime() };
      const expected = active.flatMap((market) => {
        const smart = fillsOf(market).filter((fact) => fact.time >= from && isSmart(world, fact, min_score));
        const weigh = (wallet: string, mine: Fact[]): number => byScore(scoreAt(world, wallet, Math.max(...mine.map((fact) => fact.time))) as number);
        const outcomes = market.tokens.map((token) => {
          const own = smart.filter((fact) => fact.token === token);
          const wallets = [...new Set(own.map((fact) => fact.wallet))].map((wallet) => {
            const mine = own.filter((fact) => fact.wallet === wallet);
            const net = usdc(buys(mine)) - usdc(sells(mine));
            return { token, net, weight: weigh(wallet, mine) * Math.abs(net), pull: weigh(wallet, mine) * net, opened: Math.min(...mine.map((fact) => fact.time)) };
          });
          return { token, own, wallets, pull: sum(wallets.map((one) => one.pull)) };
        }).filter((one) => one.pull * (usdc(buys(one.own)) - usdc(sells(one.own))) > 0).sort((a, b) => b.pull - a.pull || (a.token < b.token ? -1 : 1));
        const [best, worst] = [outcomes[0], outcomes.at(-1)];
        const chosen = best !== undefined && best.pull > 0 ? best : worst;
        if (chosen === undefined) return [];
        const [bought, sold] = [usdc(buys(chosen.own)), usdc(sells(chosen.own))];
        const exact = (100 * Math.abs(bought - sold)) / (bought + sold) * Math.sqrt(Math.min(independent(chosen.wallets) ?? 0, 10) / 10);
        // Strong or weak as it is told.
        const signal_score = Math.round(exact * 10) / 10;
        const signal_direction = chosen.pull > 0 ? 'BUY' : 'SELL';
        if (signal_score < 10 || distinct(chosen.own) < min_smart_wallets || (side !== null && side !== signal_direction)) return [];
        return [{
          condition_id: market.id, signal_direction, outcome: nameOf(market, chosen.token), smart_wallet_count: distinct(chosen.own), smart_buyers: chosen.wallets.filter((one) => one.net > 0).length, smart_sellers: chosen.wallets.filter((one) => one.net < 0).length,
          buy_volume: usd(bought), sell_volume: usd(sold), net_flow: usd(bought - sold), total_volume: usd(bought + sold), signal_score, signal_strength: signal_score >= 65 ? 'strong' : signal_score >= 40 ? 'moderate' : 'weak',
        }];
      });
      const sent = { timeframe, min_score, min_smart_wallets, limit: 100, ...(side === null ? {} : { side }) };
      if (expected.length === 0) {
        expect((await callForError(world.db, 'markets/smart-signals', world.now, sent)).code).toBe('empty_result');
        continue;
      }
      answered += expected.length;
      const { data } = await call<Row[]>(world.db, 'markets/smart-signals', world.now, sent);
      expect(data.map((row) => row.signal_score)).toEqual([...data].map((row) => row.signal_score as number).sort((a, b) => b - a));
      const byId = (a: Row, b: Row): number => ((a.condition_id as string) < (b.condition_id as string) ? -1 : 1);
      const sorted = [...data].sort(byId);
      expect(sorted).toHaveLength(expected.length);
      for (const [index, { signal_score, ...row }] of expected.sort(byId).entries()) {
        expect(sorted[index]).toMatchObject(row);
        near(sorted[index]?.signal_score, signal_score, 1);
      }
    } // prettier-ignore
    expect(answered).toBeGreaterThan(5);
  });

  test('markets/new-smart-interest', async () => {
    for (const [timeframe, min_usdc, min_new_wallets] of [['24h', 0, 1], ['7d', 100, 1], ['all', 10, 2]] as const) {
      const from = windowOf(timeframe as Timeframe, world.now).from.getTime();
      const expected = active.flatMap((market) => {
        const own = world.facts.filter((fact) => fact.market === market.id && fact.time < now);
        const entries = [...new Set(own.map((fact) => fact.wallet))].flatMap((wallet) => {
          const mine = own.filter((fact) => fact.wallet === wallet);
          const bought = buys(mine).filter((fact) => fact.time >= from && isSmart(world, fact));
          const smart = Math.min(...mine.filter((fact) => isFill(fact) && fact.time >= from && isSmart(world, fact)).map((fact) => fact.time));
          if (mine.some((fact) => fact.time < (isFill(fact) ? smart : from)) || bought.length === 0) return [];
          const most = market.tokens.map((token) => bought.filter((fact) => fact.token === token)).sort((a, b) => usdc(b) - usdc(a))[0] as Fact[];
          return usdc(most) >= min_usdc * 1e5 ? [{ wallet, usdc: usdc(most), token: most[0]?.token as string, first: Math.min(...most.map((fact) => fact.time)), score: scoreAt(world, wallet, Math.max(...mine.filter((fact) => fact.token === most[0]?.token && isFill(fact) && isSmart(world, fact)).map((fact) => fact.time))) as number }] : [];
        });
        if (entries.length < min_new_wallets) return [];
        return [{
          condition_id: market.id, new_smart_wallets: entries.length, first_entry_at: iso(Math.min(...entries.map((one) => one.first))), latest_entry_at: iso(Math.max(...entries.map((one) => one.first))), new_smart_usdc: usd(sum(entries.map((one) => one.usdc))),
          interest_score: sum(entries.map((one) => one.score * Math.log10(1 + one.usdc / 1e5))),
        }];
      }).sort((a, b) => b.interest_score - a.interest_score);
      const { data } = await call<Row[]>(world.db, 'markets/new-smart-interest', world.now, { timeframe, min_usdc, min_new_wallets, limit: 100 });
      expect(data.map((row) => row.condition_id)).toEqual(expected.map((row) => row.condition_id));
      for (const [index, { interest_score, ...row }] of expected.entries()) {
        expect(data[index]).toMatchObject(row);
        near(data[index]?.interest_score, interest_score, 4);
      }
    } // prettier-ignore
  });

  test('markets/intelligence', async () => {
    const market = [...active].sort((a, b) => of(b, (score) => score >= 60).length - of(a, (score) => score >= 60).length)[0] as ToldMarket;
    const { data, meta } = await call<
      Row & {
        smart_money: Row & { by_outcome: Row[] };
        dumb_money: Row & { by_outcome: Row[] };
        signal_analysis: Row;
        recent_activity: Row;
        outcomes: Row[];
      }
    >(world.db, 'markets/intelligence', world.now, { condition_id: market.id, exclude_market_makers: false, top_n_wallets: 2 });
    const [wise, foolish] = [smartOn(market), consensus(of(market, (score) => score <= 30), () => 1)]; // prettier-ignore
    expect(wise.wallets.length).toBeGreaterThanOrEqual(3);
    expect([data.smart_money.consensus_outcome, data.dumb_money.consensus_outcome]).toEqual([
      nameOf(market, wise.token as string),
      foolish.strength === null ? null : nameOf(market, foolish.token as string),
    ]);
    near(data.smart_money.consensus_strength, wise.strength);
    near(data.smart_money.independent_wallets, wise.independent, 4);
    expect(meta.count).toBe(Math.max(...market.tokens.map((token) => Math.min(2, of(market, (score) => score >= 60).filter((one) => one.token === token).length)))); // prettier-ignore
    for (const [test, money] of [[(score: number) => score >= 60, data.smart_money], [(score: number) => score <= 30, data.dumb_money]] as const) {
      const whole = sum(of(market, test).map((one) => one.cost));
      for (const [index, outcome] of money.by_outcome.entries()) {
        const own = of(market, test).filter((one) => one.token === market.tokens[index]);
        expect(outcome.wallet_count).toBe(own.length);
        near(outcome.total_usdc, sum(own.map((one) => one.cost)));
        near(outcome.percentage, whole === 0 ? 0 : (100 * sum(own.map((one) => one.cost))) / whole);
        const top = outcome.top_wallets as Row[] | undefined;
        if (top !== undefined) expect(top.map((row) => row.wallet)).toEqual([...own].sort((a, b) => b.cost - a.cost).slice(0, 2).map((one) => one.wallet)); // prettier-ignore
      }
    } // prettier-ignore
    expect(data.dumb_money.contrarian_to_smart).toBe(foolish.strength === null ? null : foolish.token !== wise.token);
    const day = fillsOf(market).filter((fact) => fact.time >= now - DAY);
    const smart = day.filter((fact) => isSmart(world, fact));
    expect(data.recent_activity).toMatchObject({
      volume_24h: usd(usdc(day.filter((fact) => fact.taker))),
      trade_count_24h: day.filter((fact) => fact.taker).length,
      smart_net_flow_24h: usd(usdc(buys(smart)) - usdc(sells(smart))),
    });
    const prices = data.outcomes.map((outcome) => outcome.price as number);
    const leader = market.tokens[(prices[1] as number) > (prices[0] as number) ? 1 : 0];
    const toward = sum(wise.wallets.filter((one) => one.token === leader).map((one) => one.weight));
    near(
      data.signal_analysis.smart_bias,
      (100 * (2 * toward - sum(wise.wallets.map((one) => one.weight)))) / sum(wise.wallets.map((one) => one.weight)),
      4,
    );
    expect(data.signal_analysis.smart_vs_price_aligned).toBe(wise.token === leader);
    expect(data.signal_analysis.contrarian_signal).toBe(
      (wise.strength as number) >= 0.6 && (prices[market.tokens.indexOf(wise.token as string)] as number) < 0.5,
    );
    const empty = [...world.markets.values()].find(
      (one) => one.created <= now && !held.some((row) => row.market === one.id && !Number.isNaN(row.score)),
    );
    if (empty !== undefined)
      expect((await callForError(world.db, 'markets/intelligence', world.now, { condition_id: empty.id })).code).toBe('empty_result');
  });

  test('markets/dumb-money', async () => {
    const trades = (wallet: string): number => sum(positions.filter((row) => row.wallet === wallet).map((row) => row.trades));
    for (const market of active.slice(0, 6)) {
      for (const [max_score, min_trades, limit] of [
        [30, 5, 50],
        [59, 1, 2],
      ] as const) {
        const own = of(market, (score) => score <= max_score)
          .filter((one) => trades(one.wallet) >= min_trades)
          .sort((a, b) => b.cost - a.cost);
        const sent = { condition_id: market.id, max_score, min_trades, limit };
        if (own.length === 0) {
          expect((await callForError(world.db, 'markets/dumb-money', world.now, sent)).code).toBe('empty_result');
          continue;
        }
        const { data } = await call<{ summary: Row; positions: Row[]; by_outcome: Row[] }>(world.db, 'markets/dumb-money', world.now, sent);
        const foolish = consensus(own, () => 1);
        expect(data.summary).toMatchObject({
          total_wallets: new Set(own.map((one) => one.wallet)).size,
          consensus_outcome: foolish.strength === null ? null : nameOf(market, foolish.token as string),
        });
        near(data.summary.total_usdc, sum(own.map((one) => one.cost)));
        near(data.summary.consensus_strength, foolish.strength);
        expect(data.positions.map((row) => [row.wallet, row.token_id, row.lifetime_trades])).toEqual(
          own.slice(0, limit).map((one) => [one.wallet, one.token, trades(one.wallet)]),
        );
        for (const row of data.positions) {
          expect(row.lifetime_trades).toBe(
            world.facts.filter((fact) => fact.wallet === row.wallet && isFill(fact) && fact.time < now).length,
          );
          near(row.lifetime_pnl_usdc, sum(positions.filter((one) => one.wallet === row.wallet).map((one) => Number(one.gain))), 4);
        }
      }
    }
    expect((await callForError(world.db, 'markets/dumb-money', world.now, { condition_id: `0x${'2'.repeat(64)}` })).code).toBe('not_found');
  });

  test('markets/high-conviction', async () => {
    const bet = (wallet: string): number =>
      median(positions.filter((row) => row.wallet === wallet && Number(row.paid_shares) > 0).map((row) => Number(row.paid_usdc))) as number;
    const expected = active.flatMap((market) => {
      const { token, wallets } = smartOn(market);
      const on = wallets.filter((one) => one.token === token);
      if (token === null || on.length < 2) return [];
      const avg = sum(on.map((one) => one.score)) / on.length;
      const share = sum(on.map((one) => one.net)) / sum(wallets.map((one) => one.net));
      const bets = median(on.map((one) => one.paid / bet(one.wallet))) as number;
      const score =
        100 * (0.35 * share + (0.25 * Math.min(independent(on) ?? 0, 20)) / 20 + (0.2 * (avg - 60)) / 40 + (0.2 * Math.min(bets, 5)) / 5);
      return [{ market, token, count: on.length, avg, total: sum(wallets.map((one) => one.net)), share, score }];
    });
    expect(expected.length).toBeGreaterThan(1);
    const { data } = await call<Row[]>(world.db, 'markets/high-conviction', world.now, {
      min_smart_wallets: 2,
      min_avg_score: 0,
      max_price: 1,
      limit: 100,
    });
    const ordered = [...expected].sort((a, b) => b.score - a.score);
    expect(data.map((row) => [row.condition_id, row.favored_outcome, row.smart_wallet_count])).toEqual(
      ordered.map((one) => [one.market.id, nameOf(one.market, one.token), one.count]),
    );
    for (const [index, one] of ordered.entries()) {
      near(data[index]?.avg_smart_score, Math.round(one.avg * 10) / 10, 1);
      near(data[index]?.total_smart_usdc, one.total);
      near(data[index]?.favored_outcome_percentage, 100 * one.share, 4);
      near(data[index]?.conviction_score, Math.round(one.score * 10) / 10, 1);
    }
    const asked = { min_smart_wallets: 2, min_avg_score: 80, max_price: 1, limit: 100, sort_by: 'total_smart_usdc' };
    const few = await callOr<Row[]>(world.db, 'markets/high-conviction', world.now, asked, []);
    expect(few.map((row) => row.condition_id)).toEqual(expected.filter((one) => one.avg >= 80).sort((a, b) => b.total - a.total).map((one) => one.market.id)); // prettier-ignore
    expect((await callForError(world.db, 'markets/high-conviction', world.now, { min_smart_wallets: 400 })).code).toBe('empty_result');
  });

  test('markets/dumb-consensus', async () => {
    const trades = (wallet: string): number => sum(positions.filter((row) => row.wallet === wallet).map((row) => row.trades));
    const expected = active.flatMap((market) => {
      const { token, wallets } = consensus(of(market, (score) => score <= 30).filter((one) => trades(one.wallet) >= 5), () => 1); // prettier-ignore
      const whole = sum(wallets.map((one) => one.net));
      const strength = sum(wallets.filter((one) => one.token === token).map((one) => one.net)) / whole;
      if (token === null || wallets.length < 3 || whole < 50 || strength < 0.6) return [];
      const wise = smartOn(market);
      return [
        {
          market,
          token,
          count: wallets.length,
          whole,
          strength,
          smart: wise.strength === null ? null : nameOf(market, wise.token as string),
        },
      ];
    });
    expect(expected.length).toBeGreaterThan(1);
    const { data } = await call<Row[]>(world.db, 'markets/dumb-consensus', world.now, {
      min_wallets: 3,
      min_usdc: 50,
      min_consensus: 0.6,
      limit: 100,
      sort_by: 'total_usdc',
    });
    const ordered = [...expected].sort((a, b) => b.whole - a.whole);
    expect(
      data.map((row) => [
        row.condition_id,
        row.consensus_outcome,
        row.wallet_count,
        row.smart_outcome,
        row.contrarian_to_smart,
        row.fade_outcome,
      ]),
    ).toEqual(
      ordered.map((one) => {
        const outcome = nameOf(one.market, one.token);
        return [
          one.market.id,
          outcome,
          one.count,
          one.smart,
          one.smart === null ? null : one.smart !== outcome,
          one.market.outcomes.find((other) => other !== outcome),
        ];
      }),
    );
    for (const [index, one] of ordered.entries()) {
      near(data[index]?.consensus_strength, one.strength);
      near(data[index]?.total_usdc, one.whole);
    }
    // Past markets whose low-score crowd, scored before the day of the end and no newcomers then, was as much of one mind.
    const tradesUntil = (wallet: string, time: number): number =>
      world.facts.filter((fact) => fact.wallet === wallet && isFill(fact) && fact.time < time).length;
    const crowds = [...world.markets.values()].filter((market) => market.resolved !== null && market.resolved <= now && market.payouts?.includes(1)).flatMap((market) => {
      const run = world.runs.filter((one) => one.day < iso(market.resolved as number).slice(0, 10)).at(-1);
      const own = held.filter((one) => one.market === market.id && (run?.scores.get(one.wallet) ?? 99) <= 30 && tradesUntil(one.wallet, Math.floor((market.resolved as number) / DAY) * DAY) >= 5);
      const { wallets } = consensus(own, () => 1);
      const sums = market.tokens.map((token) => sum(wallets.filter((one) => one.token === token).map((one) => one.net)));
      const top = (sums[0] as number) >= (sums[1] as number) ? 0 : 1;
      return wallets.length >= 3 && sum(sums) >= 50 ? [{ step: Math.min(9, Math.floor(((sums[top] as number) / sum(sums)) * 10 + 1e-9)), faded: market.payouts?.[top] === 0 }] : [];
    }); // prettier-ignore
    for (const row of data) {
      const alike = crowds.filter((crowd) => crowd.step === Math.min(9, Math.floor((row.consensus_strength as number) * 10 + 1e-9)));
      expect(row.fade_sample).toBe(alike.length);
      near(row.fade_hit_rate, alike.length === 0 ? null : alike.filter((crowd) => crowd.faded).length / alike.length);
    }
  });

  test('markets/opportunities', async () => {
    const sent = { min_signal_strength: 'weak', min_smart_wallets: 2, limit: 100, timeframe: '7d' };
    const { data } = await call<(Row & { signals: Record<string, number> })[]>(world.db, 'markets/opportunities', world.now, sent);
    expect(data.length).toBeGreaterThan(0);
    expect(data.map((row) => row.signal_score)).toEqual(data.map((row) => row.signal_score as number).sort((a, b) => b - a));
    for (const row of data) {
      const market = active.find((one) => one.id === row.condition_id) as ToldMarket;
      const { token, strength, wallets } = smartOn(market);
      const on = wallets.filter((one) => one.token === token);
      const price = (await priceOf(market))[market.tokens.indexOf(token as string)] as number;
      const smart = fillsOf(market).filter((fact) => fact.token === token && fact.time >= now - 7 * DAY && isSmart(world, fact));
      const flow = Math.max(0, smart.length === 0 ? 0 : (usdc(buys(smart)) - usdc(sells(smart))) / usdc(smart));
      const dumb = consensus(of(market, (score) => score <= 30), () => 1); // prettier-ignore
      const opposed =
        dumb.wallets.length === 0
          ? 0
          : sum(dumb.wallets.filter((one) => one.token !== token).map((one) => one.net)) / sum(dumb.wallets.map((one) => one.net));
      const hours = (market.end - now) / 3_600_000;
      const time = Math.min(1, Math.max(0, Math.log(hours / 720) / Math.log(24 / 720)));
      const gap = (strength as number) - price;
      const score =
        40 * Math.min(1, Math.max(0, gap / 0.5)) +
        20 * (strength as number) +
        15 * flow +
        10 * opposed +
        10 * Math.min(1, (independent(on) ?? 0) / 20) +
        5 * time;
      expect(row).toMatchObject({
        smart_money_favors: nameOf(market, token as string),
        smart_wallet_count: on.length,
        signal_direction: gap >= 0 ? 'BUY' : 'SELL',
        time_until_close: durationOf(hours),
        token_id: token,
      });
      near(row.signal_score, Math.round(score * 10) / 10, 1);
      near(row.price_signal_gap, gap);
      expect(row.signal_strength).toBe(score >= 70 ? 'strong' : score >= 50 ? 'moderate' : 'weak');
      near(row.signals.new_smart, on.filter((one) => one.opened >= now - 7 * DAY).length / on.length);
    }
    expect([0.5, 1, 25.75, 72, 0].map(durationOf)).toEqual(['PT30M', 'PT1H', 'P1DT1H45M', 'P3D', 'PT0M']);
  });

  test('what an empty answer suggests has an answer', async () => {
    for (const [path, sent] of [
      ['markets/high-conviction', { min_smart_wallets: 100, min_avg_score: 99, max_price: 0.01 }],
      ['markets/dumb-consensus', { min_wallets: 900, min_usdc: 1e9, min_consensus: 1, contrarian_only: true }],
      ['markets/opportunities', { min_signal_strength: 'strong', min_smart_wallets: 200, closing_within_hours: 1 }],
      ['markets/smart-signals', { timeframe: '30d', min_smart_wallets: 200 }],
    ] as [string, Row][]) {
      const { code, context } = await callForError(world.db, path, world.now, sent);
      expect([path, code]).toEqual([path, 'empty_result']);
      const wider = Object.fromEntries(Object.entries({ ...sent, ...context.suggestion }).filter(([, value]) => value !== null));
      expect((await call<Row[]>(world.db, path, world.now, wider)).data.length).toBeGreaterThan(0);
    }
  });

  test('markets/similar', async () => {
    const machines = new Set([...world.roles].filter(([, role]) => role === 'hft_bot' || role === 'wash').map(([wallet]) => wallet));
    const { rows } = await world.db.pool.query<{ wallet: string }>(
      "SELECT wallet FROM pm_wallet_score WHERE day = $1 AND 'market_maker' = ANY (tags)",
      [world.runs.at(-1)?.day],
    );
    for (const { wallet } of rows) machines.add(wallet);
    const members = new Map<string, Set<string>>();
    const fills = new Map<string, number>();
    for (const fact of world.facts)
      if (isFill(fact) && fact.time < now)
        fills.set(`${fact.market}|${fact.wallet}`, (fills.get(`${fact.market}|${fact.wallet}`) ?? 0) + fact.usdc);
    for (const [key, money] of fills) {
      const [market, wallet] = key.split('|') as [string, string];
      if (money >= 10 * 1e5 && !machines.has(wallet)) members.set(market, (members.get(market) ?? new Set<string>()).add(wallet));
    }
    const kept = new Map<string, number>();
    for (const row of positions) {
      const key = `${row.condition_id}|${row.wallet}`;
      kept.set(key, (kept.get(key) ?? 0) + Number(row.settled_at === null ? row.cost : row.settled_cost));
    }
    for (const [key, cost] of kept) {
      const [market, wallet] = key.split('|') as [string, string];
      if (cost >= 10 && !machines.has(wallet)) members.set(market, (members.get(market) ?? new Set<string>()).add(wallet));
    }
    const idf = (wallet: string): number => Math.log(1 + members.size / [...members.values()].filter((set) => set.has(wallet)).length) ** 2;
    const weight = new Map([...new Set([...members.values()].flatMap((set) => [...set]))].map((wallet) => [wallet, idf(wallet)]));
    const size = (wallets: Iterable<string>): number => sum([...wallets].map((wallet) => weight.get(wallet) as number));
    const asked = [...active].sort((a, b) => (members.get(b.id)?.size ?? 0) - (members.get(a.id)?.size ?? 0))[0] as ToldMarket;
    const own = members.get(asked.id) as Set<string>;
    const { data } = await call<Row[]>(world.db, 'markets/similar', world.now, {
      condition_id: asked.id,
      method: 'wallets',
      status: 'all',
      limit: 50,
      min_shared_wallets: 2,
    });
    const expected = [...world.markets.values()].filter((market) => market.id !== asked.id).flatMap((market) => {
      const other = members.get(market.id) ?? new Set<string>();
      const shared = [...own].filter((wallet) => other.has(wallet));
      return shared.length < 2 ? [] : [{ id: market.id, shared: shared.length, similarity: size(shared) / Math.sqrt(size(own) * size(other)), jaccard: shared.length / new Set([...own, ...other]).size }];
    }); // prettier-ignore
    expect(expected.length).toBeGreaterThan(3);
    expect(data).toHaveLength(Math.min(50, expected.length));
    expect(data.map((row) => row.similarity)).toEqual([...expected].sort((a, b) => b.similarity - a.similarity).slice(0, 50).map((one) => six(one.similarity))); // prettier-ignore
    for (const row of data) {
      const one = expected.find((other) => other.id === row.condition_id) as (typeof expected)[number];
      expect([row.shared_wallet_count, row.wallet_overlap_pct]).toEqual([one.shared, pct(one.shared, own.size)]);
      near(row.similarity, one.similarity);
      near(row.jaccard, one.jaccard);
    }
    const hybrid = await call<Row[]>(world.db, 'markets/similar', world.now, {
      condition_id: asked.id,
      status: 'all',
      limit: 50,
      min_shared_wallets: 0,
    });
    for (const row of hybrid.data) {
      const cosine = data.find((one) => one.condition_id === row.condition_id)?.similarity as number | undefined;
      if (cosine !== undefined)
        near(row.similarity, 0.6 * cosine + 0.3 * (row.text_similarity as number) + (row.category === asked.category ? 0.1 : 0), 5);
    }
    expect(hybrid.data.map((row) => row.similarity)).toEqual(hybrid.data.map((row) => row.similarity as number).sort((a, b) => b - a));
    expect(
      (await callForError(world.db, 'markets/similar', world.now, { condition_id: asked.id, min_shared_wallets: 1000 })).context.suggestion,
    ).toEqual({ min_shared_wallets: 0 });
  });
});
