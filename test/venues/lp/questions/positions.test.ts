import { score } from '../../../../src/venues/lp/scoring/job';
import { scoreProvider } from '../../../../src/venues/lp/scoring/formula';
import { testDatabase } from '../../../support/database';
import { type Answer, ask } from '../ask';
import { eventsIn, factsOf, grouped, scoreBefore, shown, whole, type WorldFacts } from '../oracle';
import { type CountedPosition, type Life, livesOf, positionsAt } from '../positions-oracle';
import { START, storeOf } from '../world';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A day before the last facts: those are to be ignored. */
const NOW = new Date(START.getTime() + 17 * DAY + 5 * HOUR + 23 * 60_000 + 41_000);
const iso = (time: number | null): string | null => (time === null ? null : `${new Date(time).toISOString().slice(0, 19)}Z`);

type Row = Record<string, never>;

describe('positions of a simulated world', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let facts: WorldFacts;
  let lives: Map<string, Life>;
  let positions: CountedPosition[];

  beforeAll(async () => {
    db = await storeOf(14_000, 18);
    await score(db.pool, NOW, () => undefined);
    facts = await factsOf(db.pool);
    lives = await livesOf(db.pool);
    positions = positionsAt(facts, lives, NOW.getTime());
  });
  afterAll(() => db.drop());

  const most = (keyOf: (position: CountedPosition) => string | null, rows: CountedPosition[]): string =>
    [
      ...grouped(
        rows.filter((row) => keyOf(row) !== null),
        (row) => keyOf(row) as string,
      ),
    ].sort((a, b) => b[1].length - a[1].length)[0]?.[0] as string;
  const open = (): CountedPosition[] =>
    positions.filter((row) => row.closed === null && row.events.some((event) => event.kind === 'deposit'));

  it('the job scores every provider by its closed positions, again the same, and earlier days as of their end', async () => {
    const stored = await db.pool.query<{ owner: string; score: string | null; n: number }>(
      'SELECT owner, score, n FROM lp_score WHERE day = $1::date',
      [NOW],
    );
    const byOwner = grouped(
      positions.filter((row) => row.owner !== null && row.closed !== null),
      (row) => row.owner as string,
    );
    const expected = (owner: string, until: number): ReturnType<typeof scoreProvider> =>
      scoreProvider(
        (byOwner.get(owner) ?? [])
          .filter((row) => (row.closed as number) < until)
          .map((row) => ({
            deposited_usd: row.pnl === null ? null : shown(row.deposited, 12),
            pnl_usd: row.pnl === null ? null : shown(row.pnl, 12),
          })),
      );
    for (const row of stored.rows)
      expect([row.owner, row.score === null ? null : Number(row.score), row.n]).toEqual([
        row.owner,
        expected(row.owner, NOW.getTime()).score,
        expected(row.owner, NOW.getTime()).n,
      ]);
    expect(stored.rows.filter((row) => row.score !== null).length).toBeGreaterThan(3);
    const day = '2026-01-12';
    const earlier = facts.scores.filter((row) => row.day === day);
    for (const [owner] of byOwner)
      expect(earlier.find((row) => row.owner === owner)?.score ?? null).toBe(expected(owner, Date.parse(day) + DAY).score);
    const again = async (): Promise<unknown> => (await db.pool.query('SELECT * FROM lp_score ORDER BY owner, day')).rows;
    const first = await again();
    await score(db.pool, NOW, () => undefined);
    expect(await again()).toEqual(first);
  });

  function activeRow(position: CountedPosition): Record<string, unknown> {
    return {
      owner: position.owner,
      pool_address: position.pool,
      pool_type: position.type,
      position_address: position.type === 'dlmm' ? position.position : null,
      deposited_usd: shown(position.deposited),
      withdrawn_usd: shown(position.withdrawn),
      net_value_usd: shown(position.deposited - position.withdrawn),
      fees_claimed_usd: shown(position.claimed),
      event_count: position.events.length,
      opened_at: iso(position.opened),
      last_event: iso(Math.max(...position.events.map((event) => event.at))),
      current_value_usd: null,
      pnl_usd: null,
      lp_score: position.owner === null ? null : scoreBefore(facts, position.owner, NOW.getTime() + DAY),
    };
  }

  it.each(['net_value', 'deposited', 'fees_claimed', 'opened_at'])('positions/active by %s lists the open ones', async (sort_by) => {
    const pool_address = most((row) => row.pool, open());
    const owner = most((row) => row.owner, open());
    for (const [key, mine] of [
      [{ pool_address }, open().filter((row) => row.pool === pool_address)],
      [{ owner }, open().filter((row) => row.owner === owner)],
    ] as const) {
      const { data } = await ask<Row[]>(db, 'lp/positions/active', NOW, { ...key, sort_by, limit: 200 });
      expect(mine.length).toBeGreaterThan(1);
      const metric = (row: CountedPosition): bigint =>
        ({
          net_value: row.deposited - row.withdrawn,
          deposited: row.deposited,
          fees_claimed: row.claimed,
          opened_at: BigInt(row.opened ?? -1),
        })[sort_by] as bigint;
      const wanted = [...mine].sort((a, b) => {
        const [x, y] = [metric(a), metric(b)];
        return x !== y ? (x > y ? -1 : 1) : `${a.pool}${a.position}` < `${b.pool}${b.position}` ? -1 : 1;
      });
      expect(data).toHaveLength(wanted.length);
      data.forEach((row, i) => expect(row).toMatchObject(activeRow(wanted[i] as CountedPosition)));
    }
  });

  it('positions/active keeps to type, limit and least value', async () => {
    const pool_address = most((row) => row.pool, open());
    const type = facts.pools.get(pool_address)?.type === 'dlmm' ? 'damm_v2' : 'dlmm';
    for (const endpoint of ['lp/positions/active', 'lp/lps/whales'])
      await expect(ask(db, endpoint, NOW, { pool_address, pool_type: type })).rejects.toMatchObject({
        code: 'not_found',
        context: { suggestion: { pool_type: facts.pools.get(pool_address)?.type } },
      });
    await expect(ask(db, 'lp/positions/active', NOW, { pool_address: '1'.repeat(32), pool_type: type })).rejects.toMatchObject({ code: 'empty_result' }); // prettier-ignore
    await expect(ask(db, 'lp/positions/active', NOW, { owner: '11111111111111111111111111111111' })).rejects.toMatchObject({
      code: 'empty_result',
    });
    const all = (await ask<Row[]>(db, 'lp/positions/active', NOW, { pool_address, limit: 200 })).data;
    // Between two dollars: a value is told to the micro-dollar, but compared whole.
    const min_usd = Math.floor(all[Math.floor(all.length / 2)]?.net_value_usd as unknown as number) - 0.5;
    const rich = (await ask<Row[]>(db, 'lp/positions/active', NOW, { pool_address, limit: 200, min_usd })).data;
    expect(rich).toEqual(all.filter((row) => (row.net_value_usd as unknown as number) >= min_usd));
    expect(rich.length).toBeLessThan(all.length);
    expect((await ask<Row[]>(db, 'lp/positions/active', NOW, { pool_address, limit: 1 })).data).toEqual(all.slice(0, 1));
  });

  it('positions/history tells every event with running totals, and the result of closed positions', async () => {
    const some = [
      ...positions.filter((row) => row.closed !== null && row.events.some((event) => event.rebalance)).slice(0, 2),
      ...positions.filter((row) => row.pnl !== null && row.type === 'dlmm').slice(0, 4),
      ...positions.filter((row) => row.type === 'damm_v2').slice(0, 4),
      ...open().slice(0, 3),
    ];
    expect(some.length).toBeGreaterThan(8);
    for (const position of some) {
      const { data } = await ask<{ position_address: string | null; events: Row[]; summary: Row }>(db, 'lp/positions/history', NOW, {
        position_address: position.position,
        field_case: 'snake',
      });
      let net = 0n;
      const order = [...position.events].sort(
        (a, b) => a.at - b.at || compare(a.tx, b.tx) || byPlace(a.place, b.place) || compare(b.kind, a.kind) || a.n - b.n,
      );
      const rows = order.map((event) => {
        net += event.kind === 'deposit' ? (event.usd ?? 0n) : event.kind === 'withdraw' ? -(event.usd ?? 0n) : 0n;
        return {
          timestamp: iso(event.at),
          tx_id: event.tx,
          usd_total: event.usd === null ? null : shown(event.usd),
          cumulative_net_usd: shown(net),
          owner: event.owner,
        };
      });
      expect(data.events).toHaveLength(rows.length);
      data.events.forEach((row, i) => expect(row).toMatchObject(rows[i] as object));
      expect(data.position_address).toBe(position.type === 'dlmm' ? position.position : null);
      expect(data.summary).toMatchObject({
        status: position.closed === null ? 'open' : 'closed',
        deposited_usd: shown(position.deposited),
        withdrawn_usd: shown(position.withdrawn),
        fees_claimed_usd: shown(position.claimed),
        realized_pnl_usd: position.pnl === null ? null : shown(position.pnl),
        opened_at: iso(position.opened),
        closed_at: iso(position.closed),
      });
      const { hodl_value_usd, il_usd } = data.summary as unknown as { hodl_value_usd: number | null; il_usd: number | null };
      if (position.closed === null) expect([hodl_value_usd, il_usd]).toEqual([null, null]);
      else if (il_usd !== null && hodl_value_usd !== null) {
        const [x, y] = await pricesAt(position.pool, position.closed);
        const worth = (a: bigint, b: bigint): number => shown(a, 12) * x + shown(b, 12) * y;
        expect(hodl_value_usd).toBeCloseTo(worth(position.deposited_x, position.deposited_y), 3);
        expect(il_usd).toBeCloseTo(worth(position.withdrawn_x, position.withdrawn_y) - hodl_value_usd, 3);
      }
    }
  });

  const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
  const byPlace = (a: (number | null)[], b: (number | null)[]): number =>
    a.map((own, i) => (own ?? Infinity) - (b[i] ?? Infinity)).find((difference) => difference !== 0 && !Number.isNaN(difference)) ?? 0;

  /** Last prices of the last hour, by a statement of the test's own. */
  async function pricesAt(pool: string, at: number): Promise<[number, number]> {
    const price = async (column: string): Promise<number> => {
      const { rows } = await db.pool.query<{ symbol: string; usd: string | null }>(
        `SELECT t.symbol, (SELECT usd FROM token_price WHERE mint = t.mint AND minute <= $2 AND minute >= $2::timestamptz - interval '1 hour' ORDER BY minute DESC LIMIT 1) AS usd
         FROM lp_pool p JOIN lp_token t ON t.mint = p.${column} WHERE p.pool_address = $1`,
        [pool, new Date(at)],
      );
      return ['USDC', 'USDT'].includes(rows[0]?.symbol ?? '') ? 1 : Number(rows[0]?.usd ?? 0);
    };
    return [await price('mint_x'), await price('mint_y')];
  }

  it("positions/history merges an owner's positions in a pool", async () => {
    const key = most((row) => (row.owner === null ? null : `${row.pool} ${row.owner}`), positions);
    const [pool_address, owner] = key.split(' ') as [string, string];
    const mine = positions.filter((row) => row.pool === pool_address && row.owner === owner);
    expect(mine.length).toBeGreaterThan(1);
    const { data } = await ask<{ position_address: null; events: Row[]; summary: Row }>(db, 'lp/positions/history', NOW, {
      owner,
      pool_address,
      limit: 1000,
    });
    expect(data.position_address).toBeNull();
    expect(data.events).toHaveLength(mine.flatMap((row) => row.events).length);
    const closed = mine.every((row) => row.closed !== null);
    expect(data.summary).toMatchObject({
      deposited_usd: shown(mine.reduce((sum, row) => sum + row.deposited, 0n)),
      withdrawn_usd: shown(mine.reduce((sum, row) => sum + row.withdrawn, 0n)),
      fees_claimed_usd: shown(mine.reduce((sum, row) => sum + row.claimed, 0n)),
      status: closed ? 'closed' : 'open',
    });
    await expect(ask(db, 'lp/positions/history', NOW, { position_address: '11111111111111111111111111111111' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('lps/whales pages through the large moves, newest first, with the score of the day before', async () => {
    for (const parameters of [
      {},
      { pool_type: 'dlmm' },
      { event_type: 'withdraw' },
      { pool_address: most((row) => row.pool, positions) },
    ] as Record<string, string>[]) {
      const window = { from: NOW.getTime() - 7 * DAY, to: NOW.getTime() };
      const wanted = eventsIn(facts, window).filter(
        (event) =>
          event.kind !== 'claim' &&
          event.usd !== null &&
          event.usd >= whole(2_000) &&
          (parameters.pool_type === undefined || event.type === parameters.pool_type) &&
          (parameters.event_type === undefined || event.kind === parameters.event_type) &&
          (parameters.pool_address === undefined || event.pool === parameters.pool_address),
      );
      const found: Row[] = [];
      let cursor: string | null = null;
      do {
        // What comes while a list is read on is not of it: its pages are as of the first, and say so.
        const asked = cursor === null ? NOW : new Date(NOW.getTime() + HOUR);
        const page: Answer<Row[]> = await ask<Row[]>(db, 'lp/lps/whales', asked, {
          min_usd: 2_000,
          timeframe: '7d',
          limit: 7,
          field_case: 'snake',
          cursor,
          ...parameters,
        });
        expect(page.meta.as_of).toEqual(NOW);
        found.push(...page.data);
        cursor = page.meta.next_cursor;
      } while (cursor !== null);
      expect(wanted.length).toBeGreaterThan(3);
      const keyOf = (row: { tx_id: string; usd_total: number }): string => `${row.tx_id}/${row.usd_total}`;
      expect(found.map((row) => keyOf(row as never)).sort()).toEqual(
        wanted.map((event) => keyOf({ tx_id: event.tx, usd_total: shown(event.usd as bigint) })).sort(),
      );
      const times = found.map((row) => Date.parse(row.timestamp as unknown as string));
      expect(times).toEqual([...times].sort((a, b) => b - a));
      for (const row of found) {
        const event = wanted.find(
          (candidate) => keyOf({ tx_id: candidate.tx, usd_total: shown(candidate.usd as bigint) }) === keyOf(row as never),
        );
        expect(row.lp_score).toBe(event?.owner == null ? null : scoreBefore(facts, event.owner, event.at));
      }
    }
  });
});
