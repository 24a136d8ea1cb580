import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import { perps } from '../../../src/venues/perps/index';
import { inTransaction } from '../../../src/db/transaction';
import { testDatabase } from '../../support/database';
import { ask, load, match, type TestDatabase, trader } from './support';

const DAY = 86_400_000;
const START = new Date('2026-03-01T00:00:00Z');
const SCORED = new Date('2026-03-12T09:17:00Z');
const END = new Date('2026-03-13T00:00:00Z');

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

interface Young {
  trader: string;
  suspicion_score: number;
  signals: { timing: number | null };
}

/** Everybody's timing (of a coin), as it is answered. */
async function timings(store: TestDatabase, now: Date, coin?: string): Promise<Record<string, number | null>> {
  const parameters = { max_wallet_age_days: 90, min_volume: 0, min_pnl: -1e12, limit: 1_000, coin, sort_by: 'total_volume' };
  const { data } = await ask<Young[]>(store, 'perps/traders/fresh-whales', parameters, now);
  return Object.fromEntries(data.map(({ trader: own, signals }) => [own, signals.timing]));
}

const told = async (): Promise<{ until: Date | undefined; rows: unknown[] }> => {
  const { rows: marks } = await db.pool.query<{ until: Date }>('SELECT until FROM perp_timing_told');
  const { rows } = await db.pool.query('SELECT * FROM perp_timing ORDER BY trader, coin, day');
  return { until: marks[0]?.until, rows };
};

const score = (now: Date): Promise<unknown> => perps.score?.(db.pool, now, () => undefined) as Promise<unknown>;

test('what the daily scores tell of opens is what facts tell, whatever comes late, and after a rebuild', async () => {
  const blocks = [...perpsWorld({ seed: 23, size: 5_000, start: START }).pages(START, END)].flatMap(({ format, records }) =>
    format === 'ndjson' ? records : [],
  ) as { block_time: string }[];
  const timeOf = ({ block_time }: { block_time: string }): number => Date.parse(`${block_time}Z`);
  // Some of three days comes only after the scores, and all of what happened after them.
  const isLate = (block: { block_time: string }, place: number): boolean =>
    timeOf(block) >= SCORED.getTime() ||
    (place % 5 === 0 && timeOf(block) >= Date.UTC(2026, 2, 8, 5) && timeOf(block) < Date.UTC(2026, 2, 11));
  const plain = await testDatabase();
  const same = async (): Promise<Record<string, number | null>[]> => {
    const all = [];
    for (const now of [END, SCORED, new Date('2026-03-09T07:41:13.250Z'), new Date('2026-03-07T00:00:00Z')])
      for (const coin of [undefined, 'BTC']) {
        all.push(await timings(db, now, coin));
        expect(all.at(-1)).toEqual(await timings(plain, now, coin));
      }
    return all;
  };
  try {
    const first = blocks.filter((block, place) => !isLate(block, place));
    for (const store of [db, plain]) await load(store.pool, first);
    await score(SCORED);
    expect((await told()).until).toEqual(new Date('2026-03-11T00:00:00Z'));
    expect((await told()).rows.length).toBeGreaterThan(200);
    const before = await same();

    for (const store of [db, plain]) await load(store.pool, blocks.filter(isLate));
    expect((await told()).until).toEqual(new Date('2026-03-07T00:00:00Z'));
    expect(await same()).not.toEqual(before);

    await score(SCORED);
    const again = await told();
    expect(again.until).toEqual(new Date('2026-03-11T00:00:00Z'));
    await same();
    await inTransaction(db.pool, async (client) => perps.rebuild?.(client));
    expect(await told()).toEqual(again);
    await same();

    // A day later only what became final is added; an older run changes nothing.
    await score(new Date('2026-03-12T23:59:59Z'));
    expect(await told()).toEqual(again);
    await score(END);
    expect((await told()).until).toEqual(new Date('2026-03-12T00:00:00Z'));
    await score(SCORED);
    expect((await told()).until).toEqual(new Date('2026-03-12T00:00:00Z'));
    await same();
  } finally {
    await plain.drop();
  }
});

test('an open is judged by what follows in its 24 hours alone, in the head', async () => {
  const [ann, max] = [trader('a'), trader('c')];
  const at = (hours: number, minutes: number, px: string, buyer: string): unknown =>
    match(new Date(START.getTime() + (hours * 60 + minutes) * 60_000), {
      px,
      sz: '1',
      side: 'B',
      taker: [buyer, '0.0'],
      maker: [max, '0.0'],
    });
  // Closes of 100, 101, 100, 101, … by the hour, so returns of about one percent: goals about two percent away.
  const hours = Array.from({ length: 96 }, (_, hour) => at(hour, 1, hour % 2 === 0 ? '100' : '101', max));
  // What is paid in the instant of an open does not follow it.
  await load(db.pool, [
    ...hours.slice(0, 26),
    at(25, 30, '105', max),
    at(25, 30, '100', ann),
    hours[26],
    at(26, 30, '100', ann),
    ...hours.slice(27),
  ]);
  const now = new Date(START.getTime() + 4 * DAY);
  await score(now);
  expect((await told()).until).toEqual(new Date('2026-03-04T00:00:00Z'));
  expect((await told()).rows).toContainEqual(expect.objectContaining({ trader: ann, coin: 'BTC', opens: 2, moved: 0 }));
  expect((await timings(db, now))[ann]).toBe(0);
  // Late: a rise at 01:31 of 3 March, 24 hours and a minute after one of two opens of 2 March, 23 hours and a minute after the other.
  await load(db.pool, [at(49, 31, '105', max)]);
  expect((await told()).until).toEqual(new Date('2026-03-02T00:00:00Z'));
  expect((await timings(db, now))[ann]).toBe(0.5);
  expect((await timings(db, new Date(START.getTime() + 49 * 3_600_000 + 31 * 60_000)))[ann]).toBe(0);
  await score(now);
  expect((await told()).rows).toContainEqual(expect.objectContaining({ trader: ann, coin: 'BTC', opens: 2, moved: 1 }));
  expect((await timings(db, now))[ann]).toBe(0.5);
  // Of the last day that is told everything is read again from what comes late on the day after it.
  await load(db.pool, [at(73, 0, '100', max)]);
  expect((await told()).until).toEqual(new Date('2026-03-03T00:00:00Z'));
});
