import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import { inTransaction } from '../../../src/db/transaction';
import { perps } from '../../../src/venues/perps/index';
import { tellSmart } from '../../../src/venues/perps/rollups/smart-hours';
import { testDatabase } from '../../support/database';
import { type Fact, factsOf, groupBy, sum, usd, volumeOf } from './reckoning';
import { fillsOf } from './recount';
import { ask, load, type TestDatabase } from './support';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const every = (length: number) => (time: number) => Math.floor(time / length) * length;
/** Where a unit of an instant begins. */
const BEGINS = { month: () => Date.parse('2026-03-01'), day: every(DAY), quarter: every(6 * HOUR), hour: every(HOUR), bar: every(HOUR / 12) } as const; // prettier-ignore
type Unit = keyof typeof BEGINS;
const START = new Date('2026-03-01T00:00:00Z');
const SCORED = new Date('2026-03-12T09:17:00Z');
const END = new Date('2026-03-13T00:00:00Z');

const pages = [...perpsWorld({ seed: 29, size: 5_000, start: START }).pages(START, END)];
const facts = factsOf(fillsOf(pages));

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  const blocks = pages.flatMap(({ format, records }) => (format === 'ndjson' ? records : [])) as { block_time: string }[];
  // Some of every day comes only after the scores, and all of what happened after them.
  const isLate = (block: { block_time: string }, place: number): boolean =>
    place % 5 === 0 || Date.parse(`${block.block_time}Z`) >= SCORED.getTime();
  await load(db.pool, blocks.filter((block, place) => !isLate(block, place))); // prettier-ignore
  await perps.score?.(db.pool, SCORED, () => undefined);
  await raise('2026-03-12');
  await load(db.pool, blocks.filter(isLate));
});
afterAll(() => db.drop());

/** So short a world has nobody smart: those who trade most are said to be, in the run of a day. */
async function raise(day: string, from = 0): Promise<void> {
  const busiest = 'SELECT trader FROM perp_trader ORDER BY fills DESC, trader OFFSET $2 LIMIT 6';
  await db.pool.query(
    `UPDATE perp_score SET score = CASE WHEN trader IN (${busiest}) THEN CASE WHEN right(trader, 1) < '8' THEN 85 ELSE 90 END ELSE 84.9 END WHERE day = $1::date`,
    [day, from],
  );
  await inTransaction(db.pool, (client) => tellSmart(client, day));
}

interface Kept {
  key: string;
  fills: number;
  volume: number;
  opened_long: number;
  pnl: number;
}

/** What is told, by coin and unit. */
async function told(unit: Unit): Promise<Kept[]> {
  const { rows } = await db.pool.query<{ coin: string; at: Date; fills: number; volume: string; opened_long: string; pnl: string }>(
    `SELECT coin, ${unit} AS at, fills, open_long_usd + open_short_usd + close_long_usd + close_short_usd AS volume, open_long_usd AS opened_long,
       long_pnl + short_pnl AS pnl
     FROM perp_smart_${unit} ORDER BY coin COLLATE "C", 2`,
  );
  return rows.map(({ coin, at, fills, volume, opened_long, pnl }) => ({ key: `${coin} ${at.toISOString()}`, fills, volume: usdOf(volume), opened_long: usdOf(opened_long), pnl: usdOf(pnl) })); // prettier-ignore
}

const usdOf = (text: string): number => Math.round(Number(text) * 1e6) / 1e6;

/** The same of the records, by the scores of the run of a day. */
async function counted(day: string, unit: Unit): Promise<Kept[]> {
  const { rows } = await db.pool.query<{ trader: string }>('SELECT trader FROM perp_score WHERE day = $1::date AND score >= 85', [day]);
  const smart = new Set(rows.map(({ trader }) => trader));
  const keyOf = ({ coin, time }: Fact): string => `${coin} ${new Date(BEGINS[unit](time)).toISOString()}`;
  const opened = ({ px, opened: size, buys }: Fact): bigint => (buys ? (px * size) / 10n ** 12n : 0n);
  return [...groupBy(facts.filter(({ user }) => smart.has(user)), keyOf)] // prettier-ignore
    .map(([key, own]) => ({
      key,
      fills: own.length,
      volume: usd(volumeOf(own)),
      opened_long: usd(sum(own.map(opened))),
      pnl: usd(sum(own.map(({ pnl }) => pnl))),
    }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

async function expectTold(day: string): Promise<void> {
  for (const unit of Object.keys(BEGINS) as Unit[]) {
    const [kept, plain] = [await told(unit), await counted(day, unit)];
    expect(kept.map(({ key, fills }) => [key, fills])).toEqual(plain.map(({ key, fills }) => [key, fills]));
    kept.forEach(({ volume, opened_long, pnl }, place) => {
      expect(pnl).toBeCloseTo(plain[place]?.pnl as number, 4);
      expect(volume).toBeCloseTo(plain[place]?.volume as number, 4);
      expect(opened_long).toBeCloseTo(plain[place]?.opened_long as number, 4);
    });
    expect(kept.length).toBeGreaterThan(5);
  }
}

const toldAll = async (): Promise<unknown[]> => [
  await told('month'),
  await told('day'),
  await told('quarter'),
  await told('hour'),
  await told('bar'),
  await toldTraders(),
  await toldRests(),
  await toldLastDays(),
];

test('what smart accounts did is kept up to date after the scores, and the same again from facts', async () => {
  await expectTold('2026-03-12');
  const before = await toldAll();
  await inTransaction(db.pool, async (client) => perps.rebuild?.(client));
  expect(await toldAll()).toEqual(before);
});

/** Days of smart accounts, beside each other. */
const toldTraders = async (days = 'true'): Promise<unknown[]> =>
  (await db.pool.query(`SELECT * FROM perp_smart_trader_day WHERE ${days} ORDER BY day, coin, trader`)).rows;

test('the days of smart accounts stand beside each other as they stand with their accounts', async () => {
  const { rows } = await db.pool.query(`
    SELECT d.day, d.coin, d.trader, s.score, d.fills, d.buys, d.open_longs, d.open_shorts, d.close_longs, d.close_shorts, d.open_long_usd, d.open_short_usd,
      d.close_long_usd, d.close_short_usd, d.bought_size, d.sold_size, d.long_pnl, d.short_pnl, d.last_at
    FROM perp_trader_day d JOIN perp_score s ON s.trader = d.trader AND s.day = '2026-03-12' AND s.score >= 85 ORDER BY d.day, d.coin, d.trader`);
  expect(rows.length).toBeGreaterThan(50);
  expect(await toldTraders("day <> '-infinity'")).toEqual(rows);
  const lives = await db.pool.query(`
    SELECT l.coin, l.trader, l.fills, l.open_long_usd, l.short_pnl, l.last_at FROM perp_trader_life l
    JOIN perp_score s ON s.trader = l.trader AND s.day = '2026-03-12' AND s.score >= 85 ORDER BY l.coin, l.trader`);
  expect(await toldTraders("day = '-infinity'")).toMatchObject(lives.rows);
  const own = facts.filter(({ user }) => user === (rows[0] as { trader: string }).trader);
  expect(rows.filter(({ trader }) => trader === own[0]?.user).reduce((total, { fills }) => total + Number(fills), 0)).toBe(own.length);
});

/** What was left of days from a whole hour on. */
const toldRests = async (): Promise<unknown[]> =>
  (await db.pool.query('SELECT * FROM perp_smart_trader_rest ORDER BY hour, coin, trader')).rows;

test('what was left of days that windows begin on is told from each whole hour on', async () => {
  const { rows } = await db.pool.query(`
    SELECT rest.hour, h.coin, h.trader, s.score, sum(h.open_long_usd) AS open_long_usd, sum(h.open_short_usd) AS open_short_usd,
      sum(h.close_long_usd) AS close_long_usd, sum(h.close_short_usd) AS close_short_usd, sum(h.bought_size) AS bought_size, sum(h.sold_size) AS sold_size, max(h.last_at) AS last_at
    FROM generate_series('2026-03-01T00:00:00Z'::timestamptz, '2026-03-12T00:00:00Z', '1 hour') AS rest(hour)
    JOIN perp_trader_hour h ON h.hour >= rest.hour AND h.hour < date_trunc('day', rest.hour, 'UTC') + interval '1 day'
    JOIN perp_score s ON s.trader = h.trader AND s.day = '2026-03-12' AND s.score >= 85
    WHERE extract(hour FROM rest.hour AT TIME ZONE 'UTC') > 0 AND date_trunc('day', rest.hour, 'UTC') IN ('2026-03-11T00:00:00Z', '2026-03-05T00:00:00Z')
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3`);
  expect(rows.length).toBeGreaterThan(50);
  expect(await toldRests()).toEqual(rows);
});

/** How many smart accounts were filled last on a day, in each coin and in any. */
const toldLastDays = async (): Promise<unknown[]> => (await db.pool.query('SELECT * FROM perp_smart_last_day ORDER BY coin, day')).rows;

test('on which days smart accounts were filled last is counted', async () => {
  const { rows } = await db.pool.query(`
    WITH smart AS (SELECT trader FROM perp_score WHERE day = '2026-03-12' AND score >= 85)
    SELECT coin, date_trunc('day', last_at, 'UTC') AS day, count(*)::int AS traders FROM perp_trader_life JOIN smart USING (trader) GROUP BY 1, 2
    UNION ALL SELECT '', date_trunc('day', last_at, 'UTC'), count(*)::int FROM perp_trader JOIN smart USING (trader) GROUP BY 2 ORDER BY 1, 2`);
  expect(rows.length).toBeGreaterThan(5);
  expect(await toldLastDays()).toEqual(rows);
});

test('answers by it are those by the accounts themselves, whatever the window cuts', async () => {
  const questions = [
    ...['1h', '1d'].map((bucket_size) => ['perps/trades/long-short-ratio', { coin: 'BTC', timeframe: '7d', bucket_size }] as const),
    ...['24h', 'all'].map((timeframe) => ['perps/coins/volume-heatmap', { timeframe }] as const),
    ['perps/coins/volume-heatmap', { timeframe: '7d', smart_money_only: true }] as const,
    ...['24h', '7d', 'all'].flatMap(
      (timeframe) =>
        [
          ['perps/smart-wallets/signals', { timeframe }],
          ['perps/smart-wallets/activity', { timeframe }],
          ['perps/coins/trending', { timeframe, min_volume_usd: 0 }],
          ['perps/platform/stats', { timeframe }],
          ['perps/pressure/pairs', { timeframe }],
        ] as const,
    ),
    ['perps/smart-wallets/activity', { timeframe: '7d', side: 'Close Long', coin: 'BTC' }] as const,
    ['perps/smart-wallets/activity', { timeframe: '24h', coin: 'BTC' }] as const,
    ['perps/smart-wallets/signals', { timeframe: '7d', min_score: 90, coin: 'BTC' }] as const,
  ];
  const answers = async (): Promise<unknown[]> => {
    const all: unknown[] = [];
    for (const [path, parameters] of questions)
      for (const now of [END, new Date(END.getTime() + 27 * 60_000 + 1_234), new Date(SCORED.getTime() + 4 * HOUR + 61_001)])
        all.push((await ask(db, path, parameters, now)).data);
    return all;
  };
  const byTold = await answers();
  await db.pool.query('DELETE FROM perp_smart_run');
  expect(await answers()).toEqual(byTold);
});

test('they are of the newest run: a past one leaves them', async () => {
  await perps.score?.(db.pool, END, () => undefined);
  expect([await told('hour'), await told('bar')]).toEqual([[], []]);
  await raise('2026-03-13');
  await expectTold('2026-03-13');
  // Some stay, some go, some come.
  await raise('2026-03-13', 3);
  await expectTold('2026-03-13');
  await perps.score?.(db.pool, SCORED, () => undefined);
  await expectTold('2026-03-13');
});
