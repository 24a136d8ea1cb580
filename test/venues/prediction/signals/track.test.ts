import fc from 'fast-check';
import { makeContext } from '../../../../src/graph/context';
import { prediction } from '../../../../src/venues/prediction/index';
import { SIGNAL_DEFAULTS } from '../../../../src/venues/prediction/resolvers/signals-track';
import { isTradable, markOf } from '../../../../src/venues/prediction/scoring/signal-mark';
import { trackSignals } from '../../../../src/workers/track';
import { readTrackRecord } from '../../../../src/workers/track-record';
import { endpointNamed } from '../../../support/catalogue';
import { testDatabase } from '../../../support/database';
import { allSignalsInput } from '../../../support/subjects';
import { loadAtOnce } from '../../../support/world';
import { call, callOr } from '../markets/call';
import { iso, market } from '../small-world';
import { condition, loadRecords, token } from '../support';
import { type ToldWorld, loadTold } from '../wallets/told-world';

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const days = [22, 23, 24].map((day) => new Date(start.getTime() + day * DAY + 3_600_000));
const later = new Date(start.getTime() + 34 * DAY);

type Row = Record<string, unknown>;
interface Stored { endpoint: string; day: string; rank: number; taken_at: Date; subject: string; part: string; direction: number; price: number } // prettier-ignore

const pending = (direction: 1 | -1, price: number) =>
  ({
    endpoint: 'e',
    day: '2026-03-01',
    rank: 1,
    horizon: 'resolution',
    taken_at: start,
    subject: 'm',
    part: 't',
    direction,
    price,
  }) as const;
const paid = (payout: number) => ({ condition_id: 'm', token_id: 't', payout, resolved_at: later });

test('the marks: what a share bought, or its counterpart, made', () => {
  // 0.4 pays 1: 150 %; at 0.9 against: 0.1 pays 1: 900 %. A refund of a half.
  expect(markOf(pending(1, 0.4), paid(1))).toMatchObject({ hit: true, return_pct: expect.closeTo(150, 9), baseline: 0.4, at: later });
  expect(markOf(pending(1, 0.4), paid(0))).toMatchObject({ hit: false, return_pct: -100, baseline: 0.4 });
  expect(markOf(pending(-1, 0.9), paid(0))).toMatchObject({
    hit: true,
    return_pct: expect.closeTo(900, 9),
    baseline: expect.closeTo(0.1, 9),
  });
  expect(markOf(pending(1, 0.8), paid(0.5))).toMatchObject({ hit: false, return_pct: expect.closeTo(-37.5, 9), baseline: 0.8 });
  // Who gets back what it paid has hit nothing.
  expect(markOf(pending(1, 0.5), paid(0.5))).toMatchObject({ hit: false, return_pct: 0 });
});

test('what nobody sells, or everybody has for nothing, can be followed one way at most', () => {
  expect(([1, -1] as const).map((direction) => [0, 0.5, 1, null].map((price) => isTradable(price, direction)))).toEqual([
    [false, true, true, false],
    [true, true, false, false],
  ]);
});

test('where prices are right nothing is gained and hits are as often as implied', () => {
  fc.assert(
    fc.property(fc.constantFrom(1 as const, -1 as const), fc.double({ min: 0.01, max: 0.99, noNaN: true }), (direction, price) => {
      const [won, lost] = [markOf(pending(direction, price), paid(1)), markOf(pending(direction, price), paid(0))];
      expect(price * won.return_pct + (1 - price) * lost.return_pct).toBeCloseTo(0, 6);
      expect(price * Number(won.hit) + (1 - price) * Number(lost.hit)).toBeCloseTo(won.baseline, 9);
    }),
  );
});

test('signals are those of the default parameters', () => {
  for (const [name, sent] of Object.entries(SIGNAL_DEFAULTS)) expect([name, sent]).toEqual([name, allSignalsInput(endpointNamed(name))]);
});

test.each(['at once', 'rollups later'])(
  'a resolution that is taken back takes its marks along, and the next one marks anew: %s',
  async (how) => {
    const db = await testDatabase();
    const seconds = start.getTime() / 1_000;
    const tell = (hour: number, prices: [string, string] | null): Promise<unknown> => {
      const records = [
        market(1, {
          updatedAt: iso(seconds + hour * 3_600),
          ...(prices === null ? {} : { closed: true, closedTime: iso(seconds + hour * 3_600), outcomePrices: JSON.stringify(prices) }),
        }),
      ];
      if (how === 'at once') return loadRecords(db.pool, 'markets.json', records);
      return loadAtOnce(db.pool, 'prediction', [{ name: 'markets.json', format: 'json', records, facts: 1 }]);
    };
    const record = async (): Promise<unknown[]> => {
      const context = makeContext(db, later);
      await trackSignals(db.pool, prediction, () => context);
      const [told] = await readTrackRecord(context.sql, 'e', ['resolution'], later);
      return [told?.signals, told?.hit_rate, told?.mean_return_pct];
    };
    await tell(1, null);
    await db.pool.query("INSERT INTO signal_snapshot (endpoint, day, venue, taken_at, signals) VALUES ('e', '2026-02-01', 'prediction', $1, 1)", [start]); // prettier-ignore
    await db.pool.query("INSERT INTO signal (endpoint, day, rank, venue, taken_at, subject, part, direction, price) VALUES ('e', '2026-02-01', 1, 'prediction', $1, $2, $3, 1, 0.4)", [start, condition(1), token(1, 0)]); // prettier-ignore
    await tell(2, ['1', '0']);
    expect(await record()).toEqual([1, 1, 150]);
    await tell(3, null);
    expect(await record()).toEqual([0, null, null]);
    await tell(4, ['0', '1']);
    expect(await record()).toEqual([1, 0, -100]);
    await db.drop();
  },
);

describe('signals of a simulated world', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let told: ToldWorld;
  let stored: Stored[];

  beforeAll(async () => {
    db = await testDatabase();
    told = await loadTold(db.pool, 1, 8_000, start, later);
    for (const now of days) {
      await scoreByHand(now);
      await trackSignals(db.pool, prediction, () => makeContext(db, now));
    }
    stored = (await db.pool.query<Stored>('SELECT endpoint, day::text, rank, taken_at, subject, part, direction::int, price::float8 AS price FROM signal ORDER BY endpoint, day, rank')).rows; // prettier-ignore
  });
  afterAll(() => db.drop());

  /** The skilled and every fifth of the others have high scores, the rest low ones; planted insiders are flagged. */
  async function scoreByHand(now: Date): Promise<void> {
    const day = now.toISOString().slice(0, 10);
    for (const [index, { wallet, role, condition_id }] of told.world.truth(now).entries()) {
      const score = role === 'skilled' || index % 5 === 0 ? 60 + (index % 40) : index % 40;
      await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, $2, $3, '{}', 'v')", [wallet, day, score]); // prettier-ignore
      const bet = told.facts.find((fact) => fact.wallet === wallet && fact.market === condition_id && fact.side === 'BUY');
      if (role !== 'insider' || bet === undefined || bet.time >= now.getTime()) continue;
      await db.pool.query("INSERT INTO pm_insider (condition_id, wallet, day, generated_at, score, token_id, buy_usdc, first_bet_at, signals) VALUES ($1, $2, $3, $4, 80, $5, 5000, $6, '{}')", [condition_id, wallet, day, now, bet.token, new Date(bet.time)]); // prettier-ignore
    }
    await db.pool.query("INSERT INTO source_cursor (source, venue, cursor) VALUES ('score.prediction', 'prediction', $1) ON CONFLICT (source) DO UPDATE SET cursor = EXCLUDED.cursor", [JSON.stringify({ as_of: now })]); // prettier-ignore
  }

  const of = (endpoint: string, now: Date): Stored[] => stored.filter((one) => one.endpoint === endpoint && one.taken_at.getTime() === now.getTime()); // prettier-ignore
  const rowsOf = (path: string, now: Date, sent: Row): Promise<Row[]> => callOr<Row[]>(db, path, now, sent, []);

  test('a snapshot of every endpoint a day holds what the endpoint answers, at its prices', async () => {
    const { rows } = await db.pool.query<{ endpoint: string; day: string; signals: number }>('SELECT endpoint, day::text, signals FROM signal_snapshot ORDER BY 2, 1'); // prettier-ignore
    expect(rows.map(({ endpoint }) => endpoint)).toEqual(days.flatMap(() => Object.keys(SIGNAL_DEFAULTS).sort()));
    for (const { endpoint, day, signals } of rows)
      expect(stored.filter((one) => one.endpoint === endpoint && one.day === day)).toHaveLength(signals);
    for (const now of days) {
      const smart = await rowsOf('markets/smart-signals', now, { limit: 100 });
      expect(of('markets/smart-signals', now).map(({ subject, part, price, direction }) => [subject, part, price, direction])).toEqual(
        smart.map((row) => [
          row.condition_id,
          row.token_id,
          expect.closeTo(row.price as number, 5),
          row.signal_direction === 'BUY' ? 1 : -1,
        ]),
      );
      const conviction = await rowsOf('markets/high-conviction', now, { limit: 100 });
      expect(of('markets/high-conviction', now).map(({ subject, price }) => [subject, price])).toEqual(
        conviction.map((row) => [row.condition_id, expect.closeTo(row.favored_price as number, 5)]),
      );
      const crowds = await rowsOf('markets/dumb-consensus', now, { limit: 100 });
      expect(of('markets/dumb-consensus', now).map(({ subject, direction }) => [subject, direction])).toEqual(crowds.map((row) => [row.condition_id, -1])); // prettier-ignore
      const interest = await rowsOf('markets/new-smart-interest', now, { limit: 100 });
      expect(of('markets/new-smart-interest', now).map(({ subject }) => subject)).toEqual(interest.map((row) => row.condition_id));
    }
    // What is planted speaks: the answers above are not all empty.
    expect(new Set(stored.map(({ endpoint }) => endpoint)).size).toBeGreaterThanOrEqual(5);
  });

  test('only open markets, nothing of the future', () => {
    for (const { subject, part, taken_at } of stored) {
      const market = told.markets.get(subject);
      expect(market?.tokens).toContain(part);
      expect((market?.resolved ?? Infinity) > taken_at.getTime() && (market?.created ?? 0) <= taken_at.getTime()).toBe(true);
    }
  });

  test('every signal is marked when its market is resolved, and the record counts them all', async () => {
    await trackSignals(db.pool, prediction, () => makeContext(db, later));
    for (const now of [days[2] as Date, new Date(start.getTime() + 30 * DAY), later]) {
      for (const endpoint of ['markets/smart-signals', 'markets/new-smart-interest'] as const) {
        const due = stored.flatMap((one) => {
          const market = told.markets.get(one.subject);
          const resolved = market?.resolved ?? Infinity;
          if (one.endpoint !== endpoint || resolved > now.getTime() || !market?.payouts) return [];
          const payout = market.payouts[market.tokens.indexOf(one.part)] as number;
          const [stake, back] = one.direction === 1 ? [one.price, payout] : [1 - one.price, 1 - payout];
          return [{ hit: back > stake, gain: (100 * (back - stake)) / stake, stake, at: one.taken_at }];
        });
        const { meta } = await call<Row[]>(db, endpoint, now, { timeframe: 'all', min_score: 0, ...(endpoint === 'markets/smart-signals' ? { min_smart_wallets: 1 } : {}) }); // prettier-ignore
        const mean = (values: number[]): number | null => (values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length);
        const near = (value: number | null): unknown => (value === null ? null : expect.closeTo(value, 6));
        const times = due.map(({ at }) => at.getTime()).sort((a, b) => a - b);
        const [n, p] = [due.length, mean(due.map(({ hit }) => Number(hit)))];
        const z = 1.645;
        const lower =
          p === null ? null : (p + z ** 2 / (2 * n) - z * Math.sqrt((p * (1 - p)) / n + z ** 2 / (4 * n ** 2))) / (1 + z ** 2 / n);
        expect(meta.track_record).toEqual([
          { horizon: 'resolution', signals: n, hit_rate: near(p), hit_rate_lb: near(lower), mean_return_pct: near(mean(due.map(({ gain }) => gain))), baseline_hit_rate: near(mean(due.map(({ stake }) => stake))), backdated: 0, from: text(times[0]), to: text(times.at(-1)) },
        ]); // prettier-ignore
        if (now === later) expect(n).toBeGreaterThan(endpoint === 'markets/new-smart-interest' ? 3 : 0);
      }
    }
  });

  const text = (time: number | undefined): string | null => (time === undefined ? null : `${new Date(time).toISOString().slice(0, 19)}Z`);

  test('other endpoints have none', async () => {
    expect((await call(db, 'markets/trending', days[2] as Date, { timeframe: '7d' })).meta.track_record).toBeNull();
  });
});
