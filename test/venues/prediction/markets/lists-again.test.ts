import { type Timeframe, windowOf } from '../../../../src/lib/timeframe';
import type { ToldMarket } from '../wallets/told-world';
import { call } from './call';
import {
  type ScoredWorld,
  NOW,
  heldOf,
  isMachine,
  isResolved,
  lastPrices,
  leaderOf,
  loadScoredWorld,
  near,
  priceOf,
  scoreNow,
  smartOn,
  statusOf,
  sumOf,
  wordsOf,
} from './scored-world';
import { iso } from './signal-reckoning';

/** Lists of markets by every parameter, a second time from what the upstream told. */

const DAY = 86_400_000;
type Row = Record<string, unknown>;
type Sent = Record<string, string | number | boolean | undefined>;
/** A row as it must be, and what it is ordered by, best first. */
interface Ranked { id: string; row: Row; keys: number[] } // prettier-ignore

describe('lists of markets', () => {
  let world: ScoredWorld;
  let markets: ToldMarket[];

  beforeAll(async () => {
    world = await loadScoredWorld(21, 6_000);
    markets = [...world.told.markets.values()].filter(({ created }) => created <= NOW);
  });
  afterAll(() => world.db.drop());

  /** Compares every row of every page, in order. */
  async function compare(path: string, sent: Sent, expected: Ranked[], paged: boolean): Promise<number> {
    const place = (key: number): number => Math.round(key * 1e6);
    const better = ({ keys: a }: Ranked, { keys: b }: Ranked): number => a.map((key, at) => place(b[at] as number) - place(key)).find((less) => less !== 0) ?? 0; // prettier-ignore
    const ordered = [...expected].sort((a, b) => better(a, b) || (a.id < b.id ? -1 : 1));
    const rows: Row[] = [];
    let cursor: string | null = null;
    do {
      const asked: Sent = cursor === null ? sent : { ...sent, cursor };
      const answer: { data: Row[]; next: string | null } | string = await call<Row[]>(world.db, path, world.now, asked).then(({ data, meta }) => ({ data, next: meta.next_cursor }), (error: { code: string }) => error.code); // prettier-ignore
      if (typeof answer === 'string') {
        expect([path, sent, answer, ordered.length]).toEqual([path, sent, 'empty_result', 0]);
        return 0;
      }
      rows.push(...answer.data);
      cursor = paged ? answer.next : null;
    } while (cursor !== null);
    const shown = paged ? ordered : ordered.slice(0, Number(sent.limit));
    expect([path, sent, rows.map((row) => row.condition_id)]).toEqual([path, sent, shown.map(({ id }) => id)]);
    for (const [index, { row }] of shown.entries()) expect([path, sent, rows[index]]).toEqual([path, sent, row]);
    return rows.length;
  }

  const any = expect.anything() as unknown;
  const inCategory = ({ category }: ToldMarket, sent: Sent): boolean => sent.category === undefined || sent.category === category;
  const winnerOf = ({ outcomes, payouts }: ToldMarket): string =>
    payouts?.includes(1) === true ? (outcomes[payouts.indexOf(1)] as string) : 'VOID';

  /** How well a market answers to words, 0-1; null: not at all. */
  function relevanceOf(market: ToldMarket, query: string): number | null {
    const words = wordsOf(query);
    const others = [market.slug, market.event, ...market.outcomes, ...market.tags].join(' ');
    const text = `${market.question} ${others}`.toLowerCase();
    if (words.some((word) => !text.includes(word))) return null;
    if (words.length === 1 && (words[0] === market.slug || words[0] === market.event)) return 1;
    const parts = (from: string): Set<string> => new Set(wordsOf(from).flatMap((word) => [word, ...word.split(/[.'’&-]/)]));
    const [own, of] = [parts(market.question), parts(others)];
    const worth = sumOf(words, (word) => (own.has(word) ? 1 : of.has(word) ? 0.8 : 0.6)) / words.length;
    return 0.8 * worth + (market.question.toLowerCase().includes(words.join(' ')) ? 0.2 : 0);
  }

  test('markets/search', async () => {
    const described = new Map(markets.map((market) => {
      const { token, strength, wallets } = smartOn(world, market);
      const price = token === null ? undefined : priceOf(world, market, token);
      const leader = leaderOf(world, market);
      const row = {
        condition_id: market.id, question: market.question, category: market.category, end_date: iso(market.end), status: statusOf(market), total_volume_usdc: near(world.book.volume(market.id)),
        smart_money_outcome: token === null ? null : world.book.nameOf(market, token), smart_money_wallets: wallets.filter((one) => one.token === token).length,
        has_contrarian_signal: isResolved(market) || strength === null || strength < 0.6 ? false : price === undefined ? any : price < 0.5, leader_price: leader === undefined ? any : near(leader.price), leader_outcome: leader?.outcome ?? any,
        slug: market.slug, token_ids: market.outcomes.map((outcome, index) => ({ outcome, token_id: market.tokens[index], outcome_index: index })), winning_outcome: isResolved(market) ? winnerOf(market) : null,
      };
      return [market.id, row] as const;
    })); // prettier-ignore
    const expected = (sent: Sent): Ranked[] =>
      markets.flatMap((market): Ranked[] => {
        const row = described.get(market.id) as typeof described extends Map<string, infer R> ? R : never;
        const query = sent.query === undefined ? null : String(sent.query);
        const named = query === null ? false : query === market.id || (query.startsWith('http') && [market.slug, market.event].some((slug) => query.endsWith(slug))); // prettier-ignore
        const exact = query !== null && (query.startsWith('http') || query.startsWith('0x'));
        const relevance = query === null ? null : exact ? (named ? 1 : null) : relevanceOf(market, query);
        const status = exact ? 'all' : (sent.status ?? 'active');
        const active = row.status === 'active';
        const fits = status === 'all' || (status === 'resolved' ? isResolved(market) : active && (status === 'active' || market.end <= NOW + 3 * DAY)); // prettier-ignore
        const signal = sent.has_smart_money_signal === undefined || sent.has_smart_money_signal === row.smart_money_wallets >= 3;
        if (!fits || !signal || !inCategory(market, sent) || (query !== null && relevance === null)) return [];
        const volume = world.book.volume(market.id);
        const keys = sent.sort_by === 'end_date' ? [-market.end / DAY] : sent.sort_by === 'volume' ? [volume] : [relevance ?? 0, volume];
        return [{ id: market.id, row: { ...row, relevance: near(relevance) }, keys }];
      });
    const [first, second] = [markets[3], markets[30]] as [ToldMarket, ToldMarket];
    const words = (market: ToldMarket, from: number, to: number): string => wordsOf(market.question).slice(from, to).join(' ');
    const queries = [
      'will', 'WILL the', words(first, 1, 4), words(second, 0, 2), `${words(second, 2, 3)} ${words(second, 0, 1)}`, 'yes', 'politics', 'crypto-prices', 'no will', 'ill', 'sport', 'up or down', 'the?! (will)',
      first.slug, second.event, second.slug.slice(0, -2), second.question, 'nothing-of-the-kind', 'vs.',
    ]; // prettier-ignore
    const everywhere = { status: 'all', limit: 100 };
    const variations: Sent[] = [
      ...queries.map((query) => ({ ...everywhere, query })),
      ...['Politics', 'Sports', 'Crypto', 'Weather'].flatMap((category) => [{ ...everywhere, category }, { ...everywhere, category, query: 'will' }]), // prettier-ignore
      ...['active', 'closing_soon', 'resolved', 'all'].flatMap((status) => ['relevance', 'end_date', 'volume'].map((sort_by) => ({ status, sort_by, query: 'the', limit: 17 }))), // prettier-ignore
      ...[true, false].flatMap((has_smart_money_signal) => [{ ...everywhere, has_smart_money_signal }, { has_smart_money_signal, query: 'will', category: 'Politics', limit: 30 }]), // prettier-ignore
      ...[first.id, `https://venue.example/event/${first.event}/${first.slug}`, `https://venue.example/event/${second.event}`].map((query) => ({ query, limit: 20 })), // prettier-ignore
    ];
    let rows = 0;
    for (const sent of variations) rows += await compare('markets/search', sent, expected(sent), true);
    expect(rows).toBeGreaterThan(500);
  });

  test('markets/resolutions', async () => {
    const ended = markets.filter(isResolved);
    await flagSome(ended);
    const described = new Map(ended.map((market) => {
      const resolved = market.resolved as number;
      const run = world.runs.filter(({ day }) => day < iso(resolved).slice(0, 10)).at(-1);
      const own = heldOf(world, market);
      const verdict = { correct: 0, wrong: 0 };
      for (const wallet of new Set(own.map((one) => one.wallet))) {
        if ((run?.scores.get(wallet) ?? -1) < 60 || winnerOf(market) === 'VOID') continue;
        const [top, ...others] = own.filter((one) => one.wallet === wallet).sort((a, b) => b.cost - a.cost);
        if (top === undefined || top.cost - sumOf(others, ({ cost }) => cost) < 10) continue;
        verdict[world.book.nameOf(market, top.token) === winnerOf(market) ? 'correct' : 'wrong'] += 1;
      }
      const judged = verdict.correct + verdict.wrong;
      const closing = closingOf(market);
      const row = {
        condition_id: market.id, question: market.question, category: market.category, winning_outcome: winnerOf(market), end_date: iso(market.end), total_volume_usdc: near(world.book.volume(market.id)),
        smart_money_correct: verdict.correct, smart_money_wrong: verdict.wrong, smart_money_accuracy: judged === 0 ? null : near(verdict.correct / judged), resolved_at: iso(resolved),
        closing_price: closing === undefined ? any : near(closing), market_brier: closing === undefined ? any : near(closing === null ? null : (1 - closing) ** 2), insider_flagged_wallets: flagged.get(market.id) ?? 0,
      };
      return [market.id, { row, accuracy: judged === 0 ? -1 : verdict.correct / judged }] as const;
    })); // prettier-ignore
    const expected = (sent: Sent): Ranked[] =>
      ended.flatMap((market): Ranked[] => {
        const resolved = market.resolved as number;
        const from = sent.timeframe === undefined ? 0 : windowOf(sent.timeframe as Timeframe, world.now).from.getTime();
        if (!inCategory(market, sent) || resolved < from || (sent.query !== undefined && relevanceOf(market, String(sent.query)) === null))
          return [];
        const { row, accuracy } = described.get(market.id) as { row: Row; accuracy: number };
        const first = sent.sort_by === 'volume' ? [world.book.volume(market.id)] : sent.sort_by === 'smart_money_accuracy' ? [accuracy] : []; // prettier-ignore
        return [{ id: market.id, row, keys: [...first, resolved / 1_000] }];
      });
    const orders = ['resolved_recently', 'volume', 'smart_money_accuracy'];
    const variations: Sent[] = [
      ...orders.map((sort_by) => ({ sort_by, limit: 61 })),
      ...['Politics', 'Sports', 'Crypto', 'World', 'Finance'].flatMap((category) => orders.map((sort_by) => ({ category, sort_by, limit: 9 }))), // prettier-ignore
      ...['will', 'the', 'up or down', 'crypto-prices', 'nothing-of-the-kind', 'yes no'].map((query) => ({ query, limit: 100 })),
      ...(['24h', 'today', '7d', '30d', 'all'] as const).map((timeframe) => ({ timeframe, limit: 50 })),
      { timeframe: '7d', category: 'Sports', query: 'the', sort_by: 'volume', limit: 5 },
    ];
    let rows = 0;
    for (const sent of variations) rows += await compare('markets/resolutions', sent, expected(sent), true);
    expect([rows > 500, [...described.values()].some(({ row }) => row.smart_money_accuracy !== null)]).toEqual([true, true]);
    expect([...flagged.values()].some((count) => count > 1)).toBe(true);
  });

  /** The winner's price a day before; undefined where fills of one second leave it open. */
  function closingOf(market: ToldMarket): number | null | undefined {
    if (winnerOf(market) === 'VOID') return null;
    const [facts, time] = [world.book.fills(market.id), (market.resolved as number) - DAY];
    const winner = (market.payouts as number[]).indexOf(1);
    const own = lastPrices(facts, market.tokens[winner] as string, time);
    const other = lastPrices(facts, market.tokens[1 - winner] as string, time).map((price) => 1 - price);
    const possible = [...new Set(own.length > 0 ? own : other)];
    return possible.length === 0 ? null : possible.length === 1 ? possible[0] : undefined;
  }

  const flagged = new Map<string, number>();
  /** Scans of three days: the last one up to now says who is flagged, from a score of 50. */
  async function flagSome(ended: ToldMarket[]): Promise<void> {
    for (const [at, market] of ended.entries()) {
      const wallets = [...new Set(world.book.fills(market.id).map(({ wallet }) => wallet))].slice(0, at % 5);
      for (const [index, wallet] of wallets.entries()) {
        const scans = [[8, 40 + 5 * index], [2, 65 - 5 * index], [-1, 90 - 80 * (index % 2)]] as const; // prettier-ignore
        for (const [ago, score] of scans.filter((_, scan) => (at + index + scan) % 3 !== 0)) {
          const time = new Date(NOW - ago * DAY);
          await world.db.pool.query("INSERT INTO pm_insider (condition_id, wallet, day, generated_at, score, token_id, buy_usdc, first_bet_at, signals) VALUES ($1, $2, $3, $4, $5, $6, 1, $4, '{}')", [market.id, wallet, iso(time.getTime()).slice(0, 10), time, score, market.tokens[0]]); // prettier-ignore
        }
        const last = scans.filter(([ago], scan) => ago >= 0 && (at + index + scan) % 3 !== 0).at(-1);
        if (last !== undefined && last[1] >= 50) flagged.set(market.id, (flagged.get(market.id) ?? 0) + 1);
      }
    }
  }

  test('markets/similar', async () => {
    const members = new Map(markets.map((market) => {
      const money = new Map<string, number>();
      for (const { wallet, usdc } of world.book.fills(market.id)) money.set(wallet, (money.get(wallet) ?? 0) + usdc);
      const held = new Map<string, number>();
      for (const { wallet, cost } of world.book.positions.filter((one) => one.market.id === market.id)) held.set(wallet, (held.get(wallet) ?? 0) + cost);
      const belongs = [...money, ...held].filter(([wallet, usdc]) => usdc >= 10 - 1e-9 && !isMachine(world, wallet));
      return [market.id, new Set(belongs.map(([wallet]) => wallet))] as const;
    })); // prettier-ignore
    const peopled = [...members.values()].filter(({ size }) => size > 0);
    const counted = (lists: Iterable<Iterable<string>>): Map<string, number> => {
      const counts = new Map<string, number>();
      for (const list of lists) for (const item of list) counts.set(item, (counts.get(item) ?? 0) + 1);
      return counts;
    };
    const texts = new Map(markets.map((market) => [market.id, new Set(wordsOf(market.question))]));
    const [inMarkets, inTexts] = [counted(peopled), counted(texts.values())];
    const cosine = (a: Set<string>, b: Set<string>, counts: Map<string, number>, all: number): number => {
      const square = (items: Iterable<string>): number => sumOf([...items], (item) => Math.log(1 + all / (counts.get(item) as number)) ** 2); // prettier-ignore
      const lengths = square(a) * square(b);
      return lengths === 0 ? 0 : Math.min(1, square([...a].filter((item) => b.has(item))) / Math.sqrt(lengths));
    };
    const expected = (asked: ToldMarket, sent: Sent): Ranked[] =>
      markets.flatMap((market): Ranked[] => {
        const [own, other] = [members.get(asked.id), members.get(market.id)] as [Set<string>, Set<string>];
        const shared = [...own].filter((wallet) => other.has(wallet));
        const least = Number(sent.min_shared_wallets ?? 3);
        const status = statusOf(market);
        const fits = { active: status === 'active', resolved: ['resolved', 'voided'].includes(status), all: true }[String(sent.status ?? 'active')]; // prettier-ignore
        if (market.id === asked.id || fits !== true || shared.length < least) return [];
        const wallets = cosine(own, other, inMarkets, peopled.length);
        const text = cosine(texts.get(asked.id) as Set<string>, texts.get(market.id) as Set<string>, inTexts, markets.length);
        const hybrid = 0.6 * wallets + 0.3 * text + (market.category === asked.category ? 0.1 : 0);
        const similarity = sent.method === 'wallets' ? wallets : sent.method === 'text' ? text : hybrid;
        if (similarity <= 0 || (shared.length === 0 && text === 0)) return [];
        const row = {
          condition_id: market.id, question: market.question, category: market.category, shared_wallet_count: shared.length, wallet_overlap_pct: near(own.size === 0 ? 0 : (100 * shared.length) / own.size),
          total_volume_usdc: near(world.book.volume(market.id)), similarity: near(similarity), jaccard: near(shared.length === 0 ? 0 : shared.length / new Set([...own, ...other]).size), text_similarity: near(text),
          shared_smart_wallets: shared.filter((wallet) => (scoreNow(world, wallet) ?? -1) >= 60).length, same_event: market.event === asked.event, leader_price: near(leaderOf(world, market)?.price ?? null), status,
        }; // prettier-ignore
        if (leaderOf(world, market) === undefined) row.leader_price = any;
        return [{ id: market.id, row, keys: [similarity] }];
      });
    const busiest = [...markets].sort((a, b) => (members.get(b.id) as Set<string>).size - (members.get(a.id) as Set<string>).size);
    const chosen = [busiest[0], busiest[7], markets.find((market) => markets.some((other) => other !== market && other.event === market.event)), busiest.at(-1)] as ToldMarket[]; // prettier-ignore
    let [rows, sameEvent] = [0, 0];
    for (const asked of chosen) {
      for (const method of ['hybrid', 'wallets', 'text']) {
        for (const [min_shared_wallets, status, limit] of [[3, 'active', 10], [0, 'all', 50], [1, 'resolved', 50], [0, 'active', 5], [8, 'all', 20]] as const) {
          const sent = { condition_id: asked.id, method, min_shared_wallets, status, limit };
          const list = expected(asked, sent);
          rows += await compare('markets/similar', sent, list, false);
          sameEvent += list.filter(({ row }) => row.same_event === true).length;
        }
      }
    } // prettier-ignore
    expect([rows > 300, sameEvent > 0]).toEqual([true, true]);
  });
});
