import { perpsWorld } from '../../../../src/sandbox/simulator/perps';
import { groupedBy } from '../../../../src/lib/grouped';
import { perps } from '../../../../src/venues/perps/index';
import { lockRollups } from '../../../../src/venues/perps/rollups/rebuild';
import { listSelfTrades } from '../../../../src/venues/perps/scoring/self-trades';
import { testDatabase } from '../../../support/database';
import { type Exact, ZERO, exact, over, rounded, sum, times } from '../exact';
import { type RawFill, fillsOf } from '../recount';
import { ANN, BOB } from '../small-world';
import { type TestDatabase, load, wireFill } from '../support';

const START = new Date('2026-03-01T00:00:00Z');
const pages = [...perpsWorld({ seed: 7, size: 20_000, start: START }).pages(START, new Date('2026-03-09T00:00:00Z'))];
const blocks = pages.filter(({ format }) => format === 'ndjson').flatMap(({ records }) => records as { block_time: string }[]);
const fills = fillsOf(pages);
const at = (day: number, time = '00:00:00'): Date => new Date(`2026-03-0${day}T${time}Z`);
const between = (from: Date, to: Date): { block_time: string }[] =>
  blocks.filter(({ block_time }) => block_time >= from.toISOString().slice(0, -1) && block_time < to.toISOString().slice(0, -1));

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

async function inTransaction<T>(work: (client: Parameters<typeof listSelfTrades>[0]) => Promise<T>): Promise<T> {
  const client = await db.pool.connect();
  try {
    await client.query('BEGIN');
    const answer = await work(client);
    await client.query('COMMIT');
    return answer;
  } finally {
    client.release();
  }
}

const shares = async (now: Date): Promise<Record<string, number>> => {
  const told = await inTransaction((client) => listSelfTrades(client, now));
  return Object.fromEntries([...told].map(([trader, share]) => [trader, Number(share.toFixed(6))]));
};

type Dealt = Map<string, Map<string, { usd: Exact; matches: number }>>;

/** Everybody's matches in plain fills by who was on the other side. */
function dealtIn(loaded: readonly RawFill[], now: Date): Dealt {
  const matches = new Map<string, RawFill[]>();
  for (const fill of loaded.filter(({ time }) => time < now.getTime())) {
    const key = `${fill.coin}|${fill.tid}|${fill.time}`;
    matches.set(key, [...(matches.get(key) ?? []), fill]);
  }
  const dealt: Dealt = new Map();
  const add = (trader: string, other: string, usd: Exact): void => {
    const own = dealt.get(trader) ?? new Map<string, { usd: Exact; matches: number }>();
    const pair = own.get(other) ?? { usd: ZERO, matches: 0 };
    own.set(other, { usd: sum([pair.usd, usd]), matches: pair.matches + 1 });
    dealt.set(trader, own);
  };
  for (const sides of matches.values()) {
    const [taker, maker] = [sides.find(({ crossed }) => crossed), sides.find(({ crossed }) => !crossed)];
    if (taker === undefined || maker === undefined) continue;
    const usd = times(exact(taker.px), exact(taker.sz));
    add(taker.user, maker.user, usd);
    add(maker.user, taker.user, usd);
  }
  return dealt;
}

/** The shares of all fills that follow from it. */
function recounted(loaded: readonly RawFill[], now: Date): Record<string, number> {
  const dealt = dealtIn(loaded, now);
  const whole = groupedBy(
    loaded.filter(({ time }) => time < now.getTime()),
    ({ user }) => user,
  );
  const leans = (trader: string, other: string): boolean => {
    const pair = dealt.get(trader)?.get(other);
    const all = whole.get(trader)?.length ?? 0;
    return pair !== undefined && (trader === other || (pair.matches >= 10 && pair.matches >= all / 2));
  };
  const shown = [...dealt].flatMap(([trader, own]): [string, number][] => {
    const volume = sum((whole.get(trader) ?? []).map(({ px, sz }) => times(exact(px), exact(sz))));
    const cluster = [...own].filter(([other]) => leans(trader, other) && leans(other, trader)).map(([, { usd }]) => usd);
    return cluster.length === 0 ? [] : [[trader, rounded(over(sum(cluster), volume))]];
  });
  return Object.fromEntries(shown);
}

const keptDays = async (): Promise<string[]> =>
  (await db.pool.query<{ day: Date }>('SELECT day FROM perp_dealt_day ORDER BY day')).rows.map(({ day }) => day.toISOString().slice(0, 10));

type Pairs = [trader: string, other: string, matches: number, usd: number][];

const kept = async (): Promise<Pairs> =>
  (
    await db.pool.query<{ trader: string; other: string; matches: number; usd: string }>(
      'SELECT * FROM perp_dealt ORDER BY trader COLLATE "C", other COLLATE "C"',
    )
  ).rows.map(({ trader, other, matches, usd }) => [trader, other, matches, rounded(exact(usd))]);

const pairsIn = (loaded: readonly RawFill[], to: Date): Pairs =>
  [...dealtIn(loaded, to)]
    .flatMap(([trader, own]) => [...own].map(([other, { matches, usd }]): Pairs[number] => [trader, other, matches, rounded(usd)]))
    .sort((a, b) => (`${a[0]}${a[1]}` < `${b[0]}${b[1]}` ? -1 : 1));

const before = (to: Date): RawFill[] => fills.filter(({ time }) => time < to.getTime());

test('days are kept from run to run; late fills, a run of the past and one after a rebuild tell the same as all facts', async () => {
  const isLate = ({ time }: { time: number }): boolean => time >= at(2, '06:00:00').getTime() && time < at(2, '18:00:00').getTime();
  await load(db.pool, [...between(START, at(2, '06:00:00')), ...between(at(2, '18:00:00'), at(4, '13:37:00'))]);
  const some = before(at(4, '13:37:00')).filter((fill) => !isLate(fill));
  const first = await shares(at(4, '13:00:00'));
  expect(first).toEqual(recounted(some, at(4, '13:00:00')));
  expect(await keptDays()).toEqual(['2026-03-01', '2026-03-02', '2026-03-03']);
  expect(await kept()).toEqual(pairsIn(some, at(4)));

  await load(db.pool, between(at(4, '13:37:00'), at(8)));
  const more = before(at(8)).filter((fill) => !isLate(fill));
  expect(await shares(at(7, '09:30:00'))).toEqual(recounted(more, at(7, '09:30:00')));
  expect((await keptDays()).length).toBe(6);
  expect(await kept()).toEqual(pairsIn(more, at(7)));
  expect(await shares(at(3, '11:00:00'))).toEqual(recounted(more, at(3, '11:00:00')));
  // Before anybody had enough of them.
  expect(await shares(at(1, '18:00:00'))).toEqual({});
  expect(recounted(more, at(1, '18:00:00'))).toEqual({});

  await load(db.pool, between(at(2, '06:00:00'), at(2, '18:00:00')));
  const whole = await shares(at(7, '09:30:00'));
  expect(whole).toEqual(recounted(before(at(8)), at(7, '09:30:00')));
  expect(await kept()).toEqual(pairsIn(before(at(8)), at(7)));
  expect(pairsIn(more, at(7))).not.toEqual(await kept());
  expect(Object.keys(whole).length).toBeGreaterThan(1);

  await inTransaction(async (client) => perps.rebuild?.(client));
  expect(await keptDays()).toEqual([]);
  expect(await shares(at(7, '09:30:00'))).toEqual(whole);
});

test.each([
  [10, { [ANN]: 0.5, [BOB]: 0.5 }],
  [11, {}],
])('ten matches between two accounts, and %d of each of which no other side was seen', async (others, told) => {
  const page = (side: 'B' | 'A', first: number): unknown[] =>
    Array.from({ length: 10 + others }, (_, place) => {
      const tid = place < 10 ? place + 1 : first + place;
      return wireFill({ tid, side, crossed: side === 'B', startPosition: `${side === 'B' ? '' : '-'}${place}.0`, time: at(1).getTime() + tid * 1_000 });
    }); // prettier-ignore
  await load(db.pool, page('B', 1_000), { account: ANN });
  await load(db.pool, page('A', 2_000), { account: BOB });
  expect(await shares(at(2))).toEqual(told);
  // Until then they had only dealt with each other.
  expect(await shares(at(1, '00:10:00'))).toEqual({ [ANN]: 1, [BOB]: 1 });
});

test('a day that is kept is not read again', async () => {
  await load(db.pool, between(START, at(4)));
  await shares(at(3, '12:00:00'));
  expect(Object.keys(await shares(at(3))).length).toBeGreaterThan(1);
  await db.pool.query('UPDATE perp_dealt SET matches = 0');
  expect(await shares(at(3))).toEqual({});
});

test('a rebuild beside a run of the scores: neither waits for the other, and the next run tells the same as all facts', async () => {
  await load(db.pool, between(START, at(8)));
  await shares(at(3, '12:00:00'));
  await inTransaction(async (scoring) => {
    await listSelfTrades(scoring, at(5, '12:00:00'));
    await inTransaction(async (client) => {
      await client.query("SET LOCAL lock_timeout = '5s'");
      await perps.rebuild?.(client);
    });
    await lockRollups(scoring);
  });
  expect(await shares(at(7, '09:30:00'))).toEqual(recounted(before(at(8)), at(7, '09:30:00')));
  expect(await kept()).toEqual(pairsIn(before(at(8)), at(7)));
});
