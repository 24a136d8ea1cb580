import { groupedBy } from '../../../src/lib/grouped';
import { type Timeframe, previousWindow, windowOf } from '../../../src/lib/timeframe';
import { testDatabase } from '../../support/database';
import { call } from './markets/call';
import { iso, sum } from './markets/signal-reckoning';
import { type Counted, type Told, type ToldMarket, type ToldWorld, countPositions, loadTold } from './wallets/told-world';

// A store of fourteen months, over two years' ends and a February: windows that begin and end within months of any length, and hold whole ones between.

const START = new Date('2025-10-20T00:00:00Z');
const END = new Date('2027-01-03T00:00:00Z');
const NOWS = ['2026-11-18T13:37:21Z', '2027-01-01T00:00:00Z'].map((at) => new Date(at));
const WINDOWS: Timeframe[] = ['30d', '90d', '365d', 'all'];
const CASES = NOWS.flatMap((now) => WINDOWS.map((timeframe) => [timeframe, now] as const));
/** By a run of long ago some are smart, by the newest others. */
const RUNS = ['2026-02-28', '2026-12-20'] as const;

type Row = Record<string, unknown>;
const near = (value: number): unknown => expect.closeTo(value, 4);

let db: Awaited<ReturnType<typeof testDatabase>>;
let told: ToldWorld;
let wallets: string[];
let smart: Set<string>[];

beforeAll(async () => {
  db = await testDatabase();
  told = await loadTold(db.pool, 3, 400, START, END);
  const trades = groupedBy(told.facts.filter(isTrade), ({ wallet }) => wallet);
  wallets = [...trades].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1)).map(([wallet]) => wallet);
  smart = RUNS.map((_, run) => new Set(wallets.filter((_, place) => place % 3 === run)));
  for (const [run, day] of RUNS.entries())
    await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) SELECT wallet, $1, 90, '{}', 'v' FROM unnest($2::text[]) AS wallet", [day, [...(smart[run] as Set<string>)]]); // prettier-ignore
});
afterAll(() => db.drop());

const isTrade = ({ side }: Told): boolean => side === 'BUY' || side === 'SELL';
const marketOf = ({ market }: Told): ToldMarket => told.markets.get(market) as ToldMarket;
const usdc = (facts: readonly Told[]): number => sum(facts.map((fact) => fact.usdc));
const within = (facts: readonly Told[], { from, to }: { from: Date; to: Date }): Told[] =>
  facts.filter(({ time }) => time >= from.getTime() && time < to.getTime());
/** The newest run of a day before judges, what is older than the first the first. */
const isSmart = ({ wallet, time }: Told): boolean => smart[iso(time).slice(0, 10) > RUNS[1] ? 1 : 0]?.has(wallet) === true;
const positionsAt = new Map<Date, Counted[]>();
function positionsOf(wallet: string, now: Date): Counted[] {
  const all = positionsAt.get(now) ?? countPositions(told, now.getTime());
  positionsAt.set(now, all);
  return all.filter((one) => one.wallet === wallet && one.paidShares > 0);
}

test('the store is worth asking', () => {
  expect(new Set(told.facts.map(({ time }) => iso(time).slice(0, 7))).size).toBe(16);
  expect(told.facts.length).toBeGreaterThan(3_000);
});

test.each(CASES)('volume by category, hour and weekday of %s at %s', async (timeframe, now) => {
  const before = previousWindow(timeframe, now);
  for (const smart_money_only of [false, true]) {
    const chosen = told.facts.filter((fact) => isTrade(fact) && (smart_money_only ? isSmart(fact) : fact.taker));
    const [own, past] = [within(chosen, windowOf(timeframe, now)), before && within(chosen, before)];
    const of = (facts: readonly Told[], category: string): Told[] => facts.filter((fact) => marketOf(fact).category === category);
    const asked = { timeframe, smart_money_only };
    const { data: grouped } = await call<{ groups: Row[] } & Row>(db, 'markets/volume-by-group', now, { ...asked, limit: 400 });
    expect([grouped.total_volume, grouped.previous_total_volume]).toEqual([near(usdc(own)), past && near(usdc(past))]);
    for (const { group, ...row } of grouped.groups) {
      const [there, earlier] = [of(own, String(group)), past && of(past, String(group))];
      expect(row).toMatchObject({ volume: near(usdc(there)), trade_count: there.length, previous_volume: earlier && near(usdc(earlier)), unique_traders: new Set(there.map(({ wallet }) => wallet)).size }); // prettier-ignore
    }
    for (const [group_by, labelOf] of [['hour_of_day', (time: number) => iso(time).slice(11, 13)], ['day_of_week', (time: number) => new Date(time).toUTCString().slice(0, 3).toLowerCase()]] as const) {
      const { data } = await call<{ breakdown: Row[]; cells: Row[] }>(db, 'markets/volume-heatmap', now, { ...asked, group_by });
      const labels = groupedBy(own, ({ time }) => labelOf(time));
      expect(data.breakdown.map(({ label }) => label).sort()).toEqual([...labels.keys()].sort());
      for (const { label, volume, trade_count } of data.breakdown) expect([volume, trade_count]).toEqual([near(usdc(labels.get(String(label)) as Told[])), labels.get(String(label))?.length]); // prettier-ignore
      const cells = groupedBy(own, ({ time }) => `${labelOf(time)} ${iso(time).slice(0, 10)}`);
      expect(data.cells.map(({ label, bucket, trade_count }) => [`${String(label)} ${String(bucket).slice(0, 10)}`, trade_count]).sort()).toEqual([...cells].map(([key, facts]) => [key, facts.length]).sort()); // prettier-ignore
    } // prettier-ignore
  }
});

test.each(CASES)('activity and gains of wallets of %s at %s', async (timeframe, now) => {
  const { from, to } = windowOf(timeframe, now);
  for (const wallet of wallets.slice(0, 2)) {
    const all = positionsOf(wallet, now);
    const ended = all.filter(({ status, closed }) => status !== 'open' && (closed as number) >= from.getTime());
    const { data: gains } = await call<Row & { by_category: { pnl: number }[] }>(db, 'wallets/pnl-breakdown', now, { wallet, timeframe });
    expect(gains).toMatchObject({ total_positions: ended.length, total_realized_pnl: near(sum(ended.map(({ gain }) => gain))), voided_positions: ended.filter(({ status }) => status === 'voided').length }); // prettier-ignore
    expect(sum(gains.by_category.map(({ pnl }) => pnl))).toBeCloseTo(gains.total_realized_pnl as number, 4);
    const own = told.facts.filter((fact) => fact.wallet === wallet);
    const rows = within(own, { from, to }).filter((fact) => isTrade(fact) || fact.side === 'REDEEM');
    const ids: string[] = [];
    let cursor: string | null = null;
    let summary: unknown;
    do {
      const sent: Row = { wallet, timeframe, limit: 200, ...(cursor === null ? {} : { cursor }) };
      const { data, meta } = await call<{ period_summary: Row; trades: { trade_id: string }[] }>(db, 'wallets/activity', now, sent);
      summary ??= data.period_summary;
      ids.push(...data.trades.map(({ trade_id }) => trade_id));
      cursor = meta.next_cursor;
    } while (cursor !== null);
    expect([ids.length, new Set(ids).size]).toEqual([rows.length, rows.length]);
    const markets = new Set(own.map(({ market }) => market));
    const facts = told.facts.filter((fact) => markets.has(fact.market) && (fact.wallet === wallet || fact.token !== null));
    const before = countPositions({ ...told, facts }, from.getTime(), from.getTime() - 1).filter((one) => one.wallet === wallet);
    expect(summary).toMatchObject({
      trade_count: rows.filter(isTrade).length, redeem_volume: near(usdc(rows.filter(({ side }) => side === 'REDEEM'))), new_positions: all.filter(({ opened }) => opened >= from.getTime()).length,
      closed_positions: ended.length, realized_pnl: near(sum(all.map(({ gain }) => gain)) - sum(before.map(({ gain }) => gain))),
    }); // prettier-ignore
  }
});

test.each(CASES)('every page of resolutions of %s at %s', async (timeframe, now) => {
  const { from, to } = windowOf(timeframe, now);
  const resolved = [...told.markets.values()].flatMap(({ id, resolved: at }) => (at !== null && at >= from.getTime() && at <= to.getTime() ? [{ id, at }] : [])); // prettier-ignore
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const sent: Row = { timeframe, limit: 100, ...(cursor === null ? {} : { cursor }) };
    const { data, meta } = await call<{ condition_id: string }[]>(db, 'markets/resolutions', now, sent);
    ids.push(...data.map(({ condition_id }) => condition_id));
    cursor = meta.next_cursor;
  } while (cursor !== null);
  expect(ids).toEqual(resolved.sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1)).map(({ id }) => id));
});
