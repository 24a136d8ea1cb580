import fc from 'fast-check';
import { inTransaction } from '../../../../src/db/transaction';
import { prediction } from '../../../../src/venues/prediction/index';
import { retractFills } from '../../../../src/venues/prediction/rollups/retract';
import { type TestDatabase, testDatabase } from '../../../support/database';
import { differencesOf, dumpOf, keptTables } from '../../../support/dump';
import { market } from '../small-world';
import { condition, loadRecords, token, tx, wallet } from '../support';

// Fills that the upstream told otherwise at first: whatever was wrong with them, the store becomes what it would be had it been told the truth at once.

jest.setTimeout(600_000);

/** Seconds before and after the hours that end a day and a month. */
const START = Date.UTC(2026, 1, 28, 22, 59, 58) / 1_000;
const SECONDS = [0, 1, 2, 3, 3_600, 3_602, 7_200, 7_203, 90_000].map((after) => START + after);

interface Fill {
  second: number;
  by: number;
  market: number;
  outcome: number;
  side: 'BUY' | 'SELL';
  size: number;
  cents: number;
  takes: boolean;
  hash: number;
}

const FILL: fc.Arbitrary<Fill> = fc.record({
  second: fc.constantFrom(...SECONDS),
  by: fc.integer({ min: 1, max: 4 }),
  market: fc.integer({ min: 1, max: 4 }),
  outcome: fc.integer({ min: 0, max: 1 }),
  side: fc.constantFrom('BUY', 'BUY', 'SELL'),
  size: fc.integer({ min: 1, max: 30 }),
  cents: fc.integer({ min: 1, max: 99 }),
  takes: fc.boolean(),
  hash: fc.integer({ min: 1, max: 5 }),
});

const rowOf = ({ second, by, market: n, outcome, side, size, cents, hash }: Fill): Record<string, unknown> => ({
  proxyWallet: wallet(by), side, asset: token(n, outcome), conditionId: condition(n), size, price: cents / 100, timestamp: second,
  title: `Question ${n}?`, slug: `question-${n}`, eventSlug: `event-${n}`, outcome: ['Yes', 'No'][outcome], outcomeIndex: outcome, transactionHash: tx(hash),
}); // prettier-ignore

const moveOf = (type: string, by: number, n: number, second: number, size: number): Record<string, unknown> => ({
  ...rowOf({ second, by, market: n, outcome: 0, side: 'BUY', size, cents: 1, takes: false, hash: 9 }),
  type, side: '', asset: '', price: 0, outcome: '', outcomeIndex: 999, usdcSize: size,
}); // prettier-ignore

/** What is no fill is never taken back: sets that fills price, and what winners were paid. */
const MOVES = [moveOf('SPLIT', 1, 1, START + 1, 20), moveOf('MERGE', 2, 3, START + 3_601, 5), moveOf('REDEEM', 1, 2, START + 90_001, 10)];

/** Markets 1 and 2 are listed, 2 is over; of 3 and 4 only trades tell. */
const LISTED = [
  market(1),
  market(2, { closed: true, outcomePrices: '["1", "0"]', closedTime: '2026-03-01 23:00:00+00', umaResolutionStatus: 'resolved' }),
];

/** Tells the fills of some seconds, as the feeds do: of both sides, and takers' apart. Equal rows stand on one page. */
async function tell({ pool }: TestDatabase, fills: readonly Fill[], seconds: readonly number[]): Promise<void> {
  const own = fills.filter(({ second }) => seconds.includes(second));
  for (const [name, part] of [
    ['trades-takerOnly=false.json', own],
    ['trades-takerOnly=true.json', own.filter(({ takes }) => takes)],
  ] as const)
    // prettier-ignore
    if (part.length > 0) await loadRecords(pool, name, part.map(rowOf));
}

async function begin(): Promise<TestDatabase> {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', LISTED);
  await loadRecords(db.pool, 'activity.json', MOVES);
  return db;
}

/** What jobs have yet to tell again depends on what they told before. */
const isKept = (table: string): boolean => !table.endsWith('_due');
const dumped = async ({ pool }: TestDatabase): Promise<Record<string, string[]>> =>
  dumpOf(pool, (await keptTables(pool, 'prediction')).filter(isKept));

/** Whoever takes is no part of a fill's name: of equal fills all take, or none. */
const told = (fills: readonly Fill[]): Fill[] => {
  const takes = new Map<string, boolean>();
  const nameOf = (fill: Fill): string => JSON.stringify({ ...fill, takes: undefined });
  for (const fill of fills) takes.set(nameOf(fill), (takes.get(nameOf(fill)) ?? false) || fill.takes);
  return fills.map((fill) => ({ ...fill, takes: takes.get(nameOf(fill)) === true }));
};

const WORLD = fc.record({
  fills: fc.array(FILL, { minLength: 4, maxLength: 25 }),
  /** Which of them were told otherwise, and how; null: they never were. */
  wrong: fc.array(fc.tuple(fc.nat(), fc.option(FILL), fc.subarray(['second', 'by', 'market', 'outcome', 'side', 'size', 'cents', 'takes'] as const)), { minLength: 1, maxLength: 6 }), // prettier-ignore
  order: fc.shuffledSubarray(SECONDS, { minLength: SECONDS.length }),
  together: fc.boolean(),
});

test('wallet, market, token, time, side, price or size were wrong, or all of it: nothing of that is left, and a rebuild changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(WORLD, async ({ fills, wrong, order, together }) => {
      const truth = told(fills);
      const first = new Map<number, Fill[]>(fills.map((fill, n) => [n, [fill]]));
      for (const [at, other, fields] of wrong) {
        const n = at % fills.length;
        const fill = fills[n] as Fill;
        first.set(n, other === null ? [] : [{ ...fill, ...Object.fromEntries(fields.map((name) => [name, other[name]])) }]);
      }
      const before = told([...first.values()].flat());
      const [corrected, clean] = [await begin(), await begin()];
      try {
        for (const second of order) await tell(corrected, before, [second]);
        const spans = together ? [SECONDS] : SECONDS.map((second) => [second]);
        for (const seconds of spans) {
          const span = { from: new Date((seconds[0] as number) * 1_000), to: new Date(((seconds.at(-1) as number) + 1) * 1_000) };
          await inTransaction(corrected.pool, (client) => retractFills(client, span));
          await tell(corrected, truth, seconds);
        }
        for (const second of SECONDS) await tell(clean, truth, [second]);
        const kept = await dumped(corrected);
        expect(differencesOf(kept, await dumped(clean))).toEqual({});
        await inTransaction(corrected.pool, (client) => prediction.rebuild?.(client) ?? Promise.resolve());
        expect(differencesOf(await dumped(corrected), kept)).toEqual({});
      } finally {
        await Promise.all([corrected.drop(), clean.drop()]);
      }
    }),
    { numRuns: Number(process.env.CORRECTIONS ?? 12), endOnFailure: true },
  );
});

test('of a span its first instant is taken back, and that at which it ends is not', async () => {
  const db = await begin();
  try {
    const fills = [0, 1, 2].map((after): Fill => ({ second: START + after, by: 1, market: 1, outcome: 0, side: 'BUY', size: 5, cents: 40, takes: true, hash: 1 })); // prettier-ignore
    await tell(db, fills, SECONDS);
    const span = { from: new Date((START + 1) * 1_000), to: new Date((START + 2) * 1_000) };
    expect(await inTransaction(db.pool, (client) => retractFills(client, span))).toBe(1);
    const { rows } = await db.pool.query<{ at: Date }>(`SELECT "timestamp" AS at FROM pm_trade WHERE side = 'BUY' ORDER BY 1`);
    expect(rows.map(({ at }) => at.getTime() / 1_000)).toEqual([START, START + 2]);
  } finally {
    await db.drop();
  }
});
