import type { Pool, PoolClient } from 'pg';
import type { Sql } from '../../../../src/db/sql';
import { inTransaction, writersTurn } from '../../../../src/db/transaction';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { BEGINNING, type Window } from '../../../../src/lib/timeframe';
import { randomOf } from '../../../../src/sandbox/simulator/world';
import { listWalletEvidence } from '../../../../src/venues/prediction/queries/insider-evidence';
import { activeMarkets } from '../../../../src/venues/prediction/queries/active-markets';
import { type Overlap, findOverlap } from '../../../../src/venues/prediction/queries/market-overlap';
import { findToldTotals } from '../../../../src/venues/prediction/queries/platform-told';
import { type PlatformTotals, getPlatformTotals } from '../../../../src/venues/prediction/queries/platform-stats';
import { cutAt } from '../../../../src/venues/prediction/queries/pieces';
import { listRunDays, spansOf } from '../../../../src/venues/prediction/queries/score-runs';
import { listSmartWalletEntries, listSmartWalletFlows } from '../../../../src/venues/prediction/queries/smart-wallet-flows';
import { listMedianBets } from '../../../../src/venues/prediction/queries/stances';
import { type VolumeGroup, listTraders, listVolumes } from '../../../../src/venues/prediction/queries/volumes';
import { loadTold } from '../../../../src/venues/prediction/queries/told-pieces';
import { rebuildHours } from '../../../../src/venues/prediction/rollups/hours';
import { rebuildLatest } from '../../../../src/venues/prediction/rollups/latest-fills';
import { retractFills } from '../../../../src/venues/prediction/rollups/retract';
import { forgetHours, forgetJudged, tellHours } from '../../../../src/venues/prediction/rollups/told-hours';
import { listRankedExperts } from '../../../../src/venues/prediction/queries/wallet-experts';
import { type LeaderboardRow, listLeaders } from '../../../../src/venues/prediction/queries/wallet-leaderboard';
import { loadOverlay, positionsSql } from '../../../../src/venues/prediction/rollups/positions-as-of';
import { tellSmartPositions } from '../../../../src/venues/prediction/rollups/told-positions';
import { tellWallets, toldWallets } from '../../../../src/venues/prediction/rollups/told-wallets';
import { score } from '../../../../src/venues/prediction/scoring/job';
import { type TestDatabase, copyOfFilled } from '../../../support/database';
import { iso, market, trade } from '../small-world';
import { loadRecords } from '../support';
import { expectSameUntold, sqlOf } from './untold';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const start = new Date('2026-02-01T00:00:00Z');
const now = new Date(start.getTime() + 8 * DAY + 17.3 * HOUR);

const micros = (usdc: string): number => Math.round(Number(usdc) * 1e6);

/** Pages that come late, by their place. */
const isLate = (index: number): boolean => index % 7 === 3;

/** A world whose pages come in any order. */
async function loadShuffled(pool: Pool, part: (index: number) => boolean = () => true): Promise<void> {
  const random = randomOf(5, 'order');
  const pages = [...predictionWorld({ seed: 8, size: 4_000, start }).pages(start, new Date(start.getTime() + 9 * DAY))]
    .map((page) => ({ page, at: random() }))
    .sort((a, b) => a.at - b.at);
  for (const [index, { page }] of pages.entries()) if (part(index)) await loadRecords(pool, page.name, page.records, page.format);
}

/** Totals of the venue up to an instant from plain facts, and from what is told: sums as numbers, whatever their scale. */
async function totalsOf(pool: Pool, window: Window, day: string) {
  const sums = ({ smart_volume_usdc, bot_volume_usdc }: Pick<PlatformTotals, 'smart_volume_usdc' | 'bot_volume_usdc'>) => ({
    smart_volume_usdc: Number(smart_volume_usdc),
    bot_volume_usdc: Number(bot_volume_usdc),
  });
  const { total_volume_usdc: _volume, total_trades: _trades, ...facts } = await getPlatformTotals(sqlOf(pool), window, day);
  const told = await findToldTotals(sqlOf(pool), window, day);
  return { facts: { ...facts, ...sums(facts) }, told: told && { ...told, ...sums(told) } };
}

interface Fact {
  condition_id: string;
  wallet: string;
  timestamp: Date;
  side: string;
  usdc_size: string;
  is_taker: boolean | null;
  category: string;
}

/** What each wallet ever did, as it is told where it is told. */
async function lifetimesOf(sql: Sql, wallets: readonly string[], at: Date): Promise<Map<string, { trades: number; gain: string }>> {
  const positionsOf = (some: string): string => positionsSql('$2', `'[]'`, `wallet = ANY (${some})`);
  const text = toldWallets('$1::text[]', '$2::timestamptz', positionsOf, 'wallet, trades, gain');
  const rows = await sql.query<{ wallet: string; trades: number; gain: string }>({ name: 'test_lifetimes', text }, [wallets, at]);
  return new Map(rows.map(({ wallet, ...life }) => [wallet, life]));
}

const fills = async (pool: Pool): Promise<Fact[]> =>
  (
    await pool.query<Fact>(
      `SELECT trade.condition_id, wallet, "timestamp", side, usdc_size, is_taker, category FROM pm_trade AS trade JOIN pm_market USING (condition_id) WHERE side IN ('BUY', 'SELL')`,
    )
  ).rows;

/** What is kept of latest fills, and of how many there are on each day and in each hour, and what plain facts say. */
async function latest(pool: Pool): Promise<{ kept: string[]; told: string[] }> {
  const newest = new Map<string, number>();
  const note = (key: string, at: number): void => void newest.set(key, Math.max(newest.get(key) ?? 0, at));
  for (const { wallet, category, timestamp, is_taker } of await fills(pool)) {
    note(`${wallet} `, timestamp.getTime());
    if (is_taker === true) note(`${wallet} ${category}`, timestamp.getTime());
  }
  const counts = new Map<string, number>();
  for (const [key, at] of newest)
    for (const time of [10, 13].map((length) => new Date(at).toISOString().slice(0, length))) {
      const there = `${key.split(' ')[1]} at ${time}`;
      counts.set(there, (counts.get(there) ?? 0) + 1);
    }
  const { rows } = await pool.query<{ wallet: string; category: string; at: Date }>('SELECT * FROM pm_latest_fill');
  const counted = await pool.query<{ category: string; time: string; wallets: number }>(
    `SELECT category, day::text AS time, wallets FROM pm_latest_day
     UNION ALL SELECT category, to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24'), wallets FROM pm_latest_hour`,
  );
  return {
    kept: [
      ...rows.map(({ wallet, category, at }) => `${wallet} ${category}@${at.getTime()}`),
      ...counted.rows.map(({ category, time, wallets }) => `${category} at ${time}: ${wallets}`),
    ].sort(),
    told: [...[...newest].map(([key, at]) => `${key}@${at}`), ...[...counts].map(([there, wallets]) => `${there}: ${wallets}`)].sort(),
  };
}

/** What is kept of smart wallets' hours from $1 on, and what plain facts say of them: each judged by the newest run of a day before its own, else by the first. */
const KEPT_HOURS = `SELECT hour, condition_id, token_id, wallet, category, score, buys, sells, buy_usdc::float8, sell_usdc::float8, buy_shares::float8, sell_shares::float8, first_at, last_at, first_buy_at
FROM pm_smart_wallet_hour WHERE hour >= $1 ORDER BY 1, 2, 3, 4`;
const HOURS_OF_FACTS = `SELECT hour, condition_id, token_id, wallet, category, score, (count(*) FILTER (WHERE side = 'BUY'))::int AS buys, (count(*) FILTER (WHERE side = 'SELL'))::int AS sells,
  COALESCE(sum(usdc_size) FILTER (WHERE side = 'BUY'), 0)::float8 AS buy_usdc, COALESCE(sum(usdc_size) FILTER (WHERE side = 'SELL'), 0)::float8 AS sell_usdc,
  COALESCE(sum(size) FILTER (WHERE side = 'BUY'), 0)::float8 AS buy_shares, COALESCE(sum(size) FILTER (WHERE side = 'SELL'), 0)::float8 AS sell_shares,
  min("timestamp") AS first_at, max("timestamp") AS last_at, min("timestamp") FILTER (WHERE side = 'BUY') AS first_buy_at
FROM (
  SELECT trade.*, date_trunc('hour', "timestamp", 'UTC') AS hour, market.category, COALESCE(
    (SELECT max(day) FROM pm_wallet_score WHERE day < ("timestamp" AT TIME ZONE 'UTC')::date), (SELECT min(day) FROM pm_wallet_score)) AS run
  FROM pm_trade AS trade JOIN pm_market AS market USING (condition_id) WHERE side IN ('BUY', 'SELL') AND "timestamp" >= $1
) AS fill JOIN pm_wallet_score AS judged USING (wallet) WHERE judged.day = run AND score >= 60 GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4`;

describe('what is told beforehand', () => {
  let database: TestDatabase;
  let pool: Pool;
  const open = async (name: string, part?: (index: number) => boolean): Promise<void> => {
    database = await copyOfFilled(`told_${name}`, async (filled) => {
      await loadShuffled(filled.pool, part);
      await filled.pool.query('ANALYZE');
    });
    pool = database.pool;
  };
  const openWhole = (): Promise<void> => open('whole');
  /** All but what comes late. */
  const openEarly = (): Promise<void> => open('early', (index) => !isLate(index));
  afterEach(() => database.drop());

  test('hours that wait for a writer keep no run of the scores waiting, which the writer may wait for', async () => {
    await openWhole();
    await score(pool, now, () => undefined);
    let hours = Promise.resolve();
    await inTransaction(pool, async (writer) => {
      await writer.query(writersTurn('prediction'));
      hours = tellHours(pool, now);
      await new Promise((resolve) => setTimeout(resolve, 200));
      await inTransaction(pool, (scoring) => forgetJudged(scoring, now.toISOString().slice(0, 10)), "SET LOCAL lock_timeout = '5s'");
    });
    await hours;
  });

  test('latest fills are those of the facts, whatever the order, after moves of markets, fills taken back and a rebuild', async () => {
    await openWhole();
    const first = await latest(pool);
    expect(first.kept.length).toBeGreaterThan(200);
    expect(first.kept).toEqual(first.told);
    const { rows } = await pool.query<{ condition_id: string }>(
      'SELECT condition_id FROM pm_trade WHERE is_taker GROUP BY 1 ORDER BY count(*) DESC LIMIT 3',
    );
    const renamed = rows.map(({ condition_id }) => ({
      ...market(1),
      conditionId: condition_id,
      tags: [{ slug: 'weather' }],
      updatedAt: iso(now.getTime() / 1_000),
    }));
    await loadRecords(pool, 'markets.json', renamed);
    const moved = await latest(pool);
    expect(moved.kept.filter((line) => line.includes(' Weather@')).length).toBeGreaterThan(20);
    expect(moved.kept).toEqual(moved.told);
    // Every other market goes to the next category, all in one page: takes leave a category that others come into, and some stay.
    const tags = ['sports', 'crypto', 'politics', 'weather'];
    const all = await pool.query<{ condition_id: string; place: number }>(
      'SELECT condition_id, array_position($1::text[], lower(category)) AS place FROM pm_market ORDER BY 1',
      [tags],
    );
    const exchanged = all.rows
      .filter((_, index) => index % 2 === 0)
      .map(({ condition_id, place }) => ({
        ...market(1),
        conditionId: condition_id,
        tags: [{ slug: tags[(place ?? 0) % tags.length] }],
        updatedAt: iso(now.getTime() / 1_000 + 1),
      }));
    await loadRecords(pool, 'markets.json', exchanged);
    const crossed = await latest(pool);
    expect(crossed.kept).not.toEqual(moved.kept);
    expect(crossed.kept).toEqual(crossed.told);
    await inTransaction(pool, (client) => retractFills(client, { from: new Date(start.getTime() + 6 * DAY), to: now }));
    const left = await latest(pool);
    expect(left.kept.length).toBeLessThan(crossed.kept.length);
    expect(left.kept).toEqual(left.told);
    await inTransaction(pool, rebuildLatest);
    expect((await latest(pool)).kept).toEqual(left.kept);
  });

  test('takers counted by their latest fill are those counted one by one', async () => {
    await openWhole();
    const facts = await fills(pool);
    const newest = new Date(Math.max(...facts.map(({ timestamp }) => timestamp.getTime())) + 1);
    for (const to of [newest, now, new Date(start.getTime() + 4 * DAY + 1)])
      for (const hours of [1, 24, 100, 1_000]) {
        const from = new Date(to.getTime() - hours * HOUR);
        const takers = new Map<string, Set<string>>();
        for (const { wallet, category, timestamp, is_taker } of facts)
          if (is_taker === true && timestamp >= from && timestamp < to)
            takers.set(category, (takers.get(category) ?? new Set()).add(wallet));
        const rows = await listTraders(sqlOf(pool), 'category', { cut: cutAt([from, to]), shift: 0, category: null, smart: null });
        expect(new Map(rows.map(({ label, traders }) => [label, traders]))).toEqual(
          new Map([...takers].map(([label, own]) => [label, own.size])),
        );
      }
  });

  /** Different takers by hour or day from plain facts, of one category or all. */
  function takersOf(facts: readonly Fact[], group: 'hour' | 'day', from: Date, to: Date, category: string | null): string[] {
    const takers = new Map<string, Set<string>>();
    for (const fact of facts) {
      if (fact.is_taker !== true || fact.timestamp < from || fact.timestamp >= to || (category ?? fact.category) !== fact.category)
        continue;
      const day = fact.timestamp.toISOString().slice(0, 10);
      const label = group === 'day' ? `${day}T00:00:00Z` : `${day}T${fact.timestamp.toISOString().slice(11, 13)}:00:00Z`;
      takers.set(label, (takers.get(label) ?? new Set()).add(fact.wallet));
    }
    return [...takers].map(([label, own]) => `${label} ${own.size}`).sort();
  }

  test('takers by hour and day are those counted one by one: told, late facts, moves, windows torn by their bounds', async () => {
    await openEarly();
    await score(pool, new Date(start.getTime() + 6 * DAY), () => undefined);
    const check = async (): Promise<void> => {
      const facts = await fills(pool);
      const ends = [now, new Date(start.getTime() + 5 * DAY), new Date(start.getTime() + 4 * DAY + 7.3 * HOUR + 1)];
      for (const to of ends)
        for (const hours of [0.3, 24, 71.7, 2_160])
          for (const group of ['hour', 'day'] as const)
            for (const category of [null, 'Sports', 'Mentions']) {
              const from = new Date(to.getTime() - hours * HOUR);
              const rows = await listTraders(sqlOf(pool), group, { cut: cutAt([from, to]), shift: 0, category, smart: null });
              expect(rows.map(({ label, traders }) => `${label} ${traders}`).sort()).toEqual(takersOf(facts, group, from, to, category));
            }
    };
    const counted = async (): Promise<number> =>
      Number(
        (
          await pool.query(
            'SELECT (SELECT count(*) FROM pm_told_hour WHERE takers IS NOT NULL) + (SELECT count(*) FROM pm_told_day WHERE takers IS NOT NULL) AS n',
          )
        ).rows[0].n,
      );
    expect(await counted()).toBeGreaterThan(140);
    await check();
    await tellHours(pool, now);
    const all = await counted();
    expect(all).toBe(8 * 24 + 17 + 8);
    await check();
    await loadShuffled(pool, isLate);
    expect(await counted()).toBeLessThan(all);
    await check();
    await tellHours(pool, now);
    const { rows } = await pool.query<{ condition_id: string }>(
      'SELECT condition_id FROM pm_trade WHERE is_taker GROUP BY 1 ORDER BY count(*) DESC LIMIT 1',
    );
    const renamed = { ...market(1), conditionId: rows[0]?.condition_id, tags: [{ slug: 'sports' }], updatedAt: iso(now.getTime() / 1_000) };
    await loadRecords(pool, 'markets.json', [renamed]);
    expect(await counted()).toBeLessThan(all);
    await check();
    await tellHours(pool, now);
    await inTransaction(pool, (client) =>
      retractFills(client, { from: new Date(start.getTime() + 3.4 * DAY), to: new Date(start.getTime() + 3.6 * DAY) }),
    );
    await check();
    await tellHours(pool, now);
    expect(await counted()).toBe(all);
    await check();
    // Some not counted yet; and some taken out just after it was asked which are told.
    await pool.query('UPDATE pm_told_hour SET takers = NULL WHERE extract(hour FROM hour) % 5 = 1');
    await pool.query("UPDATE pm_told_day SET takers = NULL WHERE day = '2026-02-04'");
    await check();
    const sql: Sql = {
      query: async (statement, values) => {
        const found = await sqlOf(pool).query(statement, values);
        if (statement.name.startsWith('pm_told_takers')) await pool.query("DELETE FROM pm_told_hour WHERE hour = '2026-02-05T05:00:00Z'");
        return found as never;
      },
    };
    const window = [new Date(start.getTime() + 4 * DAY + 2.5 * HOUR), new Date(start.getTime() + 5 * DAY)] as const;
    const counts = await listTraders(sql, 'hour', { cut: cutAt(window), shift: 0, category: null, smart: null });
    expect(counts.map(({ label, traders }) => `${label} ${traders}`).sort()).toEqual(takersOf(await fills(pool), 'hour', ...window, null));
  });

  /** Smart volume by category from plain facts: every wallet judged by the newest run of a day before the fill's. */
  async function smartVolumes(from: Date, to: Date): Promise<Map<string, number>> {
    const { rows } = await pool.query<{ day: string; wallet: string; score: string }>(
      'SELECT day::text, wallet, score FROM pm_wallet_score WHERE score >= 60',
    );
    const days = [
      ...new Set((await pool.query<{ day: string }>('SELECT day::text FROM pm_wallet_score')).rows.map(({ day }) => day)),
    ].sort();
    const smart = new Set(rows.map(({ day, wallet }) => `${day} ${wallet}`));
    const sums = new Map<string, number>();
    for (const { wallet, category, timestamp, usdc_size } of await fills(pool)) {
      if (timestamp < from || timestamp >= to) continue;
      const run = days.filter((day) => day < timestamp.toISOString().slice(0, 10)).at(-1) ?? days[0];
      if (smart.has(`${run} ${wallet}`)) sums.set(category, (sums.get(category) ?? 0) + micros(usdc_size));
    }
    return sums;
  }

  /** Works while these tables hold nothing. */
  async function without(tables: readonly string[], work: () => Promise<void>): Promise<void> {
    for (const table of tables) await pool.query(`CREATE TABLE aside_${table} AS SELECT * FROM ${table}; DELETE FROM ${table}`);
    await work();
    for (const table of tables) await pool.query(`INSERT INTO ${table} SELECT * FROM aside_${table}; DROP TABLE aside_${table}`);
  }

  async function asked(
    group: VolumeGroup,
    from: Date,
    to: Date,
    category: string | null = null,
    sql: Sql = sqlOf(pool),
  ): Promise<string[]> {
    const spans = spansOf(await listRunDays(sql, to), { from, to });
    const middle = new Date((from.getTime() + to.getTime()) / 2);
    const rows = await listVolumes(sql, group, {
      cut: cutAt([from, middle, to]),
      shift: 0,
      category,
      smart: { spans, min_score: 60 },
    });
    return rows.map(({ label, part, buy_usdc, sell_usdc, trades }) => `${label} ${part} ${buy_usdc} ${sell_usdc} ${trades}`).sort();
  }

  /** What wallets of at least 60 and 65 did on active markets, and how many they are by category, in one of them, and by hour. */
  async function askedOfWallets(from: Date, to: Date, fewest = 1): Promise<unknown> {
    const sql = sqlOf(pool);
    const spans = spansOf(await listRunDays(sql, to), { from, to });
    const cut = cutAt([from, to]);
    const told: unknown[] = [];
    for (const min_score of [60, 65]) {
      const rule = { spans, min_score };
      const flows = await listSmartWalletFlows(sql, cut, rule, { category: null, on_one_outcome: 1 }, to);
      const [all, large] = [await listSmartWalletEntries(sql, cut, rule, { category: null, usdc: 0 }, to), await listSmartWalletEntries(sql, cut, rule, { category: null, usdc: 100 }, to)]; // prettier-ignore
      expect(flows.length).toBeGreaterThanOrEqual(fewest);
      expect(all.length).toBeGreaterThanOrEqual(fewest);
      for (const rows of [flows, all, large] as readonly object[][])
        told.push(rows.map((row) => JSON.stringify({ ...row, told: undefined })).sort());
    }
    for (const [group, category] of [
      ['category', null],
      ['category', 'Sports'],
      ['hour', null],
      ['market', 'Sports'],
    ] as const) {
      const rows = await listTraders(sql, group, { cut, shift: 0, category, smart: { spans, min_score: 60 } });
      expect(rows.length).toBeGreaterThanOrEqual(fewest);
      told.push(rows.map(({ label, traders }) => `${label} ${traders}`).sort());
    }
    return told;
  }

  test('told hours answer as facts do: two runs, late facts, moves, a window torn by its bounds', async () => {
    await openEarly();
    await score(pool, new Date(start.getTime() + 4 * DAY), () => undefined);
    await score(pool, new Date(start.getTime() + 6 * DAY + 9 * HOUR), () => undefined);
    // Few are smart in so small a world: some more, others in each run.
    const run = new Date(start.getTime() + 6 * DAY);
    const judge = async (): Promise<void> => {
      await pool.query('UPDATE pm_wallet_score SET score = CASE WHEN hashtext(wallet || day::text) % 4 = 0 THEN 70 ELSE 40 END');
      await tellSmartPositions(pool);
    };
    await judge();
    await pool.query('DELETE FROM pm_told_hour');
    await tellHours(pool, now);
    const told = async (): Promise<number> => Number((await pool.query('SELECT count(*) AS n FROM pm_told_hour')).rows[0].n);
    expect(await told()).toBeGreaterThan(150);
    const from = new Date(start.getTime() + DAY + 1_234_567);
    /** Until when every hour is known to be told. */
    const wholeUntil = async (): Promise<Date> => {
      const { rows } = await pool.query<{ until: Date; missing: number }>(
        `SELECT until, (SELECT count(*)::int FROM generate_series(since, until - interval '1 hour', interval '1 hour') AS series(hour)
          WHERE NOT EXISTS (SELECT FROM pm_told_hour AS told WHERE told.hour = series.hour)) AS missing FROM pm_told_whole`,
      );
      expect(rows).toMatchObject([{ missing: 0 }]);
      return (rows[0] as { until: Date }).until;
    };
    const check = async (): Promise<void> => {
      await wholeUntil();
      for (const group of ['category', 'market', 'hour', 'day', 'hour_of_day'] as const) {
        const [kept, sums] = [await asked(group, from, now), group === 'category' ? await smartVolumes(from, now) : null];
        const wallets = group === 'category' ? await askedOfWallets(from, now) : null;
        const sports = await asked(group, from, now, 'Sports');
        expect(sports.length).toBeGreaterThan(0);
        await without(['pm_told_hour', 'pm_smart_run'], async () => {
          expect([kept, sports]).toEqual([await asked(group, from, now), await asked(group, from, now, 'Sports')]);
          if (group === 'category') expect(wallets).toEqual(await askedOfWallets(from, now));
        });
        expect(kept.length).toBeGreaterThan(0);
        if (sums === null) continue;
        const added = new Map<string, number>();
        for (const line of kept) {
          const [label, , buy, sell] = line.split(' ') as [string, string, string, string];
          added.set(label, (added.get(label) ?? 0) + micros(buy) + micros(sell));
        }
        expect(added).toEqual(sums);
      }
    };
    /** Hours since the newest run, kept by whatever writes them, told or not: those of the facts, and what is asked of them. */
    const checkKept = async (): Promise<void> => {
      const [kept, facts] = [await pool.query(KEPT_HOURS, [run]), await pool.query(HOURS_OF_FACTS, [run])];
      expect(kept.rows.length).toBeGreaterThan(50);
      expect(kept.rows).toEqual(facts.rows);
      for (const [from, to] of [[run.getTime() + 7.3 * HOUR, now.getTime()], [run.getTime(), now.getTime() - 2.4 * HOUR], [now.getTime() - 0.2 * HOUR, now.getTime() + 1.5 * HOUR]] as const) {
        const window = [new Date(from), new Date(to)] as const;
        const answers = async (): Promise<unknown> => [await asked('category', ...window), await asked('hour', ...window), await askedOfWallets(...window, 0)];
        const known = await answers();
        await without(['pm_told_hour', 'pm_told_whole'], async () => {
          const spans = spansOf(await listRunDays(sqlOf(pool), window[1]), { from: window[0], to: window[1] });
          const hours = await loadTold(sqlOf(pool), cutAt(window), { spans, min_score: 60 });
          expect(hours).toMatchObject({ told: 0, untold: [], run: run.toISOString().slice(0, 10) });
          expect(await answers()).toEqual(known);
          await without(['pm_smart_run'], async () => expect(await answers()).toEqual(known));
        });
      }
    }; // prettier-ignore
    /** Totals of the venue, from what is told and from facts. */
    const checkTotals = async (): Promise<void> => {
      const to = new Date(start.getTime() + 9 * DAY + 1_234);
      // A day is not told before its last hour is, in which something happens.
      const { rows: taken_at } = await pool.query<{ condition_id: string; token_id: string }>(
        'SELECT condition_id, token_id FROM pm_trade WHERE is_taker ORDER BY trade_id LIMIT 1',
      );
      const last = {
        conditionId: taken_at[0]?.condition_id,
        asset: taken_at[0]?.token_id,
        timestamp: Math.floor(to.getTime() / 1_000) - 600,
      };
      await loadRecords(pool, 'trades.json', [{ ...trade(900, 1, 0, 1, 'BUY', 100, 0.5, 0), ...last }]);
      await tellHours(pool, new Date(to.getTime() - HOUR / 2));
      await tellHours(pool, to);
      const day = (await listRunDays(sqlOf(pool), to)).at(-1) as string;
      const lengths = Array.from({ length: 24 }, (_, index) => 30 + 7.63 * index);
      for (const hours of [1, 24, 24.5, 10_000, 80_000, ...lengths]) {
        const window = { from: new Date(to.getTime() - hours * HOUR), to };
        const { facts, told } = await totalsOf(pool, window, day);
        // An hour torn by both bounds is of facts alone, and may hold none.
        if (hours === 1) continue;
        expect(told).toMatchObject(facts);
        expect(Number(facts.median_trade_size_usdc)).toBeGreaterThan(0);
      }
      const sizes = await pool.query<{ day: string; fills: number }>(
        'SELECT day::text, (SELECT sum(one)::int FROM unnest(fills) AS one) AS fills FROM pm_told_day ORDER BY day',
      );
      const taken = (await fills(pool)).filter(({ is_taker }) => is_taker).map(({ timestamp }) => timestamp.toISOString().slice(0, 10));
      expect(sizes.rows.length).toBeGreaterThan(5);
      const tenths = await pool.query(
        'SELECT day::text, sum(fills)::int AS fills FROM pm_told_day_size WHERE fills = cardinality(sizes) GROUP BY 1 ORDER BY 1',
      );
      expect(tenths.rows).toEqual(sizes.rows);
      expect(sizes.rows).toEqual(sizes.rows.map(({ day }) => ({ day, fills: taken.filter((one) => one === day).length })));
    };
    await check();
    await checkKept();
    const before = await told();
    const until = await wholeUntil();
    expect(until).toEqual(new Date(Math.floor(now.getTime() / HOUR) * HOUR));
    await loadShuffled(pool, isLate);
    expect(await told()).toBeLessThan(before);
    expect(await wholeUntil()).not.toEqual(until);
    await check();
    await checkKept();
    await tellHours(pool, now);
    expect(await told()).toBe(before);
    expect(await wholeUntil()).toEqual(until);
    await check();
    // One that much was done in is taken out just after it was asked which are told.
    const sums = await asked('category', from, now);
    const { rows: busy } = await pool.query<{ hour: Date }>(
      'SELECT hour FROM pm_smart_hour WHERE hour > $1 ORDER BY buy_usdc DESC LIMIT 1',
      [from],
    );
    const taking: Sql = {
      query: async (statement, values) => {
        const found = await sqlOf(pool).query(statement, values);
        const gone = [{ timestamp: busy[0]?.hour as Date }];
        if (statement.name === 'pm_told_hours') await inTransaction(pool, (client) => forgetHours(client, gone));
        return found as never;
      },
    };
    expect(await asked('category', from, now, null, taking)).toEqual(sums);
    expect(await wholeUntil()).toEqual(busy[0]?.hour);
    expect(await asked('category', from, now)).toEqual(sums);
    await tellHours(pool, now);
    await checkTotals();
    const { rows } = await pool.query<{ condition_id: string }>(
      'SELECT condition_id FROM pm_trade GROUP BY 1 ORDER BY count(*) DESC LIMIT 1',
    );
    await loadRecords(pool, 'markets.json', [
      { ...market(1), conditionId: rows[0]?.condition_id, tags: [{ slug: 'weather' }], updatedAt: iso(now.getTime() / 1_000) },
    ]);
    expect(await told()).toBeLessThan(before);
    await check();
    await checkKept();
    // The earlier run made again judges its own hours alone.
    await tellHours(pool, now);
    await score(pool, new Date(start.getTime() + 4 * DAY), () => undefined);
    await check();
    await judge();
    await checkKept();
    await inTransaction(pool, (client) => retractFills(client, { from: new Date(now.getTime() - 9.5 * HOUR), to: new Date(now.getTime() - 4.2 * HOUR) })); // prettier-ignore
    await checkKept();
    await inTransaction(pool, rebuildHours);
    await checkKept();
    // The newest run made again tells anew who is smart or a machine, of all hours.
    await checkTotals();
    await score(pool, new Date(start.getTime() + 6 * DAY + 9 * HOUR), () => undefined);
    await checkTotals();
    // Before the first hour that was told there may be facts as well, once one comes late.
    await tellHours(pool, now);
    const { rows: some } = await pool.query<{ conditionId: string; asset: string }>(
      'SELECT condition_id AS "conditionId", token_id AS asset FROM pm_trade LIMIT 1',
    );
    const early = new Date(start.getTime() - 30 * HOUR);
    await loadRecords(pool, 'trades.json', [
      { ...trade(901, 1, 0, 1, 'BUY', 100, 0.5, 0), ...some[0], timestamp: early.getTime() / 1_000 + 60 },
    ]);
    const spans = spansOf(await listRunDays(sqlOf(pool), now), { from: BEGINNING, to: now });
    const hours = await loadTold(sqlOf(pool), cutAt([BEGINNING, now]), { spans, min_score: 60 });
    expect(hours?.untold[0]).toEqual(early);
    expect(hours?.untold.length).toBeGreaterThan(25);
  });

  test('hours in which nothing happened cost nothing: a fact of years ago, and what comes while hours are told', async () => {
    await openEarly();
    await score(pool, new Date(start.getTime() + 6 * DAY), () => undefined);
    /** Tells hours, and does something else before a transaction of it; how many transactions it took. */
    const tell = async (to: Date, at = -1, meanwhile = async (): Promise<void> => undefined): Promise<number> => {
      let turns = 0;
      const connect = async (): Promise<PoolClient> => {
        turns += 1;
        if (turns === at) await meanwhile();
        return pool.connect();
      };
      await tellHours({ connect } as Pool, to);
      return turns;
    };
    const { rows } = await pool.query<{ condition_id: string; token_id: string }>(
      'SELECT condition_id, token_id FROM pm_trade WHERE is_taker ORDER BY trade_id LIMIT 1',
    );
    const [at] = rows as [{ condition_id: string; token_id: string }];
    const old = { ...trade(1, 1, 0, 1, 'BUY', 100, 0.5, 0), conditionId: at.condition_id, asset: at.token_id };
    await loadRecords(pool, 'trades.json', [{ ...old, timestamp: Date.UTC(2019, 1, 3, 4, 5) / 1_000 }]);
    const check = async (to: Date): Promise<void> => {
      const day = (await listRunDays(sqlOf(pool), to)).at(-1) as string;
      const window = { from: BEGINNING, to };
      const { facts, told } = await totalsOf(pool, window, day);
      expect(told).toMatchObject(facts);
      const whole = await pool.query(
        "SELECT (hour AT TIME ZONE 'UTC')::date::text AS day FROM pm_told_hour WHERE EXISTS (SELECT FROM pm_told_size WHERE date_trunc('day', pm_told_size.hour, 'UTC') = date_trunc('day', pm_told_hour.hour, 'UTC')) GROUP BY 1 HAVING count(*) = 24 ORDER BY 1",
      );
      const kept = await pool.query('SELECT day::text FROM pm_told_day WHERE takers IS NOT NULL ORDER BY 1');
      expect(kept.rows).toEqual(whole.rows);
      expect(kept.rows.length).toBeGreaterThan(6);
    };
    const later = new Date(start.getTime() + 12 * DAY + 1_234);
    expect(await tell(later)).toBeLessThan(12);
    await check(later);
    // By the next run nothing but who is smart or a machine is told anew; an hour that a writer takes out meanwhile is told as a whole.
    await score(pool, new Date(later.getTime() - HOUR), () => undefined);
    await check(later);
    await pool.query("UPDATE pm_told_hour SET run_day = '2026-01-01' WHERE run_day < 'infinity'");
    expect(await tell(later, 2, () => loadShuffled(pool, isLate))).toBeLessThan(24);
    await check(later);
    // A day whose last hour becomes empty is told without it.
    const noon = new Date(start.getTime() + 4 * DAY + 12 * HOUR);
    await inTransaction(pool, (client) => retractFills(client, { from: noon, to: new Date(noon.getTime() + HOUR) }));
    expect(await tell(later)).toBeLessThan(4);
    await check(later);
  });

  test('a new run tells who is smart or a machine in the hours of the run before, but of those that somebody is taking out', async () => {
    await openWhole();
    await score(pool, new Date(start.getTime() + 6 * DAY), () => undefined);
    /** Has others be smart, machines, both or neither by each run. */
    const judge = `UPDATE pm_wallet_score SET score = CASE WHEN hashtext(wallet || day::text) % 3 = 0 THEN 70 ELSE 40 END,
      tags = CASE WHEN hashtext(day::text || wallet) % 4 = 0 THEN ARRAY['wash'] ELSE '{}' END`;
    await pool.query(`${judge}; DELETE FROM pm_told_hour`);
    const end = new Date(start.getTime() + 9 * DAY + 1_234);
    await tellHours(pool, end);
    const [before, day] = ['2026-02-07', '2026-02-10'];
    const columns = 'wallet, score, tags, version, win_rate, win_rate_lb, positions, edge, edge_low, edge_high, z, breakdown, followable_roi_pct, followable_share';
    /** How many told hours are judged by each run. */
    const classes = async (): Promise<Record<string, number>> =>
      Object.fromEntries((await pool.query<{ run: string; hours: number }>('SELECT run_day::text AS run, count(*)::int AS hours FROM pm_told_hour GROUP BY 1')).rows.map(({ run, hours }) => [run, hours]));
    const { [before]: judged = 0, ...others } = await classes();
    expect(judged).toBeGreaterThan(150);
    const taken = { timestamp: new Date(start.getTime() + 3 * DAY + 12 * HOUR) };
    await inTransaction(pool, async (writer) => {
      await forgetHours(writer, [taken]);
      await inTransaction(pool, async (scoring) => {
        await scoring.query(`INSERT INTO pm_wallet_score (day, ${columns}) SELECT $1::date, ${columns} FROM pm_wallet_score WHERE day = $2::date AND hashtext(wallet) % 10 <> 0`, [day, before]);
        await scoring.query('INSERT INTO pm_score_run (day) VALUES ($1)', [day]);
        await scoring.query(`${judge} WHERE day = '${day}'`);
        await forgetJudged(scoring, day);
      }, "SET LOCAL lock_timeout = '5s'");
    });
    expect(await classes()).toEqual({ ...others, [day]: judged - 1 });
    for (const hours of [14.5, 20, 30.5, 100.2, 10_000]) {
      const { facts, told } = await totalsOf(pool, { from: new Date(end.getTime() - hours * HOUR), to: end }, day);
      expect(told).toMatchObject(facts);
      expect(facts).not.toMatchObject({ smart_volume_usdc: 0 });
      expect(facts).not.toMatchObject({ bot_volume_usdc: 0 });
    }
  }); // prettier-ignore

  test('smart wallets by category are those of the facts: by when they last did anything, hours told later, late facts, windows torn by their bounds', async () => {
    await openEarly();
    for (const days of [4, 6.4]) await score(pool, new Date(start.getTime() + days * DAY), () => undefined);
    await pool.query('UPDATE pm_wallet_score SET score = CASE WHEN hashtext(wallet || day::text) % 4 = 0 THEN 70 ELSE 40 END');
    await tellSmartPositions(pool);
    await pool.query('DELETE FROM pm_told_hour');
    const runs = (await pool.query<{ day: string }>('SELECT DISTINCT day::text FROM pm_wallet_score ORDER BY 1')).rows.map(({ day }) => day);
    const { rows } = await pool.query<{ judged: string }>(`SELECT day::text || ' ' || wallet AS judged FROM pm_wallet_score WHERE score = 70`);
    const smart = new Set(rows.map(({ judged }) => judged));
    const runOf = (at: Date): string => runs.filter((day) => day < at.toISOString().slice(0, 10)).at(-1) ?? (runs[0] as string);
    /** Checks windows of an end; `known_until`: the hours before it are to be left alone. */
    const check = async (to: Date, known_until: Date | null): Promise<void> => {
      const facts = await fills(pool);
      for (const hours of [1.7, 20, 33.31, 61.05, 100.9, 5_000])
        for (const category of [null, 'Sports']) {
          const from = new Date(to.getTime() - hours * HOUR);
          const names: string[] = [];
          const sql: Sql = { query: (statement, values) => (names.push(statement.name), sqlOf(pool).query(statement, values)) };
          const spans = spansOf(await listRunDays(sql, to), { from, to });
          const told = await listTraders(sql, 'category', { cut: cutAt([from, to]), shift: 0, category, smart: { spans, min_score: 60 } });
          const own = new Map<string, Set<string>>();
          for (const fact of facts)
            if (fact.timestamp >= from && fact.timestamp < to && (category ?? fact.category) === fact.category && smart.has(`${runOf(fact.timestamp)} ${fact.wallet}`))
              own.set(fact.category, (own.get(fact.category) ?? new Set()).add(fact.wallet));
          expect(told.map(({ label, traders }) => `${label} ${traders}`).sort()).toEqual([...own].map(([label, wallets]) => `${label} ${wallets.size}`).sort());
          expect(names.some((name) => name.startsWith('pm_latest_smart'))).toBe(known_until !== null && cutAt([from, to]).whole.from < known_until);
        }
      if (known_until === null) return;
      const kept = await pool.query('SELECT wallet, category, hour FROM pm_smart_latest ORDER BY 1, 2');
      const latest = await pool.query('SELECT wallet, category, max(hour) AS hour FROM pm_smart_wallet_hour WHERE hour < (SELECT until FROM pm_smart_latest_told) GROUP BY 1, 2 ORDER BY 1, 2');
      expect(kept.rows.length).toBeGreaterThan(20);
      expect(kept.rows).toEqual(latest.rows);
    };
    const earlier = new Date(now.getTime() - 30.6 * HOUR);
    const [first, last] = [earlier, now].map((at) => new Date(Math.floor(at.getTime() / HOUR) * HOUR)) as [Date, Date];
    await tellHours(pool, earlier);
    await check(earlier, first);
    await check(now, first);
    await tellHours(pool, now);
    await check(now, last);
    // Who last did something after the end may have done something before it.
    await check(earlier, null);
    await loadShuffled(pool, isLate);
    await check(now, null);
    await tellHours(pool, now);
    await check(now, last);
  }); // prettier-ignore

  /** Floats are added up in any order. */
  const inOrder = ({ wallets, rows }: Overlap): unknown => ({
    wallets,
    rows: rows.map((row) => ({ ...row, cosine: row.cosine.toFixed(9) })).sort((a, b) => (a.condition_id < b.condition_id ? -1 : 1)),
  });

  test('told wallets answer as their positions do, and are taken out by whatever changes one', async () => {
    await openEarly();
    await tellWallets(pool);
    const [sql, end] = [sqlOf(pool), new Date(start.getTime() + 10 * DAY)];
    const wallets = (await pool.query<{ wallet: string }>('SELECT wallet FROM pm_wallet ORDER BY 1')).rows.map(({ wallet }) => wallet);
    const told = async (): Promise<number> => Number((await pool.query('SELECT count(*) AS n FROM pm_told_wallet')).rows[0].n);
    expect(await told()).toBeGreaterThan(50);
    const answers = async (): Promise<unknown> => {
      const evidence = await listWalletEvidence(sql, wallets, end, '[]');
      const lifetimes = await lifetimesOf(sql, wallets, end);
      const bets = await listMedianBets(sql, wallets, { now: end, overlay: '[]' });
      const { rows: likest } = await pool.query<{ condition_id: string }>(
        'SELECT condition_id FROM pm_trade GROUP BY 1 ORDER BY count(*) DESC LIMIT 3',
      );
      const overlapsOf = (status: 'all' | 'active', at: Date, overlay: string): Promise<Overlap[]> =>
        Promise.all(
          likest.map(({ condition_id }) =>
            findOverlap(sql, condition_id, { status, min_shared: 1, score_day: null, smart_score: 60, markets: 100 }, { now: at, overlay }),
          ),
        );
      const overlaps = await overlapsOf('all', end, '[]');
      expect(overlaps[0]?.rows.length).toBeGreaterThan(3);
      // Those of active markets are those of all that are active, also as of an instant after which some ended.
      for (const at of [end, new Date(start.getTime() + 5 * DAY)]) {
        const overlay = await loadOverlay(sql, at);
        const { rows } = await pool.query<{ condition_id: string }>(activeMarkets('$1::timestamptz', null), [at]);
        const active = new Set(rows.map(({ condition_id }) => condition_id));
        const whole = await overlapsOf('all', at, overlay);
        const among = whole.map((one) => ({ ...one, rows: one.rows.filter(({ condition_id }) => active.has(condition_id)) }));
        expect((await overlapsOf('active', at, overlay)).map(inOrder)).toEqual(among.map(inOrder));
        expect(among.some((one) => one.rows.length > 0 && one.rows.length < (whole[0] as Overlap).rows.length)).toBe(true);
      }
      const scope = { min_positions: 2, score_day: null, now: end, overlay: '[]', limit: 100 };
      const experts = await Promise.all(['Politics', 'Sports', 'Crypto', 'Weather'].map((category) => listRankedExperts(sql, { ...scope, category }))); // prettier-ignore
      expect(experts.flat().length).toBeGreaterThan(20);
      const leaders: LeaderboardRow[][] = [];
      for (const hours of [30, 75.5, 2_000])
        for (const category of [null, 'Sports']) {
          const [from, to] = [new Date(now.getTime() - hours * HOUR), now];
          const filter = { timeframe: 'all', window: { from, to }, now, overlay: await loadOverlay(sql, now), category, metric: 'volume', min_trades: 1, score_day: null, include_bots: false } as const; // prettier-ignore
          const all = await listLeaders(sql, { ...filter, limit: 1_000 });
          expect(all.length).toBeGreaterThan(1);
          for (const limit of [1, 2]) expect(await listLeaders(sql, { ...filter, limit })).toEqual(all.slice(0, limit));
          leaders.push(all);
        }
      return {
        leaders,
        experts: experts.map((ranked) => ranked.sort((a, b) => (a.wallet < b.wallet ? -1 : 1))),
        overlaps: overlaps.map(inOrder),
        wallets: wallets.map((wallet) => ({
          wallet,
          evidence: evidence.get(wallet),
          lifetime: lifetimes.get(wallet),
          bet: bets.get(wallet),
        })),
      };
    };
    const check = (): Promise<void> => expectSameUntold(pool, answers);
    await check();
    const { rows } = await pool.query<{ wallet: string; trades: number }>(
      `SELECT wallet, count(*)::int AS trades FROM pm_trade WHERE side IN ('BUY', 'SELL') GROUP BY 1`,
    );
    const lifetimes = await lifetimesOf(sql, wallets, end);
    for (const { wallet, trades } of rows) expect(lifetimes.get(wallet)?.trades).toBe(trades);
    const before = await told();
    await loadShuffled(pool, isLate);
    expect(await told()).toBeLessThan(before);
    await check();
    await tellWallets(pool);
    await loadRecords(pool, 'markets.json', [{ ...market(1), conditionId: (await pool.query<{ condition_id: string }>('SELECT condition_id FROM pm_trade GROUP BY 1 ORDER BY count(*) DESC LIMIT 1')).rows[0]?.condition_id, tags: [{ slug: 'weather' }], updatedAt: iso(now.getTime() / 1_000) }]); // prettier-ignore
    expect(await told()).toBeLessThan(Number((await pool.query('SELECT count(DISTINCT wallet) AS n FROM pm_position')).rows[0].n));
    await check();
  });
});
