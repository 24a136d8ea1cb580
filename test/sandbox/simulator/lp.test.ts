import bs58 from 'bs58';
import fc from 'fast-check';
import { lpWorld } from '../../../src/sandbox/simulator/lp';
import type { WorldPage } from '../../../src/sandbox/simulator/world';
import { sources } from '../../../src/venues/lp/sources/all';
import { testDatabase } from '../../support/database';
import { ENDPOINTS } from '../../support/catalogue';
import { ask } from '../../venues/lp/ask';
import { loadRecords } from '../../venues/lp/load';

const START = new Date('2026-03-01T00:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (ms: number): Date => new Date(START.getTime() + ms);
const small = { seed: 5, size: 6_000, start: START };

/** What pages tell, whatever way they are cut: one text per record of the upstream, or per row inside it. */
function told(pages: Iterable<WorldPage>): string[] {
  const facts: string[] = [];
  for (const { name, records } of pages) {
    const kind = name.replace(/_?[0-9]{4}-[0-9]{2}-[0-9]{2}T.*$/, '');
    for (const record of records as Record<string, unknown>[]) {
      const rows = kind.startsWith('positions_')
        ? (record.events as unknown[])
        : kind.includes('volume_history')
          ? (record.data as unknown[])
          : [record];
      // Catalogue pages are as of the time in their name.
      const tag = kind.startsWith('tokens') || kind.endsWith('_pools') ? name : kind;
      for (const row of rows) facts.push(`${tag} ${JSON.stringify(row)}`);
    }
  }
  return facts.sort();
}

test('told in pieces or at once, by a world just entered or one that goes on: the same facts', () => {
  const world = lpWorld(small);
  const cut = fc
    .array(fc.integer({ min: 0, max: 5 * 86_400 }), { minLength: 1, maxLength: 4 })
    .map((seconds) => [...new Set([0, ...seconds, 5 * 86_400])].sort((a, b) => a - b));
  const whole = told(world.pages(at(0), at(5 * DAY)));
  expect(whole.length).toBeGreaterThan(500);
  fc.assert(
    fc.property(cut, fc.boolean(), (seconds, entered) => {
      const pieces = seconds.slice(1).map((to, i) => ({ from: at((seconds[i] as number) * 1000), to: at(to * 1000) }));
      const parts = pieces.flatMap(({ from, to }) => told((entered ? lpWorld(small) : world).pages(from, to)));
      expect(parts.sort()).toEqual(whole);
    }),
    { numRuns: 12 },
  );
});

test('times are inside what was asked for, transactions oldest first, catalogue before events', () => {
  for (const page of lpWorld(small).pages(at(26 * HOUR), at(50 * HOUR))) {
    if (!page.name.startsWith('transactions')) continue;
    const times = (page.records as { result: { blockTime: number } }[]).map((record) => record.result.blockTime * 1000);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times.every((time) => time >= at(26 * HOUR).getTime() && time < at(50 * HOUR).getTime())).toBe(true);
  }
  const names = [...lpWorld(small).pages(at(0), at(DAY))].map((page) => page.name.split('_')[0]);
  expect(names.slice(0, 3)).toEqual(['tokens', 'dlmm', 'damm']);
});

test('another seed is another world; the addresses that documentation names are in each', () => {
  const [one, two] = [1, 2].map((seed) => JSON.stringify([...lpWorld({ ...small, seed }).pages(at(0), at(DAY))]));
  expect(one).not.toBe(two);
  const documented = [
    '35YP4zjMVHm1VsBe1ZVGxonqEaXwzZY5z2Jm132Lkwyf',
    'GtkKFGb6fbo4KSNgTr8sQLHHFGgoP1i8t5jymmfXUeXt',
    'EDxjsUKBLWEnwAhVpXHUisb8c6mfRuaD7s6DfyqWTFzy',
    'ABHe38FYJcJyJ9VzBZyrDfDy51pZGZ5aNg4H8yFqrXwh',
  ];
  const samples = ENDPOINTS.filter((endpoint) => endpoint.venue === 'lp').flatMap((endpoint) =>
    endpoint.parameters.flatMap((parameter) => (parameter.sample === null ? [] : [JSON.stringify(parameter.sample)])),
  );
  for (const address of documented) expect(samples.join()).toContain(address);
  for (const seed of [1, 2]) {
    const world = lpWorld({ ...small, seed });
    const [pool, owner, other, position] = documented as [string, string, string, string];
    const text = JSON.stringify([...world.pages(at(0), at(DAY))]);
    for (const address of [pool, owner, position]) expect(text).toContain(address);
    expect(world.truth().map((provider) => provider.owner)).toEqual(expect.arrayContaining([owner, other]));
  }
});

test('signatures are 64 bytes, addresses 32; every page is known by exactly one source', () => {
  let seen = 0;
  for (const page of lpWorld(small).pages(at(0), at(2 * DAY))) {
    expect(sources.filter((source) => source.recognises(page.records[0], page)).length).toBe(1);
    if (!page.name.startsWith('transactions')) continue;
    for (const record of page.records as { result: { transaction: { signatures: [string]; message: { accountKeys: string[] } } } }[]) {
      const { signatures, message } = record.result.transaction;
      expect(bs58.decode(signatures[0])).toHaveLength(64);
      expect(message.accountKeys.every((address) => bs58.decode(address).length === 32)).toBe(true);
      seen += 1;
    }
  }
  expect(seen).toBeGreaterThan(0);
});

describe('a month of a small world in the store', () => {
  const size = 15_000;
  let db: Awaited<ReturnType<typeof testDatabase>>;
  const skipped = new Map<string, number>();
  let inserted = 0;
  const world = lpWorld({ seed: 3, size, start: START });
  const rows = async (text: string): Promise<Record<string, never>[]> => (await db.pool.query(text)).rows as Record<string, never>[];

  beforeAll(async () => {
    db = await testDatabase();
    for (const page of world.pages(at(0), at(30 * DAY))) {
      const report = await loadRecords(db.pool, page.name, page.records, page.format);
      inserted += report.inserted;
      for (const [reason, count] of Object.entries(report.skipped)) skipped.set(reason, (skipped.get(reason) ?? 0) + count);
    }
  });
  afterAll(() => db.drop());

  test('about as many facts as asked for, of every kind; only failed transactions are left out', async () => {
    expect(inserted).toBeGreaterThan(size * 0.6);
    expect(inserted).toBeLessThan(size * 1.8);
    expect([...skipped.keys()]).toEqual(['failed_transaction']);
    const [counted] =
      await rows(`SELECT (SELECT count(DISTINCT kind) FROM dca_event)::int AS orders, (SELECT count(DISTINCT kind) FROM lp_event)::int AS events,
      (SELECT count(DISTINCT pool_type) FROM lp_swap)::int AS swaps, (SELECT count(*) FROM lp_event WHERE rebalance)::int AS rebalances, (SELECT count(*) FROM lp_pool WHERE created_at > '2026-03-01')::int AS launched,
      (SELECT count(*) FROM lp_event WHERE usd_stated)::int AS stated, (SELECT count(*) FROM lp_pool WHERE NOT catalogued)::int AS uncatalogued`);
    expect(counted).toMatchObject({ orders: 4, events: 3, swaps: 2, uncatalogued: 0 });
    for (const some of ['rebalances', 'launched', 'stated'] as const) expect(counted?.[some]).toBeGreaterThan(3);
  });

  test('each question has an answer over a day, a week and all', async () => {
    for (const timeframe of ['24h', '7d', 'all'])
      await expect(ask(db, 'lp/platform/stats', at(30 * DAY), { timeframe })).resolves.toBeDefined();
    await expect(ask(db, 'lp/pools/search', at(30 * DAY), { query: 'SOL-USDC' })).resolves.toBeDefined();
    await expect(
      ask(db, 'lp/pools/events', at(30 * DAY), { pool_address: '35YP4zjMVHm1VsBe1ZVGxonqEaXwzZY5z2Jm132Lkwyf' }),
    ).resolves.toBeDefined();
  });

  test('what chain and index tell of one event is one row, and their values agree', async () => {
    const [seen] = await rows(
      `SELECT count(*) FILTER (WHERE fee_payer IS NULL)::int AS index_only, count(*) FILTER (WHERE usd_stated AND fee_payer IS NOT NULL)::int AS both FROM lp_event`,
    );
    expect(seen?.index_only).toBe(0);
    expect(seen?.both).toBeGreaterThan(100);
    // Values of ours, by prices of trades, against what would have been stated: compare a pool's deposits either way.
    const [gap] = await rows(
      `SELECT avg(abs(a.usd / b.usd - 1))::float8 AS gap FROM token_price a JOIN token_price b ON b.mint = a.mint AND b.minute BETWEEN a.minute - interval '2 minutes' AND a.minute + interval '2 minutes' WHERE a.source = 1 AND b.source IN (2, 3)`,
    );
    expect(gap?.gap).toBeLessThan(0.03);
  });

  test('most providers pass by: half of them are in one pool, a few in many', async () => {
    const owners = await rows(
      'SELECT count(DISTINCT pool_address)::int AS pools FROM lp_position WHERE owner IS NOT NULL GROUP BY owner ORDER BY 1',
    );
    const poolsAt = (part: number): number => Number(owners[Math.floor(part * owners.length)]?.pools);
    expect(owners.length).toBeGreaterThan(50);
    expect(poolsAt(0.5)).toBe(1);
    expect(poolsAt(0.95)).toBeGreaterThanOrEqual(4);
  });

  test('positions open before they are used and close once, with everything taken out', async () => {
    expect(
      await rows(
        `SELECT p.position_address FROM lp_position p JOIN lp_event e USING (position_address) WHERE e."timestamp" < p.opened_at OR e."timestamp" > p.closed_at`,
      ),
    ).toEqual([]);
    expect(await rows(`SELECT position_address FROM lp_position_event GROUP BY position_address, kind HAVING count(*) > 1`)).toEqual([]);
    expect(await rows('SELECT 1 FROM lp_event WHERE raw_x < 0 OR raw_y < 0 OR usd < 0')).toEqual([]);
    const [closed] = await rows(
      `SELECT count(*)::int AS n, count(*) FILTER (WHERE EXISTS (SELECT FROM lp_event e WHERE e.position_address = p.position_address AND e.kind = 'withdraw' AND e."timestamp" = p.closed_at))::int AS emptied FROM lp_position p WHERE closed_at IS NOT NULL`,
    );
    expect(closed?.n).toBeGreaterThan(50);
    expect(closed?.emptied).toBe(closed?.n);
  });

  test('roles are what they say: skill earns, its lack costs, copiers follow', async () => {
    const roles = new Map(world.truth().map(({ owner, role }) => [owner, role]));
    const positions =
      (await rows(`SELECT p.owner, sum(usd) FILTER (WHERE kind = 'deposit')::float8 AS deposited, sum(CASE kind WHEN 'deposit' THEN -usd ELSE usd END)::float8 AS pnl
      FROM lp_position p JOIN lp_event e USING (position_address) WHERE p.closed_at IS NOT NULL GROUP BY p.position_address, p.owner HAVING count(*) = count(usd) AND bool_or(kind = 'deposit')`)) as unknown as {
        owner: string;
        deposited: number;
        pnl: number;
      }[];
    const returns = (role: string): number[] =>
      positions.filter((position) => roles.get(position.owner) === role).map((position) => position.pnl / position.deposited);
    const mean = (list: number[]): number => list.reduce((sum, value) => sum + value, 0) / list.length;
    const wins = (list: number[]): number => list.filter((value) => value > 0).length / list.length;
    expect(returns('skilled').length).toBeGreaterThan(20);
    expect(mean(returns('skilled'))).toBeGreaterThan(0.03);
    expect(wins(returns('skilled'))).toBeGreaterThan(0.75);
    expect(mean(returns('novice'))).toBeLessThan(mean(returns('farmer')));
    expect(mean(returns('farmer'))).toBeLessThan(mean(returns('skilled')));
    expect(wins(returns('novice'))).toBeLessThan(0.5);
    const followed =
      await rows(`SELECT c.position_address FROM lp_position c JOIN lp_position l ON l.pool_address = c.pool_address AND c.opened_at - l.opened_at BETWEEN interval '2 minutes' AND interval '20 minutes'
      WHERE c.owner = ANY('{${world
        .truth()
        .filter((provider) => provider.role === 'copier')
        .map((provider) => provider.owner)
        .join(',')}}')`);
    const copies = positions.filter((position) => roles.get(position.owner) === 'copier').length;
    expect(copies).toBeGreaterThan(0);
    expect(followed.length).toBeGreaterThanOrEqual(copies);
  });
});
