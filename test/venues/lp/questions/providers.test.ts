import { score } from '../../../../src/venues/lp/scoring/job';
import { testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { type Between, eventsIn, factsOf, grouped, over, scoreBefore, shown, total, type WorldFacts } from '../oracle';
import { type CountedPosition, livesOf, positionsAt } from '../positions-oracle';
import { START, simulated, storeOf } from '../world';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = new Date(START.getTime() + 17 * DAY + 5 * HOUR + 23 * 60_000 + 41_000);
const STRANGER = '11111111111111111111111111111111';
const iso = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;

type Row = Record<string, unknown>;

describe('providers of a simulated world', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let facts: WorldFacts;
  let positions: CountedPosition[];
  let owners: string[];
  let truth: Map<string, string>;

  beforeAll(async () => {
    db = await storeOf(14_000, 18);
    const { world } = simulated(14_000, 18);
    truth = new Map(world.truth().map(({ owner, role }) => [owner, role]));
    await score(db.pool, NOW, () => undefined);
    facts = await factsOf(db.pool);
    positions = positionsAt(facts, await livesOf(db.pool), NOW.getTime());
    const active = [
      ...grouped(
        facts.events.filter((event) => event.owner !== null && event.at < NOW.getTime()),
        (event) => event.owner as string,
      ),
    ];
    owners = active.sort((a, b) => b[1].length - a[1].length).map(([owner]) => owner);
  });
  afterAll(() => db.drop());

  const usd = (rows: readonly { usd: bigint | null }[]): bigint => total(rows.map((row) => row.usd));
  const windowOf = (days: number): Between => ({ from: NOW.getTime() - days * DAY, to: NOW.getTime() });
  const nowScore = (owner: string): number | null => scoreBefore(facts, owner, NOW.getTime() + DAY);
  const ended = (window: Between, owner: string, type?: string, of = positions): CountedPosition[] =>
    of.filter(
      (row) => row.owner === owner && row.closed !== null && row.closed >= window.from && (type === undefined || row.type === type),
    );

  /** Deposits and withdrawals of the events, the legs of each rebalance netted. */
  function netted(events: WorldFacts['events']): { deposited: bigint; withdrawn: bigint } {
    const of = (rows: typeof events, kind: string): bigint => usd(rows.filter((event) => event.kind === kind));
    const turned = [
      ...grouped(
        events.filter((event) => event.rebalance),
        (event) => `${event.pool}/${event.position}/${event.tx}`,
      ).values(),
    ];
    const both = total(turned.map((rows) => (of(rows, 'deposit') < of(rows, 'withdraw') ? of(rows, 'deposit') : of(rows, 'withdraw'))));
    return { deposited: of(events, 'deposit') - both, withdrawn: of(events, 'withdraw') - both };
  }

  function summary(owner: string, window: Between, type?: string, of = positions): Row {
    const events = eventsIn(facts, window).filter((event) => event.owner === owner && (type === undefined || event.type === type));
    const { deposited, withdrawn } = netted(events);
    const closed = ended(window, owner, type, of);
    const known = closed.filter((row) => row.pnl !== null);
    const held = closed.filter((row) => row.opened !== null);
    const pnl = total(known.map((row) => row.pnl));
    const fees = usd(events.filter((event) => event.kind === 'claim'));
    const pct = (a: bigint, b: bigint): unknown => (b === 0n ? null : expect.closeTo(shown(over(100n * a, b) as bigint), 5));
    return {
      total_volume_usd: shown(usd(events.filter((event) => event.kind !== 'claim'))),
      pool_count: new Set(events.map((event) => event.pool)).size,
      event_count: events.length,
      pool_types: ['dlmm', 'damm_v2'].filter((kind) => events.some((event) => event.type === kind)),
      deposited_usd: shown(deposited),
      withdrawn_usd: shown(withdrawn),
      fees_claimed_usd: shown(fees),
      net_value_usd: shown(deposited - withdrawn),
      realized_pnl_usd: known.length === 0 ? null : shown(pnl),
      realized_pnl_pct: known.length === 0 ? null : pct(pnl, total(known.map((row) => row.deposited))),
      win_rate: known.length === 0 ? null : expect.closeTo(known.filter((row) => (row.pnl as bigint) > 0n).length / known.length, 6),
      closed_positions: closed.length,
      open_positions: of.filter(
        (row) =>
          row.owner === owner &&
          row.closed === null &&
          row.events.some(({ kind }) => kind === 'deposit') &&
          (type === undefined || row.type === type),
      ).length,
      avg_hold_hours:
        held.length === 0
          ? null
          : expect.closeTo(held.reduce((sum, row) => sum + ((row.closed as number) - (row.opened as number)) / HOUR, 0) / held.length, 4),
      fee_yield_pct: pct(fees, deposited),
      lp_score: nowScore(owner),
      first_event: events.length === 0 ? null : iso(Math.min(...events.map((event) => event.at))),
      last_event: events.length === 0 ? null : iso(Math.max(...events.map((event) => event.at))),
    };
  }

  const LIFE = { from: 0, to: NOW.getTime() };

  it('lps/profile is what the facts say, for life, in a window and for one type', async () => {
    for (const owner of owners.slice(0, 8)) {
      for (const [parameters, window, type] of [
        [{}, LIFE, undefined],
        [{ timeframe: '7d' }, windowOf(7), undefined],
        [{ pool_type: 'dlmm' }, LIFE, 'dlmm'],
      ] as const) {
        const { data } = await ask<{ summary: Row; pool_breakdown: Row[]; recent_events: Row[] }>(db, 'lp/lps/profile', NOW, {
          owner,
          events_limit: 500,
          ...parameters,
        });
        expect(data.summary).toMatchObject(summary(owner, window, type));
        const events = eventsIn(facts, window).filter((event) => event.owner === owner && (type === undefined || event.type === type));
        expect(data.recent_events).toHaveLength(Math.min(events.length, 500));
        const pools = grouped(events, (event) => event.pool);
        for (const row of data.pool_breakdown) {
          const own = pools.get(row.pool_address as string) ?? [];
          const held = positions.filter((position) => position.owner === owner && position.pool === row.pool_address);
          const closed = held.filter((position) => position.closed !== null && position.closed >= window.from && position.pnl !== null);
          expect(row).toMatchObject({
            volume_usd: shown(usd(own.filter((event) => event.kind !== 'claim'))),
            event_count: own.length,
            deposited_usd: shown(netted(own).deposited),
            withdrawn_usd: shown(netted(own).withdrawn),
            fees_claimed_usd: shown(usd(own.filter((event) => event.kind === 'claim'))),
            realized_pnl_usd: closed.length === 0 ? null : shown(total(closed.map((position) => position.pnl))),
            status: held.length === 0 ? null : held.some((position) => position.closed === null) ? 'open' : 'closed',
          });
        }
        expect(data.pool_breakdown.filter((row) => (row.event_count as number) > 0)).toHaveLength(pools.size);
      }
    }
  });

  it('lps/profile of a life is what the facts say where nothing newer is kept, and tells the loss of each position', async () => {
    const end = new Date(START.getTime() + 19 * DAY);
    const held = positionsAt(facts, await livesOf(db.pool), end.getTime());
    let losses = 0;
    for (const owner of owners.slice(0, 8)) {
      for (const type of [undefined, 'dlmm'] as const) {
        const { data } = await ask<{ summary: Row; pool_breakdown: Row[] }>(db, 'lp/lps/profile', end, {
          owner,
          ...(type && { pool_type: type }),
        });
        const events = facts.events.filter((event) => event.owner === owner && (type === undefined || event.type === type));
        expect(data.summary).toMatchObject(summary(owner, { from: 0, to: end.getTime() }, type, held));
        expect(data.pool_breakdown.filter((row) => (row.event_count as number) > 0)).toHaveLength(
          new Set(events.map((event) => event.pool)).size,
        );
        for (const row of data.pool_breakdown) {
          const own = events.filter((event) => event.pool === row.pool_address);
          const of = held.filter((position) => position.owner === owner && position.pool === row.pool_address);
          expect(row).toMatchObject({
            deposited_usd: shown(netted(own).deposited),
            withdrawn_usd: shown(netted(own).withdrawn),
            status: of.length === 0 ? null : of.some((position) => position.closed === null) ? 'open' : 'closed',
          });
          if (type === undefined || of.length > 6) continue;
          const told = await Promise.all(
            of
              .filter((position) => position.closed !== null)
              .map(async ({ position }) =>
                ask<{ summary: { il_usd: number | null } }>(db, 'lp/positions/history', end, { position_address: position }),
              ),
          );
          const parts = told.map(({ data: position }) => position.summary.il_usd);
          losses += parts.length;
          if (parts.length === 0 || parts.includes(null)) expect(row.il_usd).toBeNull();
          else
            expect(row.il_usd).toBeCloseTo(
              parts.reduce<number>((sum, part) => sum + (part as number), 0),
              4,
            );
        }
      }
    }
    expect(losses).toBeGreaterThan(20);
  });

  it('lps/profile explains the score it shows', async () => {
    const owner = owners.find((candidate) => nowScore(candidate) !== null) as string;
    const { data } = await ask<{ summary: { lp_score: number; lp_score_breakdown: Record<string, number> } }>(db, 'lp/lps/profile', NOW, {
      owner,
      explain: true,
    });
    const { win_points, size_points, return_points, experience_points } = data.summary.lp_score_breakdown as Record<string, number>;
    expect(
      Math.abs(
        (win_points as number) +
          (size_points as number) +
          (return_points as number) +
          (experience_points as number) -
          data.summary.lp_score,
      ),
    ).toBeLessThan(0.25);
  });

  it('lps/profile tells strangers from providers at rest', async () => {
    await expect(ask(db, 'lp/lps/profile', NOW, { owner: STRANGER })).rejects.toMatchObject({ code: 'not_found' });
    const resting = owners.find(
      (owner) => !eventsIn(facts, windowOf(1)).some((event) => event.owner === owner) && ended(windowOf(1), owner).length === 0,
    );
    await expect(ask(db, 'lp/lps/profile', NOW, { owner: resting, timeframe: '24h' })).rejects.toMatchObject({ code: 'empty_result' });
  });

  it('lps/compare shows the profiles side by side, what they share and who leads', async () => {
    const some = [...owners.slice(0, 4), STRANGER];
    const { data } = await ask<{
      lps: { owner: string; found: boolean; summary: Row | null; pool_breakdown: Row[] }[];
      shared_pools: { pool_address: string; owners: Row[] }[];
      comparison_winners: Record<string, string[]>;
    }>(db, 'lp/lps/compare', NOW, { owners: some });
    expect(data.lps.map((row) => [row.owner, row.found])).toEqual(some.map((owner) => [owner, owner !== STRANGER]));
    for (const row of data.lps.slice(0, 4)) {
      const profile = (await ask<{ summary: Row; pool_breakdown: Row[] }>(db, 'lp/lps/profile', NOW, { owner: row.owner })).data;
      expect(row.summary).toEqual(profile.summary);
      expect(row.pool_breakdown).toEqual(profile.pool_breakdown.slice(0, 5));
    }
    const users = grouped(
      facts.events.filter((event) => event.at < NOW.getTime() && some.includes(event.owner ?? '')),
      (event) => event.pool,
    );
    const shared = [...users].filter(([, events]) => new Set(events.map((event) => event.owner)).size > 1).map(([pool]) => pool);
    expect(data.shared_pools.map((row) => row.pool_address).sort()).toEqual(shared.sort());
    expect(shared.length).toBeGreaterThan(0);
    for (const [metric, winners] of Object.entries(data.comparison_winners)) {
      const values = data.lps
        .filter((row) => row.summary?.[metric] != null)
        .map((row) => [row.owner, row.summary?.[metric] as number] as const);
      const best = Math.max(...values.map(([, value]) => value));
      expect(winners).toEqual(values.filter(([, value]) => value === best).map(([owner]) => owner));
    }
    await expect(
      ask(db, 'lp/lps/compare', NOW, { owners: [STRANGER, 'So11111111111111111111111111111111111111112'] }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });

  const METRIC: Record<string, string> = {
    volume: 'total_volume_usd',
    events: 'event_count',
    pool_count: 'pool_count',
    fees: 'fees_claimed_usd',
    pnl: 'realized_pnl_usd',
    score: 'lp_score',
  };

  const TYPES = [undefined, 'dlmm'] as const;
  const ORDERS = Object.keys(METRIC).flatMap((sort_by) => TYPES.map((type) => [sort_by, type] as const));

  it.each(ORDERS)('lps/top by %s is what the facts say, of pools of the type %s', (sort_by, type) =>
    expectTop(sort_by, type, '7d', NOW, windowOf(7)),
  );

  it.each(ORDERS)(
    'lps/top of whole lives by %s is what the facts say where nothing newer is kept, of pools of the type %s',
    (sort_by, type) => {
      const end = new Date(START.getTime() + 19 * DAY);
      return expectTop(sort_by, type, 'all', end, { from: 0, to: end.getTime() });
    },
  );

  const FEW = ORDERS.flatMap(([sort_by, type]) => ([1, 7, 30] as const).map((days) => [sort_by, days, type] as const));

  it.each(FEW)('the first three of lps/top by %s of %i days are those of everybody, of pools of the type %s', (sort_by, days, type) =>
    expectTop(sort_by, type, days === 1 ? '24h' : `${days}d`, NOW, windowOf(days), 3),
  );

  async function expectTop(
    sort_by: string,
    type: 'dlmm' | undefined,
    timeframe: string,
    now: Date,
    window: Between,
    limit = 100,
  ): Promise<void> {
    const held = positionsAt(facts, await livesOf(db.pool), now.getTime());
    const { data } = await ask<Row[]>(db, 'lp/lps/top', now, { sort_by, timeframe, limit, ...(type && { pool_type: type }) });
    const events = eventsIn(facts, window).filter((event) => type === undefined || event.type === type);
    const active = new Set(events.map((event) => event.owner));
    active.delete(null);
    expect(data).toHaveLength(Math.min(limit, active.size));
    data.forEach((row, i) => {
      const {
        total_volume_usd,
        pool_count,
        event_count,
        pool_types,
        fees_claimed_usd,
        realized_pnl_usd,
        win_rate,
        closed_positions,
        lp_score,
        last_event,
      } = summary(row.owner as string, window, type, held);
      expect(row).toEqual({
        owner: row.owner,
        total_volume_usd,
        pool_count,
        event_count,
        pool_types,
        fees_claimed_usd,
        realized_pnl_usd,
        win_rate,
        closed_positions,
        lp_score,
        last_event,
        rank: i + 1,
      });
    });
    const keyOf = (row: Row): number => (row[METRIC[sort_by] as string] as number | null) ?? -Infinity;
    const keys = [...active].map((owner) => keyOf(summary(owner as string, window, type, held))).sort((a, b) => b - a);
    expect(data.map(keyOf)).toEqual(keys.slice(0, limit));
  }

  const SMART_ORDERS = ['smart_lp_count', 'smart_volume_usd', 'smart_share_pct', 'smart_net_usd'].flatMap((sort_by) =>
    (['7d', 'all'] as const).map((timeframe) => [sort_by, timeframe] as const),
  );

  it.each(SMART_ORDERS)(
    'pools/smart-wallet by %s of %s counts events of owners who were smart the day before',
    async (sort_by, timeframe) => {
      const end = new Date(START.getTime() + 19 * DAY);
      const [now, window] = timeframe === 'all' ? [end, { from: 0, to: end.getTime() }] : [NOW, windowOf(7)];
      const { data } = await ask<{ pools: (Row & { smart_lps: Row[] })[] }>(db, 'lp/pools/smart-wallet', now, {
        sort_by,
        timeframe,
        min_smart_lps: 1,
        limit: 100,
      });
      const events = eventsIn(facts, window);
      const smart = events.filter((event) => event.owner !== null && (scoreBefore(facts, event.owner, event.at) ?? 0) >= 60);
      const pools = grouped(smart, (event) => event.pool);
      expect(data.pools.map((row) => row.pool_address).sort()).toEqual([...pools.keys()].sort());
      expect(pools.size).toBeGreaterThan(1);
      for (const row of data.pools) {
        const own = pools.get(row.pool_address as string) as typeof events;
        const moved = usd(own.filter((event) => event.kind !== 'claim'));
        const all = usd(events.filter((event) => event.pool === row.pool_address && event.kind !== 'claim'));
        const net = (rows: typeof events): bigint =>
          usd(rows.filter(({ kind }) => kind === 'deposit')) - usd(rows.filter(({ kind }) => kind === 'withdraw'));
        const people = [...grouped(own, (event) => event.owner as string)].map(([owner, mine]) => ({
          owner,
          net: net(mine),
          score: scoreBefore(facts, owner, Math.max(...mine.map((event) => event.at))) as number,
        }));
        const size = (value: bigint): bigint => (value < 0n ? -value : value);
        people.sort((a, b) => (size(a.net) !== size(b.net) ? (size(a.net) > size(b.net) ? -1 : 1) : a.owner < b.owner ? -1 : 1));
        expect(row).toMatchObject({
          smart_lp_count: people.length,
          total_volume_usd: shown(all),
          smart_volume_usd: shown(moved),
          smart_share_pct: all === 0n ? null : shown(over(100n * moved, all) as bigint),
          smart_net_usd: shown(net(own)),
          fees_claimed_by_smart_usd: shown(usd(own.filter((event) => event.kind === 'claim'))),
          smart_lps: people.slice(0, 5).map(({ owner, net: flow, score }) => ({ owner, lp_score: score, net_usd: shown(flow) })),
        });
        expect(row.avg_lp_score as number).toBeCloseTo(people.reduce((sum, { score }) => sum + score, 0) / people.length, 0);
      }
      const keys = data.pools.map((row) => (row[sort_by] as number | null) ?? -Infinity);
      expect([...keys].sort((a, b) => b - a)).toEqual(keys);
    },
  );

  it.each(['smart_lp_count', 'smart_net_usd'])(
    'pools/smart-wallet by %s is cut anywhere as the whole list is, ties too',
    async (sort_by) => {
      const top = async (timeframe: string, limit: number): Promise<Row[]> =>
        (await ask<{ pools: Row[] }>(db, 'lp/pools/smart-wallet', NOW, { timeframe, sort_by, min_smart_lps: 1, limit })).data.pools;
      let tied = 0;
      for (const timeframe of ['24h', '7d', 'all']) {
        const all = await top(timeframe, 100);
        for (const limit of all.keys()) expect(await top(timeframe, limit + 1)).toEqual(all.slice(0, limit + 1));
        tied += all.length - new Set(all.map(({ smart_lp_count }) => smart_lp_count)).size;
      }
      expect(tied).toBeGreaterThan(0);
    },
  );

  it('the score finds the planted skill', async () => {
    const scored = [...truth].flatMap(([owner, role]) => (nowScore(owner) === null ? [] : [{ role, score: nowScore(owner) as number }]));
    const mean = (roles: string[]): number => {
      const own = scored.filter(({ role }) => roles.includes(role)).map(({ score }) => score);
      return own.reduce((sum, score) => sum + score, 0) / own.length;
    };
    expect(mean(['skilled'])).toBeGreaterThan(mean(['novice', 'farmer', 'bot']) + 5);
  });
});
