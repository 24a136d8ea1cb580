import { type Timeframe, windowOf } from '../../../../src/lib/timeframe';
import { testDatabase } from '../../../support/database';
import { type Told, type ToldMarket, loadTold } from '../wallets/told-world';
import { call, callOr } from './call';
import {
  type Run,
  SignalBook,
  by,
  byMoney,
  byScore,
  consensusOf,
  independent,
  iso,
  mean,
  median,
  sizeOf,
  sum,
  usdcOf,
} from './signal-reckoning';

/** Lists of markets by what scored wallets hold and do, by every parameter that changes them, from what the upstream told. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const start = new Date('2026-02-01T00:00:00Z');
const now = new Date(start.getTime() + 24 * DAY + 43_211_000);
const NOW = now.getTime();

type Row = Record<string, unknown>;
type Sent = Record<string, string | number | boolean>;
/** A row as it must be, and what it is chosen and ordered by. */
interface Ranked { id: string; row: Row; keys: Record<string, number | string | null> } // prettier-ignore

const near = (value: number | null, digits = 4): unknown => (value === null ? null : expect.closeTo(value, digits));
/** A score, in tenths. */
const tenth = (value: number): unknown => expect.closeTo(value, 0.9);

describe('signals by every parameter', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let book: SignalBook;

  beforeAll(async () => {
    db = await testDatabase();
    // Two days more than now: what is still to come must not show.
    const told = await loadTold(db.pool, 13, 8_000, start, new Date(NOW + 2 * DAY));
    const runs: Run[] = [];
    for (const ago of [12, 3, 0]) {
      const [day, scores] = [iso(NOW - ago * DAY).slice(0, 10), new Map<string, number | null>()];
      for (const [index, { wallet, role }] of told.world.truth(now).entries()) {
        const lucky = role === 'skilled' || (index + ago) % 5 === 0;
        scores.set(wallet, role === 'hft_bot' || role === 'wash' ? null : lucky ? 60 + ((index * 7 + ago) % 40) : (index * 11 + ago) % 60);
      }
      runs.push({ day, scores });
      await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) SELECT wallet, $1, score, '{}', 'v' FROM unnest($2::text[], $3::numeric[]) AS row(wallet, score)", [day, [...scores.keys()], [...scores.values()]]); // prettier-ignore
    }
    book = new SignalBook(told, NOW, runs);
    for (const market of book.active) {
      const sent = { condition_id: market.id, min_shares: 0, limit: 1 };
      const { outcomes } = await callOr<{ outcomes: { token_id: string; price: number | null }[] }>(db, 'markets/ownership', now, sent, { outcomes: [] }); // prettier-ignore
      for (const { token_id, price } of outcomes) if (price !== null) book.settle(market, token_id, price);
    }
  });
  afterAll(() => db.drop());

  /** Asks with each variation, and compares every row: those that are kept, their order, their figures. */
  async function compare(
    path: string,
    variations: readonly Sent[],
    expected: (sent: Sent) => Ranked[],
    order: (sent: Sent) => [string, 1 | -1],
    standard: { limit: number; offset?: number },
  ): Promise<void> {
    let [rows, empty] = [0, 0];
    for (const sent of variations) {
      const [key, sign] = order(sent);
      const place = (one: Ranked): number | string => (typeof one.keys[key] === 'number' ? Math.round((one.keys[key] as number) * 1e7) : (one.keys[key] ?? -2e7)); // prettier-ignore
      const ordered = expected(sent).sort((a, b) => (place(a) < place(b) ? -sign : place(a) > place(b) ? sign : 0) || Number(a.keys.then ?? 0) - Number(b.keys.then ?? 0) || (a.id < b.id ? -1 : 1)); // prettier-ignore
      const from = Number(sent.offset ?? 0);
      const shown = ordered.slice(from, from + Number(sent.limit ?? standard.limit));
      const answer = await call<Row[]>(db, path, now, sent).then(({ data }) => data, (error: { code: string }) => error.code); // prettier-ignore
      if (shown.length === 0) {
        expect([path, sent, answer]).toEqual([path, sent, 'empty_result']);
        empty += 1;
        continue;
      }
      expect([path, sent, (answer as Row[]).map?.(({ condition_id }) => condition_id) ?? answer]).toEqual([path, sent, shown.map(({ id }) => id)]); // prettier-ignore
      for (const [index, { row }] of shown.entries()) expect((answer as Row[])[index]).toMatchObject(row);
      rows += shown.length;
    }
    // Most variations have an answer, else little is seen.
    expect([path, rows > variations.length, empty < variations.length / 2]).toEqual([path, true, true]);
  }

  const about = ({ id, question, category, end }: ToldMarket, ends = true): Row => ({ condition_id: id, question, category, ...(ends && { end_date: iso(end) }) }); // prettier-ignore
  const inCategory = (sent: Sent): ToldMarket[] =>
    book.active.filter(({ category }) => sent.category === undefined || category === sent.category);

  test('markets/high-conviction', async () => {
    const bet = (wallet: string): number => median(book.positions.filter((one) => one.wallet === wallet).map(({ paid }) => paid));
    const expected = (sent: Sent): Ranked[] =>
      inCategory(sent).flatMap((market) => {
        const { token, wallets } = book.smart(market.id);
        const on = wallets.filter((one) => one.token === token);
        const score = mean(on.map((one) => one.score));
        if (token === null || on.length < Number(sent.min_smart_wallets ?? 5) || score < Number(sent.min_avg_score ?? 65)) return [];
        const price = book.price(market, token);
        if (price !== null && price > Number(sent.max_price ?? 0.95)) return [];
        const total = sum(wallets.map(({ net }) => net));
        const share = sum(on.map(({ net }) => net)) / total;
        const bets = median(on.map(({ paid, wallet }) => paid / bet(wallet)));
        const conviction_score = 100 * (0.35 * share + (0.25 * Math.min(independent(on), 20)) / 20 + (0.2 * (score - 60)) / 40 + (0.2 * Math.min(bets, 5)) / 5); // prettier-ignore
        const entry = sum(on.map(({ paid }) => paid)) / sum(on.map(({ paidShares }) => paidShares));
        const gap = price === null ? null : price - entry;
        const top = [...on].sort((a, b) => b.cost - a.cost).slice(0, 3).map(({ wallet }) => expect.objectContaining({ wallet }) as unknown); // prettier-ignore
        const row = {
          ...about(market), smart_wallet_count: on.length, avg_smart_score: tenth(score), total_smart_usdc: near(total), conviction_score: tenth(conviction_score), favored_outcome: book.nameOf(market, token),
          favored_outcome_percentage: near(100 * share), entry_vs_current_gap: near(gap), favored_price: near(price), median_bet_share_pct: near(100 * bets, 3), independent_wallets: near(independent(on)), top_wallets: top,
        }; // prettier-ignore
        return [{ id: market.id, row, keys: { conviction_score, total_smart_usdc: total, smart_wallet_count: on.length, entry_vs_current_gap: gap } }]; // prettier-ignore
      });
    const loose = { min_smart_wallets: 2, min_avg_score: 0, max_price: 1, limit: 100 };
    const orders = ['conviction_score', 'total_smart_usdc', 'smart_wallet_count', 'entry_vs_current_gap'];
    const variations: Sent[] = [
      {},
      ...orders.flatMap((sort_by) => [
        { ...loose, sort_by },
        { ...loose, sort_by, limit: 3 },
      ]),
      ...['Sports', 'Crypto', 'Politics'].map((category) => ({ ...loose, category })),
      ...[1, 3, 4].map((min_smart_wallets) => ({ ...loose, min_smart_wallets })),
      ...[70, 75, 78].map((min_avg_score) => ({ ...loose, min_avg_score })),
      ...[0.3, 0.5, 0.7].map((max_price) => ({ ...loose, max_price })),
    ];
    await compare('markets/high-conviction', variations, expected, (sent) => [String(sent.sort_by ?? 'conviction_score'), -1], { limit: 20 }); // prettier-ignore
  });

  test('markets/opportunities', async () => {
    const known = new Map<string, Ranked[]>();
    const all = (timeframe: Timeframe): Ranked[] =>
      book.active.flatMap((market) => {
        const from = windowOf(timeframe, now).from.getTime();
        const { token, strength, wallets } = book.smart(market.id);
        const price = token === null ? null : book.price(market, token);
        if (token === null || strength === null || price === null) return [];
        const on = wallets.filter((one) => one.token === token);
        const fills = book.flows(market, from, 60).filter((one) => one.token === token).flatMap(({ own }) => own); // prettier-ignore
        const [bought, sold] = [usdcOf(fills, 'BUY'), usdcOf(fills, 'SELL')];
        const crowd = consensusOf(book.on(market.id, (score) => score <= 30), byMoney).wallets; // prettier-ignore
        const hours = (market.end - NOW) / HOUR;
        const signals = {
          consensus: strength,
          flow_24h: bought + sold === 0 ? 0 : Math.max(0, (bought - sold) / (bought + sold)),
          dumb_opposed: crowd.length === 0 ? 0 : sum(crowd.filter((one) => one.token !== token).map(({ net }) => net)) / sum(crowd.map(({ net }) => net)), // prettier-ignore
          new_smart: on.filter(({ opened }) => opened >= from).length / on.length,
          insider_overlap: 0,
        };
        const gap = strength - price;
        const score =
          40 * Math.min(1, Math.max(0, gap / 0.5)) + 20 * strength + 15 * signals.flow_24h + 10 * signals.dumb_opposed + 10 * Math.min(1, independent(on) / 20) +
          5 * Math.min(1, Math.max(0, Math.log(720 / hours) / Math.log(720 / 24))); // prettier-ignore
        const row = {
          ...about(market, false), smart_money_favors: book.nameOf(market, token), smart_money_percentage: near((100 * sum(on.map(({ net }) => net))) / sum(wallets.map(({ net }) => net))), smart_wallet_count: on.length,
          avg_smart_score: tenth(mean(on.map((one) => one.score))), price_signal_gap: near(gap), signal_direction: gap >= 0 ? 'BUY' : 'SELL', signal_strength: score >= 70 ? 'strong' : score >= 50 ? 'moderate' : 'weak',
          leader_price: near(book.leader(market)?.price ?? null), hours_until_close: tenth(hours), signal_score: tenth(score), favored_price: near(price), token_id: token,
          signals: Object.fromEntries(Object.entries(signals).map(([name, value]) => [name, near(value)])),
        }; // prettier-ignore
        return [{ id: market.id, row, keys: { score, hours, wallets: on.length, category: market.category } }];
      });
    const least: Record<string, number> = { weak: 30, moderate: 50, strong: 70 };
    const expected = (sent: Sent): Ranked[] => {
      const timeframe = (sent.timeframe ?? '24h') as Timeframe;
      if (!known.has(timeframe)) known.set(timeframe, all(timeframe));
      return (known.get(timeframe) as Ranked[]).filter(
        ({ keys }) =>
          (keys.score as number) >= (least[String(sent.min_signal_strength ?? 'moderate')] as number) &&
          (keys.wallets as number) >= Number(sent.min_smart_wallets ?? 3) &&
          (keys.hours as number) <= Number(sent.closing_within_hours ?? Infinity) &&
          (sent.category === undefined || keys.category === sent.category),
      );
    };
    const loose = { min_signal_strength: 'weak', min_smart_wallets: 1, limit: 100 };
    const variations: Sent[] = [
      {},
      ...Object.keys(least).flatMap((min_signal_strength) => [{ ...loose, min_signal_strength }, { ...loose, min_signal_strength, limit: 2 }]), // prettier-ignore
      ...['1h', '12h', 'today', '7d', '30d', 'all'].map((timeframe) => ({ ...loose, timeframe })),
      ...['Sports', 'Crypto', 'Politics'].map((category) => ({ ...loose, category })),
      ...[12, 24, 48, 720].map((closing_within_hours) => ({ ...loose, closing_within_hours })),
      ...[2, 4].map((min_smart_wallets) => ({ ...loose, min_smart_wallets, timeframe: '7d' })),
    ];
    await compare('markets/opportunities', variations, expected, () => ['score', -1], { limit: 20 });
  });

  test('markets/smart-signals', async () => {
    const expected = (sent: Sent): Ranked[] => {
      const from = windowOf((sent.timeframe ?? '24h') as Timeframe, now).from.getTime();
      return inCategory(sent).flatMap((market) => {
        const flows = book.flows(market, from, Number(sent.min_score ?? 60));
        const told = by(flows, ({ token }) => token).map((own) => {
          const wallets = own.map((one) => ({ ...one, net: usdcOf(one.own, 'BUY') - usdcOf(one.own, 'SELL'), opened: Math.min(...one.own.map(({ time }) => time)) })); // prettier-ignore
          return { token: own[0]?.token as string, wallets, pull: sum(wallets.map(({ net, score }) => net * byScore(score))) };
        });
        // Bought, or sold, by weight and by money alike.
        const outcomes = told.filter(({ pull, wallets }) => pull * sum(wallets.map(({ net }) => net)) > 0);
        outcomes.sort((a, b) => b.pull - a.pull || (a.token < b.token ? -1 : 1));
        const [best, worst] = [outcomes[0], outcomes.at(-1)];
        const chosen = best !== undefined && best.pull > 0 ? best : worst;
        if (chosen === undefined) return [];
        const { token, wallets, pull } = chosen;
        const fills = wallets.flatMap(({ own }) => own);
        const [bought, sold] = [usdcOf(fills, 'BUY'), usdcOf(fills, 'SELL')];
        const alone = independent(wallets.map((one) => ({ ...one, weight: Math.abs(one.net) * byScore(one.score) })));
        const score = ((100 * Math.abs(bought - sold)) / (bought + sold)) * Math.sqrt(Math.min(alone, 10) / 10);
        const signal_direction = pull > 0 ? 'BUY' : 'SELL';
        if (score < 10 || wallets.length < Number(sent.min_smart_wallets ?? 3) || (sent.side !== undefined && sent.side !== signal_direction)) return []; // prettier-ignore
        const top = [...wallets].sort((a, b) => Math.abs(b.net) - Math.abs(a.net) || (a.wallet < b.wallet ? -1 : 1)).slice(0, 5);
        const row = {
          ...about(market), signal_direction, outcome: book.nameOf(market, token), token_id: token, smart_wallet_count: wallets.length, smart_buyers: wallets.filter(({ net }) => net > 1e-9).length,
          smart_sellers: wallets.filter(({ net }) => net < -1e-9).length, buy_volume: near(bought), sell_volume: near(sold), net_flow: near(bought - sold), total_volume: near(bought + sold),
          avg_score: tenth(mean(wallets.map((one) => one.score))), signal_score: tenth(score), signal_strength: score >= 65 ? 'strong' : score >= 40 ? 'moderate' : 'weak', price: near(book.price(market, token)),
          avg_entry_price: bought === 0 ? null : near(bought / sizeOf(fills, 'BUY')), independent_wallets: near(alone),
          top_wallets: top.map(({ wallet, score: own, net, own: mine }) => ({ wallet, score: tenth(own), side: net > -1e-9 ? 'BUY' : 'SELL', usdc: near(Math.abs(net)), price: expect.anything() as unknown, timestamp: iso(Math.max(...mine.map(({ time }) => time))) })),
        }; // prettier-ignore
        return [{ id: market.id, row, keys: { signal_score: score, net_flow: bought - sold, smart_wallet_count: wallets.length, total_volume: bought + sold } }]; // prettier-ignore
      });
    };
    const loose = { timeframe: '7d', min_smart_wallets: 1, limit: 100 };
    const orders = ['signal_score', 'net_flow', 'smart_wallet_count', 'total_volume'];
    const variations: Sent[] = [
      { timeframe: '30d' },
      ...orders.flatMap((sort_by) => [
        { ...loose, sort_by },
        { ...loose, sort_by, side: 'SELL' },
        { ...loose, sort_by, limit: 2 },
      ]),
      ...['4h', '24h', 'today', '30d', 'all'].map((timeframe) => ({ ...loose, timeframe })),
      ...[0, 50, 75, 90].map((min_score) => ({ ...loose, min_score })),
      ...['Sports', 'Crypto', 'Politics'].map((category) => ({ ...loose, category, side: 'BUY' })),
      ...[2, 3].map((min_smart_wallets) => ({ ...loose, min_smart_wallets })),
    ];
    await compare('markets/smart-signals', variations, expected, (sent) => [String(sent.sort_by ?? 'signal_score'), -1], { limit: 20 });
  });

  test('markets/new-smart-interest', async () => {
    const expected = (sent: Sent): Ranked[] => {
      const from = windowOf((sent.timeframe ?? '24h') as Timeframe, now).from.getTime();
      return inCategory(sent).flatMap((market) => {
        const smart = book.flows(market, from, Number(sent.min_score ?? 60));
        const firstOf = (wallet: string): number =>
          Math.min(...smart.flatMap((flow) => (flow.wallet === wallet ? flow.own.map(({ time }) => time) : [])));
        const before = new Set(book.all(market.id).filter(({ time, token, wallet }) => time < (token === null ? from : firstOf(wallet))).map(({ wallet }) => wallet)); // prettier-ignore
        const flows = smart.filter(({ wallet, own }) => !before.has(wallet) && usdcOf(own, 'BUY') > 0);
        const entries = by(flows, ({ wallet }) => wallet).flatMap((own) => {
          const [most] = own.sort((a, b) => usdcOf(b.own, 'BUY') - usdcOf(a.own, 'BUY')) as [(typeof own)[number]];
          const buys = most.own.filter(({ side }) => side === 'BUY');
          const entry = { ...most, usdc: usdcOf(buys, 'BUY'), shares: sizeOf(buys, 'BUY'), first: Math.min(...buys.map((fact: Told) => fact.time)) }; // prettier-ignore
          return entry.usdc >= Number(sent.min_usdc ?? 100) ? [entry] : [];
        });
        if (entries.length < Number(sent.min_new_wallets ?? 1)) return [];
        const total = sum(entries.map(({ usdc }) => usdc));
        const sides = by(entries, ({ token }) => token).map((own) => ({ token: own[0]?.token as string, usdc: sum(own.map(({ usdc }) => usdc)), shares: sum(own.map(({ shares }) => shares)) })); // prettier-ignore
        const [top] = sides.sort((a, b) => b.usdc - a.usdc) as [(typeof sides)[number]];
        const interest = sum(entries.map(({ score, usdc }) => score * Math.log10(1 + usdc)));
        const price = book.price(market, top.token);
        const newest = [...entries].sort((a, b) => b.first - a.first || (a.wallet < b.wallet ? -1 : 1));
        const row = {
          ...about(market), new_smart_wallets: entries.length, first_entry_at: iso(newest.at(-1)?.first as number), latest_entry_at: iso(newest[0]?.first as number), new_smart_usdc: near(total),
          avg_score: tenth(mean(entries.map(({ score }) => score))), favored_outcome: book.nameOf(market, top.token), favored_outcome_percentage: near((100 * top.usdc) / total), avg_entry_price: near(top.usdc / top.shares),
          leader_price: near(book.leader(market)?.price ?? null), price_change_since_entry: price === null ? null : near(price - top.usdc / top.shares), interest_score: near(interest),
          wallets: newest.slice(0, 10).map((one) => ({ wallet: one.wallet, score: tenth(one.score), outcome: book.nameOf(market, one.token), usdc: near(one.usdc), price: near(one.usdc / one.shares), timestamp: iso(one.first) })),
        }; // prettier-ignore
        return [{ id: market.id, row, keys: { interest } }];
      });
    };
    const loose = { timeframe: '7d', min_usdc: 0, limit: 100 };
    const variations: Sent[] = [
      {},
      ...['4h', '24h', 'today', '7d', '30d', 'all'].map((timeframe) => ({ ...loose, timeframe })),
      ...[0, 50, 75, 90].map((min_score) => ({ ...loose, min_score })),
      ...[2, 3].map((min_new_wallets) => ({ ...loose, min_new_wallets })),
      ...[20, 100, 300].map((min_usdc) => ({ ...loose, min_usdc })),
      ...['Sports', 'Crypto', 'Politics'].map((category) => ({ ...loose, category })),
      ...[1, 2, 5].flatMap((limit) => ['24h', '7d'].map((timeframe) => ({ ...loose, timeframe, limit }))),
    ];
    await compare('markets/new-smart-interest', variations, expected, () => ['interest', -1], { limit: 20 });
  });

  test('markets/dumb-consensus', async () => {
    const trades = new Map(by(book.facts.filter(({ token }) => token !== null), ({ wallet }) => wallet).map((own) => [own[0]?.wallet as string, own.length])); // prettier-ignore
    const expected = (sent: Sent): Ranked[] =>
      inCategory(sent).flatMap((market) => {
        const low = book.on(market.id, (score) => score <= Number(sent.max_score ?? 30)).filter(({ wallet }) => (trades.get(wallet) ?? 0) >= 5); // prettier-ignore
        const { token, wallets } = consensusOf(low, byMoney);
        const total = sum(wallets.map(({ net }) => net));
        const on = wallets.filter((one) => one.token === token);
        const strength = sum(on.map(({ net }) => net)) / total;
        if (token === null || wallets.length < Number(sent.min_wallets ?? 10) || total < Number(sent.min_usdc ?? 1_000) || strength < Number(sent.min_consensus ?? 0.7)) return []; // prettier-ignore
        const wise = book.smart(market.id);
        const smart = wise.strength === null ? null : wise.token;
        if (sent.contrarian_only === true && (smart === null || smart === token)) return [];
        const price = book.price(market, token);
        const entry = sum(on.map(({ paid }) => paid)) / sum(on.map(({ paidShares }) => paidShares));
        const gap = price === null ? null : entry - price;
        const row = {
          ...about(market), consensus_outcome: book.nameOf(market, token), consensus_strength: near(strength), wallet_count: wallets.length, total_usdc: near(total), avg_score: tenth(mean(wallets.map(({ score }) => score))),
          avg_entry_price: near(entry), leader_price: near(book.leader(market)?.price ?? null), fade_outcome: market.outcomes[1 - market.tokens.indexOf(token)], smart_outcome: smart === null ? null : book.nameOf(market, smart),
          smart_strength: near(wise.strength), contrarian_to_smart: smart === null ? null : smart !== token, price_gap: near(gap),
        }; // prettier-ignore
        return [{ id: market.id, row, keys: { consensus_strength: strength, total_usdc: total, wallet_count: wallets.length, price_gap: gap } }]; // prettier-ignore
      });
    const loose = { min_wallets: 2, min_usdc: 10, min_consensus: 0.5, limit: 100 };
    const orders = ['consensus_strength', 'total_usdc', 'wallet_count', 'price_gap'];
    const variations: Sent[] = [
      { min_wallets: 4, min_usdc: 100 },
      ...orders.flatMap((sort_by) => [{ ...loose, sort_by }, { ...loose, sort_by, limit: 3 }, { ...loose, sort_by, contrarian_only: true }]), // prettier-ignore
      ...[15, 45, 59].map((max_score) => ({ ...loose, max_score })),
      ...[3, 6].map((min_wallets) => ({ ...loose, min_wallets })),
      ...[100, 400].map((min_usdc) => ({ ...loose, min_usdc })),
      ...[0.6, 0.8, 1].map((min_consensus) => ({ ...loose, min_consensus })),
      ...['Sports', 'Crypto', 'Politics'].map((category) => ({ ...loose, category })),
    ];
    await compare('markets/dumb-consensus', variations, expected, (sent) => [String(sent.sort_by ?? 'consensus_strength'), -1], { limit: 20 }); // prettier-ignore
    // A strength is compared as it is told.
    const { data: crowds } = await call<{ condition_id: string; consensus_strength: number }[]>(db, 'markets/dumb-consensus', now, loose);
    for (const { condition_id, consensus_strength: min_consensus } of crowds)
      expect((await call<Row[]>(db, 'markets/dumb-consensus', now, { ...loose, min_consensus })).data.map((row) => row.condition_id)).toContain(condition_id); // prettier-ignore
  });

  test('markets/closing-soon', async () => {
    const expected = (sent: Sent): Ranked[] =>
      inCategory(sent)
        .filter(({ end }) => end <= NOW + Number(sent.hours ?? 24) * HOUR)
        .map((market) => {
          const { token, wallets } = book.smart(market.id);
          const smart = wallets.filter((one) => one.token === token).length;
          const leader = book.leader(market);
          const row = {
            ...about(market), hours_until_close: tenth((market.end - NOW) / HOUR), leader_outcome: leader === null ? (expect.anything() as unknown) : book.nameOf(market, leader.token),
            total_volume_usdc: near(book.volume(market.id)), volume_24h_usdc: near(book.volume(market.id, NOW - DAY)), smart_money_outcome: token === null ? null : book.nameOf(market, token), smart_money_wallets: token === null ? 0 : smart,
          }; // prettier-ignore
          const keys = { end_date: market.end / DAY, category: market.category, volume: book.volume(market.id), smart_money_wallets: token === null ? 0 : smart, then: market.end }; // prettier-ignore
          return { id: market.id, row, keys };
        });
    const orders = ['end_date', 'category', 'volume', 'smart_money_wallets'];
    const variations: Sent[] = [
      {},
      ...orders.flatMap((sort_by) => ['asc', 'desc'].flatMap((sort_order) => [{ hours: 72, sort_by, sort_order, limit: 100 }, { hours: 60, sort_by, sort_order, limit: 3, offset: 2 }])), // prettier-ignore
      ...['Sports', 'Crypto', 'Politics'].map((category) => ({ hours: 72, category, sort_by: 'volume' })),
      ...[6, 12, 36].map((hours) => ({ hours, sort_by: 'volume', sort_order: 'desc' })),
    ];
    await compare('markets/closing-soon', variations, expected, ({ sort_by, sort_order }) => [String(sort_by ?? 'end_date'), sort_order === 'desc' ? -1 : 1], { limit: 20 }); // prettier-ignore
  });
});
