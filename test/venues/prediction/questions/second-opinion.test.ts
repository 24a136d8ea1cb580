import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { type Timeframe, previousWindow, windowOf } from '../../../../src/lib/timeframe';
import type { AnswerMeta } from '../../../../src/venues/venue';
import { testDatabase } from '../../../support/database';
import { ask, askForError } from '../ask';
import { loadAtOnce } from '../../../support/world';

/** The questions answered a second time, in plain TypeScript over what the upstream told; amounts in hundred-thousandths of a dollar. */

interface Fact {
  wallet: string;
  market: string;
  token: string | null;
  side: string;
  price: number;
  size: number;
  usdc: number;
  time: number;
  tx: string;
  taker: boolean | null;
}

interface Told {
  facts: Fact[];
  markets: Map<
    string,
    { category: string; created: number; resolved: number | null; tokens: string[]; outcomes: string[]; payouts: number[] | null }
  >;
}

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const now = new Date(start.getTime() + 24 * DAY + 43_211_000);
const TIMEFRAMES: Timeframe[] = ['1h', '12h', '24h', 'today', '7d', '30d', 'all'];
const CATEGORY_OF: Record<string, string> = {
  sports: 'Sports',
  crypto: 'Crypto',
  politics: 'Politics',
  esports: 'Esports',
  world: 'World',
  finance: 'Finance',
  tech: 'Tech',
  'pop-culture': 'Culture',
  economy: 'Economics',
  weather: 'Weather',
  'mention-markets': 'Mentions',
};

const units = (usdc: number): number => Math.round(usdc * 100_000);
const sum = (facts: Fact[]): number => facts.reduce((total, fact) => total + fact.usdc, 0);
const six = (value: number): number => Math.round(value * 1e6) / 1e6;

function read(record: Record<string, unknown>): Fact {
  const { type, side, price, size } = record as { type?: string; side: string; price: number; size: number };
  const trade = type === undefined || type === 'TRADE';
  return {
    wallet: record.proxyWallet as string,
    market: record.conditionId as string,
    token: trade ? (record.asset as string) : null,
    side: trade ? side : type,
    price,
    size,
    usdc: type === undefined ? Math.round(Math.round(size * 100) * Math.round(price * 1_000)) : units(record.usdcSize as number),
    time: (record.timestamp as number) * 1_000,
    tx: record.transactionHash as string,
    taker: type === undefined ? true : null,
  };
}

describe('a second opinion', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  const told: Told = { facts: [], markets: new Map() };
  const smart = new Set<string>();
  const machines = new Set<string>();

  beforeAll(async () => {
    db = await testDatabase();
    const world = predictionWorld({ seed: 11, size: 6_000, start });
    // Two days more than now: what is still to come must not show.
    const pages = [...world.pages(start, new Date(now.getTime() + 2 * DAY))];
    await loadAtOnce(db.pool, 'prediction', pages);
    for (const page of pages) {
      for (const record of page.records as Record<string, unknown>[]) {
        if (!page.name.startsWith('markets')) told.facts.push(read(record));
        else note(record, told);
      }
    }
    const roles = world.truth(now);
    for (const [index, { wallet, role }] of roles.entries()) {
      const score = role === 'skilled' ? 60 + (index % 40) : role === 'hft_bot' || role === 'wash' ? null : 20 + (index % 40);
      if (score !== null && score >= 60) smart.add(wallet);
      if (role === 'hft_bot' || role === 'wash') machines.add(wallet);
      await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, $2, $3, $4, 'v')", [
        wallet,
        now.toISOString().slice(0, 10),
        score,
        machines.has(wallet) ? [role] : [],
      ]);
    }
  });
  afterAll(() => db.drop());

  const inside = (timeframe: Timeframe): Fact[] => {
    const { from, to } = windowOf(timeframe, now);
    return told.facts.filter((fact) => fact.time >= from.getTime() && fact.time < to.getTime());
  };

  /** Rows of all pages of a list. */
  async function everyPage<Row extends { trade_id: string; timestamp: string }, Answer>(
    endpoint: string,
    variables: Record<string, unknown>,
    rowsOf: (answer: Answer) => Row[],
  ): Promise<{ rows: Row[]; first: Answer }> {
    const rows: Row[] = [];
    let first: Answer | undefined;
    for (let cursor: string | null = null, page = 0; page === 0 || cursor !== null; page += 1) {
      const { data, meta }: { data: Answer; meta: AnswerMeta } = await ask<Answer>(db, endpoint, now, { ...variables, cursor });
      first ??= data;
      rows.push(...rowsOf(data));
      cursor = meta.next_cursor;
    }
    expect(new Set(rows.map((row) => row.trade_id)).size).toBe(rows.length);
    expect(rows.map((row) => row.timestamp)).toEqual(
      rows
        .map((row) => row.timestamp)
        .sort()
        .reverse(),
    );
    return { rows, first: first as Answer };
  }

  interface Row {
    trade_id: string;
    wallet: string;
    token_id: string | null;
    outcome: string | null;
    side: string;
    price: number;
    size: number;
    usdc_size: number;
    timestamp: string;
    tx_hash: string;
    is_taker: boolean | null;
    condition_id?: string;
  }
  const told_ = (row: Row): string =>
    JSON.stringify([row.wallet, row.token_id, row.side, row.price, row.size, row.usdc_size, row.timestamp, row.tx_hash, row.is_taker]);

  /** A fact as the answer must write it: a redemption under its winner. */
  function expected(fact: Fact): string {
    const market = told.markets.get(fact.market);
    const resolved = market?.resolved !== null && market !== undefined && (market.resolved as number) <= now.getTime();
    const voided = resolved && market.payouts?.[0] === 0.5;
    const winner = resolved && !voided ? (market.tokens[(market.payouts as number[]).indexOf(1)] as string) : null;
    const [token, price] = fact.side !== 'REDEEM' ? [fact.token, fact.price] : fact.size === 0 ? [null, 0] : [winner, voided ? 0.5 : 1];
    return JSON.stringify([
      fact.wallet,
      token,
      fact.side,
      price,
      fact.size,
      fact.usdc / 100_000,
      `${new Date(fact.time).toISOString().slice(0, 19)}Z`,
      fact.tx,
      fact.taker,
    ]);
  }

  test.each(TIMEFRAMES)('platform/stats %s', async (timeframe) => {
    const fills = inside(timeframe).filter((fact) => fact.side === 'BUY' || fact.side === 'SELL');
    const taken = fills.filter((fact) => fact.taker);
    const window = windowOf(timeframe, now);
    const before = previousWindow(timeframe, now);
    const earlier =
      before && sum(told.facts.filter((fact) => fact.taker && fact.time >= before.from.getTime() && fact.time < before.to.getTime()));
    const firsts = new Map<string, number>();
    for (const fact of told.facts)
      if (fact.side === 'BUY' || fact.side === 'SELL')
        firsts.set(fact.wallet, Math.min(firsts.get(fact.wallet) ?? Number.POSITIVE_INFINITY, fact.time));
    const within = (time: number | null): boolean => time !== null && time >= window.from.getTime() && time < window.to.getTime();
    const sizes = taken.map((fact) => fact.usdc).sort((a, b) => a - b);
    const middle = ((sizes[Math.floor((sizes.length - 1) / 2)] ?? 0) + (sizes[Math.floor(sizes.length / 2)] ?? 0)) / 2;
    const volume = sum(taken);
    const share = (wallets: Set<string>): number => six((100 * sum(taken.filter((fact) => wallets.has(fact.wallet)))) / volume);
    const markets = [...told.markets.values()];
    const { data } = await ask<Record<string, unknown>>(db, 'platform/stats', now, { timeframe });
    expect(data).toEqual({
      timeframe,
      total_volume_usdc: volume / 100_000,
      total_trades: taken.length,
      active_traders: new Set(fills.map((fact) => fact.wallet)).size,
      active_markets: new Set(fills.map((fact) => fact.market)).size,
      resolved_markets: markets.filter((market) => within(market.resolved)).length,
      smart_wallet_count: smart.size,
      avg_trade_size_usdc: taken.length === 0 ? null : six(volume / 100_000 / taken.length),
      volume_change_pct: earlier === null || earlier === 0 ? null : six((100 * (volume - earlier)) / earlier),
      new_traders: [...firsts.values()].filter(within).length,
      new_markets: markets.filter((market) => within(market.created)).length,
      active_smart_wallets: new Set(fills.filter((fact) => smart.has(fact.wallet)).map((fact) => fact.wallet)).size,
      smart_volume_pct: volume === 0 ? null : share(smart),
      bot_volume_pct: volume === 0 ? null : share(machines),
      median_trade_size_usdc: sizes.length === 0 ? null : six(middle / 100_000),
    });
  });

  test('markets/trades, every parameter', async () => {
    const counts = new Map<string, number>();
    for (const fact of told.facts) if (fact.time < now.getTime()) counts.set(fact.market, (counts.get(fact.market) ?? 0) + 1);
    const busiest = [...counts]
      .sort(([, a], [, b]) => b - a)
      .slice(0, 3)
      .map(([market]) => market);
    let compared = 0;
    for (const condition_id of busiest) {
      const market = told.markets.get(condition_id) as NonNullable<ReturnType<Told['markets']['get']>>;
      for (const timeframe of TIMEFRAMES) {
        for (const [side, min_usdc, smart_money_only, place] of [
          [null, 0, false, null],
          ['BUY', 50, false, 0],
          ['SELL', 0, false, 1],
          ['REDEEM', 0, false, null],
          [null, 10, true, null],
          ['BUY', 0, true, 1],
        ] as const) {
          const outcome = place === null ? null : (market.outcomes[place] as string);
          const chosen = inside(timeframe).filter(
            (fact) =>
              fact.market === condition_id &&
              (side === null ? fact.side === 'BUY' || fact.side === 'SELL' : fact.side === side) &&
              fact.usdc >= min_usdc * 100_000 &&
              (!smart_money_only || smart.has(fact.wallet)) &&
              (place === null || fact.token === market.tokens[place]),
          );
          const variables = { condition_id, timeframe, side, min_usdc, smart_money_only, limit: 61, outcome };
          if (chosen.length === 0) {
            expect((await askForError(db, 'markets/trades', now, variables)).code).toBe('empty_result');
            continue;
          }
          const { rows, first } = await everyPage<Row, { trade_count: number; total_volume: number; trades: Row[]; category: string }>(
            'markets/trades',
            variables,
            (answer) => answer.trades,
          );
          expect(rows.map(told_).sort()).toEqual(chosen.map(expected).sort());
          const counted = chosen.filter((fact) => smart_money_only || fact.side === 'REDEEM' || fact.taker);
          expect([first.trade_count, first.total_volume, first.category]).toEqual([
            counted.length,
            sum(counted) / 100_000,
            market.category,
          ]);
          compared += rows.length;
        }
      }
    }
    expect(compared).toBeGreaterThan(1_000);
  });

  test('trades/whales, every parameter', async () => {
    const market = [...told.markets.keys()][0] as string;
    let compared = 0;
    let huge = 0;
    for (const timeframe of TIMEFRAMES) {
      for (const [side, min_usdc, condition_id, category, smart_money_only] of [
        [null, 10_000, null, null, false],
        ['BUY', 1_000, null, 'Sports', false],
        ['SELL', 5, null, null, false],
        ['REDEEM', 100, null, 'Crypto', false],
        [null, 1, null, null, true],
        [null, 100, market, null, false],
        ['BUY', 10, market, null, true],
        [null, 999.99, null, 'Politics', true],
        [null, 100_000, null, null, false],
        ['BUY', 100_000, null, null, true],
      ] as const) {
        const chosen = inside(timeframe).filter(
          (fact) =>
            (side === null ? ['BUY', 'SELL', 'REDEEM'].includes(fact.side) : fact.side === side) &&
            fact.usdc >= min_usdc * 100_000 &&
            (condition_id === null || fact.market === condition_id) &&
            (category === null || told.markets.get(fact.market)?.category === category) &&
            (!smart_money_only || smart.has(fact.wallet)),
        );
        const variables = { side, min_usdc, timeframe, condition_id, category, smart_money_only, limit: 83, aggregate: 'fill' };
        if (chosen.length === 0) {
          expect((await askForError(db, 'trades/whales', now, variables)).code).toBe('empty_result');
          continue;
        }
        const { rows } = await everyPage<Row, Row[]>('trades/whales', variables, (answer) => answer);
        expect(rows.map(told_).sort()).toEqual(chosen.map(expected).sort());
        compared += rows.length;
        if (min_usdc === 100_000) huge += rows.length;
      }
    }
    expect(compared).toBeGreaterThan(1_000);
    expect(huge).toBeGreaterThan(0);
  });

  test('share of market volume and move of the price', async () => {
    const { data } = await ask<(Row & { condition_id: string; pct_of_market_volume_24h: number | null; price_impact: number | null })[]>(
      db,
      'trades/whales',
      now,
      {
        min_usdc: 2_000,
        timeframe: '7d',
        smart_money_only: false,
        limit: 200,
        aggregate: 'fill',
      },
    );
    expect(data.length).toBeGreaterThan(20);
    for (const row of data.filter((one) => one.side !== 'REDEEM')) {
      const time = Date.parse(row.timestamp);
      const taken = told.facts.filter(
        (fact) => fact.taker && fact.market === row.condition_id && fact.time > time - DAY && fact.time <= time,
      );
      expect(row.pct_of_market_volume_24h).toBe(taken.length === 0 ? null : six((100 * units(row.usdc_size)) / sum(taken)));
      const earlier = told.facts.filter((fact) => fact.token === row.token_id && fact.time < time);
      const newest = Math.max(...earlier.map((fact) => fact.time));
      // Fills of one second have no order of their own: any of them may be the newest.
      const impacts = earlier
        .filter((fact) => fact.time === newest)
        .map((fact) => six(Math.round((row.price - fact.price) * 1_000) / 1_000));
      expect(impacts.length === 0 ? [null] : impacts).toContain(row.price_impact);
    }
  });

  test('trades/whales, bursts', async () => {
    for (const timeframe of ['24h', '7d', 'all'] as const) {
      for (const min_usdc of [1, 500, 10_000]) {
        const groups = new Map<string, Fact[]>();
        for (const fact of inside(timeframe)
          .filter(({ side }) => ['BUY', 'SELL', 'REDEEM'].includes(side))
          .sort((a, b) => a.time - b.time)) {
          const key = [fact.wallet, fact.market, fact.token, fact.side].join();
          groups.set(key, [...(groups.get(key) ?? []), fact]);
        }
        const bursts: Fact[][] = [];
        for (const group of groups.values()) {
          for (const [index, fact] of group.entries()) {
            if (index > 0 && fact.time - (group[index - 1] as Fact).time <= 60_000) (bursts.at(-1) as Fact[]).push(fact);
            else bursts.push([fact]);
          }
        }
        const chosen = bursts.filter((burst) => sum(burst) >= min_usdc * 100_000);
        const lines = chosen.map((burst) =>
          JSON.stringify([
            (burst[0] as Fact).wallet,
            (burst[0] as Fact).side,
            burst.length,
            sum(burst) / 100_000,
            `${new Date((burst.at(-1) as Fact).time).toISOString().slice(0, 19)}Z`,
            burst.every((fact) => fact.taker) || null,
          ]),
        );
        const { rows } = await everyPage<Row & { fills: number }, (Row & { fills: number })[]>(
          'trades/whales',
          { min_usdc, timeframe, smart_money_only: false, limit: 150, aggregate: 'burst' },
          (answer) => answer,
        );
        expect(
          rows.map((row) => JSON.stringify([row.wallet, row.side, row.fills, row.usdc_size, row.timestamp, row.is_taker])).sort(),
        ).toEqual(lines.sort());
      }
    }
  });
});

function note(record: Record<string, unknown>, told: Told): void {
  const tags = (record.tags as { slug: string }[]).map((tag) => tag.slug);
  const category = (
    tags.includes('esports') ? 'Esports' : tags.includes('mention-markets') ? 'Mentions' : CATEGORY_OF[tags[0] as string]
  ) as string;
  const closed = record.closed as boolean;
  told.markets.set(record.conditionId as string, {
    category,
    created: Date.parse(record.createdAt as string),
    tokens: JSON.parse(record.clobTokenIds as string) as string[],
    outcomes: JSON.parse(record.outcomes as string) as string[],
    resolved: closed ? Date.parse(`${(record.closedTime as string).slice(0, 19).replace(' ', 'T')}Z`) : null,
    payouts: closed ? (JSON.parse(record.outcomePrices as string) as string[]).map(Number) : null,
  });
}
