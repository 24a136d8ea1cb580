import { type Timeframe, windowOf } from '../../../../src/lib/timeframe';
import { groupedBy } from '../../../../src/lib/grouped';
import { sqlOver } from '../../../../src/db/sql';
import { type WalletTradesTotals, findLifeTotals, getWalletTradesTotals } from '../../../../src/venues/prediction/queries/wallet-trades';
import { listEndedEvidence } from '../../../../src/venues/prediction/queries/leader-positions';
import { listOverlap } from '../../../../src/venues/prediction/queries/wallet-overlap';
import { sharedPositions } from '../../../../src/venues/prediction/resolvers/wallets-overlap';
import { loadWalletsOverlay } from '../../../../src/venues/prediction/rollups/positions-as-of';
import { score } from '../../../../src/venues/prediction/scoring/job';
import type { AnswerMeta } from '../../../../src/venues/venue';
import { testDatabase } from '../../../support/database';
import { call, callForError, callOr } from '../markets/call';
import { wallet as madeUp } from '../support';
import { type Counted, type Told, type ToldWorld, PriceBook, countPositions, loadTold } from './told-world';

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const now = new Date(start.getTime() + 22 * DAY + 43_211_000);
const NOW = now.getTime();

type Row = Record<string, unknown>;
interface Dossier { wallet: string; profile: Row; category_breakdown: Row[]; active_positions: Row[] | null; recent_trades: Row[] | null; score_history: Row[]; score_breakdown: Row | null } // prettier-ignore
interface Breakdown extends Row { total_realized_pnl: number; positions: (Row & { realized_pnl_usdc: number; token_id: string })[] } // prettier-ignore

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const clamp = (x: number): number => Math.min(3, Math.max(-1, x));
const near = (value: number): unknown => expect.closeTo(value, 4);

describe('wallets of a simulated world, counted a second time', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let told: ToldWorld;
  let counted: Counted[];
  let busiest: string[];

  beforeAll(async () => {
    db = await testDatabase();
    // Two days more than now: what is still to come must not show.
    told = await loadTold(db.pool, 11, 7_000, start, new Date(NOW + 2 * DAY));
    counted = countPositions(told, NOW);
    const counts = new Map<string, number>();
    for (const { wallet, time } of told.facts) if (time < NOW) counts.set(wallet, (counts.get(wallet) ?? 0) + 1);
    busiest = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, 8).map(([wallet]) => wallet); // prettier-ignore
    await score(db.pool, now, () => undefined);
  });
  afterAll(() => db.drop());

  const fills = (wallet: string, from = 0, to = NOW): Told[] => told.facts.filter((fact) => fact.wallet === wallet && fact.time >= from && fact.time < to && (fact.side === 'BUY' || fact.side === 'SELL')); // prettier-ignore
  const endedOf = (wallet: string, from = 0): Counted[] =>
    counted.filter((one) => one.wallet === wallet && one.status !== 'open' && (one.closed as number) >= from);

  async function machinesOf(): Promise<Set<string>> {
    const { rows } = await db.pool.query<{ wallet: string; tags: string[] }>('SELECT wallet, tags FROM pm_wallet_score');
    return new Set(
      rows.filter(({ tags }) => tags.some((tag) => ['market_maker', 'hft_bot', 'wash'].includes(tag))).map(({ wallet }) => wallet),
    );
  }

  /** Return over its spread, drawn to zero by twenty positions; nothing below ten. */
  function shrunkSharpe(ended: readonly Counted[]): number {
    const returns = ended.map(({ gain, paid }) => clamp(gain / paid));
    const n = returns.length;
    const mean = sum(returns) / n;
    const spread = Math.sqrt(sum(returns.map((one) => (one - mean) ** 2)) / (n - 1));
    return n < 10 || spread === 0 ? Number.NEGATIVE_INFINITY : ((mean / spread) * n) / (n + 20);
  }

  function figures(ended: readonly Counted[]): Row {
    const judged = ended.filter(({ status }) => status !== 'voided');
    const returns = ended.map(({ gain, paid }) => clamp(gain / paid));
    const mean = sum(returns) / returns.length;
    const spread = Math.sqrt(sum(returns.map((one) => (one - mean) ** 2)) / (returns.length - 1));
    const losses = -sum(ended.map(({ gain }) => Math.min(0, gain)));
    return {
      total_pnl: near(sum(ended.map(({ gain }) => gain))),
      win_rate: judged.length === 0 ? null : near(judged.filter(({ gain }) => gain > 1e-9).length / judged.length),
      resolved_positions: ended.filter(({ status }) => status === 'resolved').length,
      roi_pct: ended.length === 0 ? null : near((100 * sum(ended.map(({ gain }) => gain))) / sum(ended.map(({ paid }) => paid))),
      sharpe: ended.length < 10 || spread === 0 ? null : near(mean / spread),
      profit_factor: losses === 0 ? null : near(sum(ended.map(({ gain }) => Math.max(0, gain))) / losses),
      max_drawdown_usdc: near(drawdown(ended)),
    };
  }

  /** What ends at one instant is one step: both sides of a market, markets of one event. */
  function drawdown(ended: readonly Counted[]): number {
    let [running, peak, largest] = [0, 0, 0];
    const steps = groupedBy(
      [...ended].sort((a, b) => (a.closed as number) - (b.closed as number)),
      ({ closed }) => closed,
    );
    for (const step of steps.values()) {
      running += sum(step.map(({ gain }) => gain));
      peak = Math.max(peak, running);
      largest = Math.max(largest, peak - running);
    }
    return largest;
  }

  /** The evidence of the wallet score: positions of $1 at least that ended, bought below 0.95 (less the noise of binary fractions), halved in weight every 180 days. */
  function breakdownOf(wallet: string): Row {
    const ended = endedOf(wallet).filter(({ status, paid }) => status !== 'voided' && paid >= 1);
    const forecasts = ended
      .map((one) => ({ ...one, e: one.paid / one.paidShares, y: (one.received + one.shares * (one.payout ?? 0)) / one.paidShares, weight: 2 ** (((one.closed as number) - NOW) / (180 * DAY)) }))
      .filter(({ e }) => e < 0.95 - 1e-12); // prettier-ignore
    const [n, weight] = [forecasts.length, sum(forecasts.map((one) => one.weight))];
    const mean = (of: (one: (typeof forecasts)[number]) => number): number => sum(forecasts.map((one) => one.weight * of(one))) / weight;
    const months = new Map<string, number>();
    for (const { closed, gain } of ended) {
      const month = new Date(closed as number).toISOString().slice(0, 7);
      months.set(month, (months.get(month) ?? 0) + gain);
    }
    return {
      n,
      edge: n === 0 ? null : near(mean(({ y, e }) => y - e)),
      roi_shrunk: near(n === 0 ? 0 : (mean(({ gain, paid }) => clamp(gain / paid)) * n) / (n + 50)),
      consistency: near(([...months.values()].filter((gain) => gain > 0).length + 2) / (months.size + 4)),
    };
  }

  test('wallets/profile', async () => {
    const prices = new PriceBook(told.facts.filter(({ time }) => time < NOW));
    for (const wallet of busiest) {
      const { data } = await call<Dossier>(db, 'wallets/profile', now, { wallet, trades_limit: 500, explain: true });
      const own = fills(wallet);
      expect(data.profile).toMatchObject(figures(endedOf(wallet)));
      expect(data.profile).toMatchObject({
        total_volume: near(sum(own.map(({ usdc }) => usdc))),
        markets_traded: new Set(own.map(({ market }) => market)).size,
      });
      const open = counted.filter((one) => one.wallet === wallet && one.status === 'open');
      expect(data.active_positions?.map((row) => row.token_id).sort()).toEqual(open.map(({ token }) => token).sort());
      for (const row of data.active_positions as Row[]) {
        const one = open.find(({ token }) => token === row.token_id) as Counted;
        expect(row).toMatchObject({
          status: 'open',
          shares: near(one.shares),
          cost_usdc: near(one.paid),
          realized_pnl_usdc: near(one.gain),
          avg_buy_price: near(one.paid / one.paidShares),
          won: null,
        });
        expect((row.current_value_usdc as number) - (row.unrealized_pnl_usdc as number)).toBeCloseTo(one.cost, 4);
        const last = prices.last(one.token, NOW);
        if (last.length > 0)
          expect(last.map((price) => Math.round(price * 1e6))).toContain(Math.round((row.current_price as number) * 1e6));
      }
      const categories = data.category_breakdown as { category: string; volume: number; pnl: number; share_of_volume_pct: number }[];
      expect(sum(categories.map(({ pnl }) => pnl))).toBeCloseTo(data.profile.total_pnl as number, 4);
      expect(sum(categories.map(({ share_of_volume_pct }) => share_of_volume_pct))).toBeCloseTo(100, 3);
      for (const { category, volume } of categories)
        expect(volume).toBeCloseTo(
          sum(own.filter(({ market }) => told.markets.get(market)?.category === category).map(({ usdc }) => usdc)),
          4,
        );
      expect(data.profile.primary_category).toBe(categories[0]?.category);
      expect(data.score_history).toEqual([{ date: now.toISOString().slice(0, 10), score: data.profile.score }]);
      expect(data.score_breakdown).toMatchObject({ version: 'pm-2026.3', ...breakdownOf(wallet) });
      const rows = told.facts
        .filter((fact) => fact.wallet === wallet && fact.time < NOW && !['SPLIT', 'MERGE'].includes(fact.side))
        .map(({ tx }) => tx);
      expect(data.recent_trades?.map((row) => row.tx_hash).sort()).toEqual(rows.length <= 500 ? rows.sort() : expect.anything());
    }
  });

  test('wallets/profile: parts can be left out, unknown wallets are not found', async () => {
    const wallet = busiest[0] as string;
    const { data } = await call<Dossier>(db, 'wallets/profile', now, { wallet, include_positions: false, include_trades: false });
    expect([data.active_positions, data.recent_trades, data.score_breakdown]).toEqual([null, null, null]);
    expect((await callForError(db, 'wallets/profile', now, { wallet: madeUp(77) })).code).toBe('not_found');
    // Nobody has traded yet a second after the world began.
    expect((await callForError(db, 'wallets/profile', start, { wallet })).code).toBe('not_found');
  });

  test('wallets/pnl-breakdown, every parameter', async () => {
    for (const wallet of busiest) {
      for (const timeframe of ['24h', '7d', '30d', 'all'] as Timeframe[]) {
        const from = windowOf(timeframe, now).from.getTime();
        const ended = endedOf(wallet, from);
        if (ended.length === 0) {
          expect((await callForError(db, 'wallets/pnl-breakdown', now, { wallet, timeframe })).code).toBe('empty_result');
          continue;
        }
        const { data } = await call<Breakdown>(db, 'wallets/pnl-breakdown', now, { wallet, timeframe, limit: 200 });
        const judged = ended.filter(({ status }) => status !== 'voided');
        expect(data).toMatchObject({
          total_realized_pnl: near(sum(ended.map(({ gain }) => gain))), total_positions: ended.length, voided_positions: ended.length - judged.length,
          winning_positions: ended.filter(({ gain }) => gain > 1e-9).length, losing_positions: ended.filter(({ gain }) => gain < -1e-9).length,
          realized_pnl_open_usdc: near(bookedOnOpen(wallet, from)),
        }); // prettier-ignore
        expect(data.positions.map(({ token_id }) => token_id).sort()).toEqual(ended.map(({ token }) => token).sort());
        expect(data.positions.map(({ realized_pnl_usdc }) => realized_pnl_usdc)).toEqual(
          data.positions.map(({ realized_pnl_usdc }) => realized_pnl_usdc).sort((a, b) => b - a),
        );
        for (const row of data.positions) {
          const one = ended.find(({ token }) => token === row.token_id) as Counted;
          const parts = row.pnl_components as Record<string, number>;
          expect(row).toMatchObject({
            status: one.status,
            realized_pnl_usdc: near(one.gain),
            cost_usdc: near(one.paid),
            proceeds_usdc: near(one.received + one.shares * (one.payout ?? 0)),
            unrealized_pnl_usdc: null,
          });
          expect(row.won).toBe(one.status !== 'resolved' ? null : one.payout === 1);
          expect(sum(Object.values(parts))).toBeCloseTo(row.realized_pnl_usdc, 4);
        }
      }
      const { data: profile } = await call<Dossier>(db, 'wallets/profile', now, { wallet });
      const { data: all } = await call<Breakdown>(db, 'wallets/pnl-breakdown', now, { wallet, timeframe: 'all', limit: 200 });
      expect(all.total_realized_pnl).toBe(profile.profile.total_pnl);
    }
  });

  /** Gains since `from` on positions that are open now. */
  function bookedOnOpen(wallet: string, from: number): number {
    const before = new Map(countPositions({ ...told, facts: told.facts.filter((fact) => fact.wallet === wallet || fact.token !== null) }, Math.max(from, 1)).filter((one) => one.wallet === wallet).map((one) => [one.token, one.gain])); // prettier-ignore
    return sum(
      counted.filter((one) => one.wallet === wallet && one.status === 'open').map((one) => one.gain - (before.get(one.token) ?? 0)),
    );
  }

  test('wallets/pnl-breakdown: orders, category, open positions', async () => {
    const wallet = busiest[1] as string;
    const key: Record<string, (row: Row) => number> = {
      pnl: (row) => row.realized_pnl_usdc as number, abs_pnl: (row) => Math.abs(row.realized_pnl_usdc as number), roi: (row) => row.roi_pct as number,
      cost: (row) => row.cost_usdc as number, closed_at: (row) => (row.closed_at === null ? 0 : Date.parse(row.closed_at as string)),
    }; // prettier-ignore
    const idOf = ({ condition_id, token_id }: Row): string => `${condition_id as string} ${token_id as string}`;
    for (const [sort_by, keyOf] of Object.entries(key)) {
      const { data } = await call<Breakdown>(db, 'wallets/pnl-breakdown', now, { wallet, timeframe: 'all', sort_by, limit: 200 });
      const ordered = (rows: readonly Row[]): string[] =>
        [...rows].sort((a, b) => keyOf(b) - keyOf(a) || (idOf(a) < idOf(b) ? -1 : 1)).map(idOf);
      expect(data.positions.map(idOf)).toEqual(ordered(data.positions));
      const { data: all } = await call<Breakdown>(db, 'wallets/pnl-breakdown', now, { wallet, timeframe: 'all', sort_by, include_open: true, limit: 200 }); // prettier-ignore
      expect(all.positions.some(({ status }) => status === 'open')).toBe(true);
      expect(all.positions.map(idOf)).toEqual(ordered(all.positions));
    }
    const category = (endedOf(wallet)[0] as Counted).market.category;
    const { data: some } = await call<Breakdown>(db, 'wallets/pnl-breakdown', now, { wallet, timeframe: 'all', category, limit: 200 });
    expect(some.positions.map(({ token_id }) => token_id).sort()).toEqual(endedOf(wallet).filter(({ market }) => market.category === category).map(({ token }) => token).sort()); // prettier-ignore
    const { data: open } = await call<Breakdown>(db, 'wallets/pnl-breakdown', now, {
      wallet,
      timeframe: 'all',
      include_open: true,
      limit: 200,
    });
    expect(open.positions.length).toBe(counted.filter((one) => one.wallet === wallet).length);
    expect(open.total_positions).toBe(endedOf(wallet).length);
    const { data: few } = await call<Breakdown>(db, 'wallets/pnl-breakdown', now, { wallet, timeframe: 'all', limit: 1 });
    expect([few.positions.length, few.total_positions]).toEqual([1, endedOf(wallet).length]);
  });

  test('wallets/activity, every parameter', async () => {
    interface Activity { period_summary: Row; trades: (Row & { trade_id: string; tx_hash: string })[] } // prettier-ignore
    for (const wallet of busiest.slice(0, 4)) {
      for (const sent of [
        {},
        { timeframe: '7d' },
        { timeframe: 'all' },
        { timeframe: 'all', side: 'SELL' },
        { timeframe: '30d', min_usdc: 50 },
        { timeframe: '30d', category: 'Crypto' },
        { timeframe: 'all', condition_id: (fills(wallet)[0] as Told).market },
      ] as Row[]) {
        const from = windowOf((sent.timeframe as Timeframe | undefined) ?? '24h', now).from.getTime();
        const inScope = (market: string): boolean =>
          (!sent.category || told.markets.get(market)?.category === sent.category) && (!sent.condition_id || market === sent.condition_id);
        const rows = told.facts.filter(
          (fact) =>
            fact.wallet === wallet &&
            fact.time >= from &&
            fact.time < NOW &&
            inScope(fact.market) &&
            fact.usdc >= ((sent.min_usdc as number | undefined) ?? 0) &&
            (sent.side ? fact.side === sent.side : ['BUY', 'SELL', 'REDEEM'].includes(fact.side)),
        );
        if (rows.length === 0) {
          expect((await callForError(db, 'wallets/activity', now, { wallet, ...sent })).code).toBe('empty_result');
          continue;
        }
        const { data } = await call<Activity>(db, 'wallets/activity', now, { wallet, limit: 500, ...sent });
        const usdcOf = (side: string): number => sum(rows.filter((fact) => fact.side === side).map(({ usdc }) => usdc));
        const trades = rows.filter(({ side }) => side !== 'REDEEM');
        const held = counted.filter((one) => one.wallet === wallet && inScope(one.market.id));
        const before = new Map(countPositions({ ...told, facts: told.facts.filter((fact) => fact.wallet === wallet || fact.token !== null) }, from, from - 1).filter((one) => one.wallet === wallet).map((one) => [one.token, one.gain])); // prettier-ignore
        expect(data.period_summary).toMatchObject({
          trade_count: trades.length, buy_volume: near(usdcOf('BUY')), sell_volume: near(usdcOf('SELL')), redeem_volume: near(usdcOf('REDEEM')), net_flow: near(usdcOf('BUY') - usdcOf('SELL')),
          markets_traded: new Set(trades.map(({ market }) => market)).size, largest_trade_usdc: trades.length === 0 ? null : near(Math.max(...trades.map(({ usdc }) => usdc))),
          realized_pnl: near(sum(held.map((one) => one.gain - (before.get(one.token) ?? 0)))), new_positions: held.filter(({ opened }) => opened >= from).length,
          closed_positions: held.filter(({ status, closed }) => status !== 'open' && (closed as number) >= from).length,
        }); // prettier-ignore
        if (rows.length <= 500) expect(data.trades.map(({ tx_hash }) => tx_hash).sort()).toEqual(rows.map(({ tx }) => tx).sort());
      }
    }
    expect((await callForError(db, 'wallets/activity', now, { wallet: madeUp(77) })).code).toBe('not_found');
  });

  test('what positions tell of a life is what its rows tell, or they say that they do not', async () => {
    const sql = sqlOver(db);
    let sure = 0;
    for (const wallet of new Set(told.facts.map((fact) => fact.wallet))) {
      const scope = { wallets: [wallet], now, overlay: await loadWalletsOverlay(sql, [wallet], now) };
      const rows = await getWalletTradesTotals(sql, { wallet, window: windowOf('all', now), sides: ['BUY', 'SELL', 'REDEEM'], min_usdc: 0, condition_id: null, category: null }); // prettier-ignore
      const exact = (totals: WalletTradesTotals): Row =>
        Object.fromEntries(
          Object.entries(totals).map(([name, value]) => [name, name === 'most_traded_category' ? value : value && Number(value)]),
        );
      expect(exact((await findLifeTotals(sql, scope, 1_000)) as WalletTradesTotals)).toEqual(exact(rows));
      const guess = await findLifeTotals(sql, scope, 2);
      if (guess === null) continue;
      expect(exact(guess)).toEqual(exact(rows));
      sure += 1;
    }
    expect(sure).toBeGreaterThan(20);
  });

  test('ended positions come in one order, however they lie in the store', async () => {
    const sql = sqlOver(db);
    const scope = { wallets: busiest, now, overlay: await loadWalletsOverlay(sql, busiest, now) };
    const list = (): Promise<unknown[]> => listEndedEvidence(sql, scope, windowOf('all', now), null);
    await db.pool.query('CLUSTER pm_position USING pm_position_closed_at_idx');
    const one = await list();
    await db.pool.query('CLUSTER pm_position USING pm_position_pkey');
    expect(one.length).toBeGreaterThan(100);
    expect(await list()).toEqual(one);
  });

  test('wallets/activity: pages neither repeat nor skip rows', async () => {
    const wallet = busiest[2] as string;
    const all = await call<{ trades: { trade_id: string }[] }>(db, 'wallets/activity', now, { wallet, timeframe: 'all', limit: 500 });
    const seen: string[] = [];
    for (let cursor: string | null = null, page = 0; (page === 0 || cursor !== null) && seen.length < 60; page += 1) {
      const { data, meta }: { data: { trades: { trade_id: string }[] }; meta: AnswerMeta } = await call(db, 'wallets/activity', new Date(NOW + page * 60_000), { wallet, timeframe: 'all', limit: 7, ...(cursor === null ? {} : { cursor }) }); // prettier-ignore
      seen.push(...data.trades.map(({ trade_id }) => trade_id));
      cursor = meta.next_cursor;
    }
    expect(seen).toEqual(all.data.trades.slice(0, seen.length).map(({ trade_id }) => trade_id));
  });

  test('wallets/compare equals the profiles', async () => {
    interface Comparison { wallets: (Row & { wallet: string; found: boolean; profile: Row | null })[]; comparison_winners: Record<string, string[]>; category_overlap: Row[]; shared_positions: (Row & { condition_id: string; holders: (Row & { wallet: string })[] })[] | null; pairwise: (Row & { a: string; b: string })[] } // prettier-ignore
    const wallets = [...busiest.slice(0, 4), madeUp(77)];
    const { data } = await call<Comparison>(db, 'wallets/compare', now, { wallets });
    expect(data.wallets.map(({ wallet, found }) => [wallet, found])).toEqual(wallets.map((wallet, index) => [wallet, index < 4]));
    for (const entry of data.wallets.slice(0, 4)) {
      const { data: own } = await call<Dossier>(db, 'wallets/profile', now, { wallet: entry.wallet });
      expect({ profile: entry.profile, category_breakdown: entry.category_breakdown }).toEqual({
        profile: own.profile,
        category_breakdown: own.category_breakdown,
      });
    }
    const best = Math.max(...data.wallets.slice(0, 4).map(({ profile }) => (profile as Row).total_pnl as number));
    expect(data.comparison_winners.total_pnl).toEqual(
      data.wallets.filter(({ profile }) => profile?.total_pnl === best).map(({ wallet }) => wallet),
    );
    const markets = new Map(
      wallets.slice(0, 4).map((wallet) => [wallet, new Set(counted.filter((one) => one.wallet === wallet).map(({ market }) => market.id))]),
    );
    for (const { a, b, shared_markets, jaccard, position_cosine } of data.pairwise) {
      const [x, y] = [markets.get(a) as Set<string>, markets.get(b) as Set<string>];
      const shared = [...x].filter((id) => y.has(id)).length;
      expect([shared_markets, jaccard]).toEqual([shared, near(shared / (x.size + y.size - shared))]);
      expect(Math.abs(position_cosine as number)).toBeLessThanOrEqual(1);
    }
    const together = [...new Set(counted.map(({ market }) => market.id))].filter(
      (id) => [...markets.values()].filter((own) => own.has(id)).length >= 2,
    );
    expect(data.shared_positions?.map(({ condition_id }) => condition_id).sort()).toEqual(together.sort());
    const sql = sqlOver(db);
    const scope = { wallets: wallets.slice(0, 4), now, overlay: await loadWalletsOverlay(sql, wallets, now) };
    const few = await listOverlap(sql, scope, windowOf('all', now), 3);
    const shown = sharedPositions(few.sides ?? []).map(({ condition_id }) => condition_id);
    expect([few.markets, shown]).toEqual([together.length, data.shared_positions?.slice(0, 3).map(({ condition_id }) => condition_id)]);
    const { data: narrow } = await call<Comparison>(db, 'wallets/compare', now, {
      wallets: wallets.slice(0, 2),
      timeframe: '7d',
      include_shared_positions: false,
    });
    expect(narrow.shared_positions).toBeNull();
    for (const { wallet, profile } of narrow.wallets) {
      const from = NOW - 7 * DAY;
      expect(profile).toMatchObject({
        ...figures(endedOf(wallet, from)),
        total_volume: near(sum(fills(wallet, from).map(({ usdc }) => usdc))),
      });
    }
    expect((await callForError(db, 'wallets/compare', now, { wallets: [madeUp(77), madeUp(78)] })).code).toBe('not_found');
  });

  test('wallets/portfolio adds up', async () => {
    interface Portfolio { wallets: (Row & { wallet: string; found: boolean })[]; totals: Row; by_category: Row[]; positions: (Row & { token_id: string; value_usdc: number; wallets: string[] })[]; consensus: Row[]; conflicts: Row[] } // prettier-ignore
    const wallets = [...busiest, madeUp(77)];
    const { data } = await call<Portfolio>(db, 'wallets/portfolio', now, { wallets, min_position_usdc: 0, limit: 200 });
    const open = counted.filter((one) => busiest.includes(one.wallet) && one.status === 'open');
    const ended = counted.filter((one) => busiest.includes(one.wallet) && one.status !== 'open');
    expect(data.totals).toMatchObject({
      wallet_count: busiest.length,
      open_positions: open.length,
      cost_usdc: near(sum(open.map(({ cost }) => cost))),
      realized_pnl_usdc: near(sum(ended.map(({ gain }) => gain))),
    });
    expect(sum(data.by_category.map((row) => row.value_usdc as number))).toBeCloseTo(data.totals.value_usdc as number, 3);
    expect(sum(data.wallets.map((row) => row.value_usdc as number))).toBeCloseTo(data.totals.value_usdc as number, 3);
    expect(data.wallets.at(-1)).toMatchObject({ found: false, value_usdc: 0, open_positions: 0, score: null });
    const byToken = new Map<string, Counted[]>();
    for (const one of open) byToken.set(one.token, [...(byToken.get(one.token) ?? []), one]);
    expect(data.positions.map(({ token_id }) => token_id).sort()).toEqual([...byToken.keys()].sort().slice(0, 200));
    expect(data.positions.map(({ value_usdc }) => value_usdc)).toEqual(
      data.positions.map(({ value_usdc }) => value_usdc).sort((a, b) => b - a),
    );
    for (const row of data.positions) {
      const held = byToken.get(row.token_id) as Counted[];
      expect(row).toMatchObject({
        wallets: held.map(({ wallet }) => wallet).sort(),
        shares: near(sum(held.map(({ shares }) => shares))),
        cost_usdc: near(sum(held.map(({ cost }) => cost))),
      });
    }
    expect(data.consensus.length).toBe([...byToken.values()].filter((held) => held.length >= 2).length);
    const { data: large } = await call<Portfolio>(db, 'wallets/portfolio', now, {
      wallets,
      min_position_usdc: 500,
      include_positions: true,
    });
    expect(large.totals).toEqual(data.totals);
    for (const { value_usdc } of large.positions) expect(value_usdc).toBeGreaterThanOrEqual(500);
    expect((await callForError(db, 'wallets/portfolio', now, { wallets: [madeUp(77)] })).code).toBe('not_found');
  });

  test('wallets/top-performers ranks as counted', async () => {
    const machines = await machinesOf();
    for (const metric of ['sharpe', 'roi', 'win_rate', 'pnl', 'volume']) {
      for (const [timeframe, include_bots, category] of [
        ['7d', false, undefined],
        ['all', true, undefined],
        ['30d', false, 'Crypto'],
      ] as const) {
        const min_trades = category ? 3 : 5;
        const from = windowOf(timeframe, now).from.getTime();
        const inScope = (one: Counted): boolean => !category || one.market.category === category;
        const ranked = [...new Set(counted.map(({ wallet }) => wallet))].flatMap((wallet) => {
          const ended = endedOf(wallet, from).filter(inScope);
          const judged = ended.filter(({ status }) => status !== 'voided');
          if (judged.length < min_trades || (!include_bots && machines.has(wallet))) return [];
          const value = rankValue(metric, ended, judged, sum(fills(wallet, from).filter(({ market }) => !category || told.markets.get(market)?.category === category).map(({ usdc }) => usdc))); // prettier-ignore
          return value === null ? [] : [{ wallet, value, trades: judged.length }];
        });
        ranked.sort((a, b) => b.value - a.value || (a.wallet < b.wallet ? -1 : 1));
        const sent = { metric, timeframe, include_bots, min_trades, limit: 15, ...(category ? { category } : {}) };
        if (ranked.length === 0) {
          expect((await callForError(db, 'wallets/top-performers', now, sent)).code).toBe('empty_result');
          continue;
        }
        const { data } = await call<(Row & { wallet: string; rank_value: number; period_trades: number })[]>(
          db,
          'wallets/top-performers',
          now,
          sent,
        );
        expect(data.map(({ wallet, period_trades }) => [wallet, period_trades])).toEqual(
          ranked.slice(0, 15).map(({ wallet, trades }) => [wallet, trades]),
        );
        data.forEach(({ rank_value }, index) => expect(rank_value).toBeCloseTo((ranked[index] as { value: number }).value, 4));
        // Amounts and ratios have six decimals.
        for (const { rank_value } of data) expect(Number(rank_value.toFixed(6))).toBe(rank_value);
      }
    }
  });

  test('leaders by volume are the same where too many wallets are new to be looked at one by one', async () => {
    const leaders = async (sent: Row): Promise<Row[]> =>
      (await call<Row[]>(db, 'wallets/top-performers', now, { metric: 'volume', min_trades: 3, limit: 10, ...sent })).data;
    const asked = [{}, { timeframe: 'all', include_bots: true }, { timeframe: '30d', category: 'Crypto' }];
    const before = await Promise.all(asked.map(leaders));
    await db.pool.query("INSERT INTO pm_wallet (wallet, first_seen_at) SELECT 'new ' || i, now() FROM generate_series(1, 5001) AS i");
    const after = await Promise.all(asked.map(leaders));
    await db.pool.query("DELETE FROM pm_wallet WHERE wallet LIKE 'new %'");
    expect(after).toEqual(before);
    expect(before.map(({ length }) => length)).toEqual([10, 10, expect.any(Number)]);
  });

  function rankValue(metric: string, ended: readonly Counted[], judged: readonly Counted[], volume: number): number | null {
    const returns = ended.map(({ gain, paid }) => clamp(gain / paid));
    const n = returns.length;
    const mean = sum(returns) / n;
    const spread = Math.sqrt(sum(returns.map((one) => (one - mean) ** 2)) / (n - 1));
    const [wins, of] = [judged.filter(({ gain }) => gain > 1e-9).length, judged.length];
    const z = 1.645;
    switch (metric) {
      case 'sharpe':
        return n < 10 || spread === 0 ? null : ((mean / spread) * n) / (n + 20);
      case 'roi':
        return sum(returns) / (n + 50);
      case 'win_rate':
        return Math.max(
          0,
          (wins / of + z ** 2 / (2 * of) - z * Math.sqrt(((wins / of) * (1 - wins / of)) / of + z ** 2 / (4 * of * of))) /
            (1 + z ** 2 / of),
        );
      case 'pnl':
        return sum(ended.map(({ gain }) => gain));
      default:
        return volume;
    }
  }

  test('wallets/niche-experts: all who qualify, ranked as counted', async () => {
    const category = 'Crypto';
    const machines = await machinesOf();
    const there = counted.filter(({ market }) => market.category === category);
    const endedThere = (name: string): Counted[] => there.filter(({ wallet, status }) => wallet === name && status !== 'open');
    const qualified = [...new Set(there.map(({ wallet }) => wallet))].filter((wallet) => !machines.has(wallet) && endedThere(wallet).filter(({ status }) => status !== 'voided').length >= 4); // prettier-ignore
    for (const sort_by of ['category_sharpe', 'category_pnl', 'category_volume']) {
      const { data } = await call<(Row & { wallet: string; category_positions: number; category_pnl: number })[]>(
        db,
        'wallets/niche-experts',
        now,
        { category, sort_by, min_category_trades: 4, limit: 100 },
      );
      expect(qualified.length).toBeGreaterThan(0);
      if (qualified.length <= 100) expect(data.map(({ wallet }) => wallet).sort()).toEqual([...qualified].sort());
      else expect(data.filter(({ wallet }) => !qualified.includes(wallet))).toEqual([]);
      expect(data.length).toBe(Math.min(100, qualified.length));
      const keys = data.map((row) => (sort_by === 'category_sharpe' ? shrunkSharpe(endedThere(row.wallet)) : (row[sort_by] as number)));
      expect(keys).toEqual([...keys].sort((x, y) => y - x));
      for (const row of data) {
        const own = counted.filter((one) => one.wallet === row.wallet && one.market.category === category);
        const ended = own.filter(({ status }) => status !== 'open');
        const volume = sum(fills(row.wallet).filter(({ market }) => told.markets.get(market)?.category === category).map(({ usdc }) => usdc)); // prettier-ignore
        const expected = figures(ended);
        expect(row).toMatchObject({
          category_pnl: expected.total_pnl,
          category_win_rate: expected.win_rate,
          category_sharpe: expected.sharpe,
          category_positions: ended.length,
          open_positions: own.length - ended.length,
          category_volume: near(volume),
        });
        expect(row.volume_concentration).toEqual(near(volume / sum(fills(row.wallet).map(({ usdc }) => usdc))));
      }
    }
    const sent = { category: 'Crypto', min_category_trades: 1, specialists_only: true };
    const special = await callOr<{ is_specialist: boolean }[]>(db, 'wallets/niche-experts', now, sent, []);
    expect(special.every(({ is_specialist }) => is_specialist)).toBe(true);
    expect((await callForError(db, 'wallets/niche-experts', now, { category: 'Crypto', min_category_trades: 1000 })).code).toBe(
      'empty_result',
    );
  });
});
